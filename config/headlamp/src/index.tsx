/*
SPDX-License-Identifier: Apache-2.0
*/

import { registerRoute, registerSidebarEntry } from '@kinvolk/headlamp-plugin/lib';
import React from 'react';
import { DetailsPage, ListPage } from './pages';

registerSidebarEntry({
  parent: null,
  name: 'databaseclusters',
  label: 'Databases',
  url: '/databaseclusters',
  icon: 'mdi:database',
});

registerRoute({
  path: '/databaseclusters',
  sidebar: 'databaseclusters',
  name: 'databaseclusters',
  exact: true,
  component: () => <ListPage />,
});

registerRoute({
  path: '/databaseclusters/:namespace/:name',
  sidebar: 'databaseclusters',
  name: 'databasecluster',
  exact: true,
  component: () => <DetailsPage />,
});
