/*
SPDX-License-Identifier: Apache-2.0
*/

import { KubeObject, KubeObjectInterface } from '@kinvolk/headlamp-plugin/lib/k8s/cluster';

/** DatabaseCluster is the kind of the operator, as Headlamp lists and watches it. */
export class DatabaseCluster extends KubeObject<KubeObjectInterface> {
  static kind = 'DatabaseCluster';
  static apiName = 'databaseclusters';
  static apiVersion = 'database.dbcluster.io/v1alpha1';
  static isNamespaced = true;
}

/** DatabaseBackup is one backup of a DatabaseCluster. */
export class DatabaseBackup extends KubeObject<KubeObjectInterface> {
  static kind = 'DatabaseBackup';
  static apiName = 'databasebackups';
  static apiVersion = 'database.dbcluster.io/v1alpha1';
  static isNamespaced = true;
}
