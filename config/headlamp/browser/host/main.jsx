/*
SPDX-License-Identifier: Apache-2.0
*/

// The page of the test: Headlamp's library, router, state and theme, as its package has them, and the plugin as it was built. Headlamp's
// frame (the sidebar and the bar at the top) and its server are not in the package.

import '@kinvolk/headlamp-plugin/lib/plugin/index.js';
import { darkTheme, lightTheme } from '@kinvolk/headlamp-plugin/lib/components/App/defaultAppThemes';
import RouteSwitcher from '@kinvolk/headlamp-plugin/lib/components/App/RouteSwitcher';
import { queryClient } from '@kinvolk/headlamp-plugin/lib/lib/queryClient';
import { setStore } from '@kinvolk/headlamp-plugin/lib/lib/router/createRouteURL';
import { createMuiTheme } from '@kinvolk/headlamp-plugin/lib/lib/themes';
import { runPlugin } from '@kinvolk/headlamp-plugin/lib/plugin/runPlugin';
import { setConfig } from '@kinvolk/headlamp-plugin/lib/redux/configSlice';
import store from '@kinvolk/headlamp-plugin/lib/redux/stores/store';
import { CssBaseline, ThemeProvider } from '@mui/material';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Provider } from 'react-redux';
import { BrowserRouter } from 'react-router-dom';

setStore(store);
store.dispatch(setConfig({ clusters: { main: { name: 'main', auth_type: '' } } }));

const source = await (await fetch('/plugin/main.js')).text();
runPlugin(source, 'databasecluster', '0', error => console.error(error), Function, [], []);

const dark = new URLSearchParams(window.location.search).get('theme') === 'dark';
createRoot(document.getElementById('root')).render(
  <Provider store={store}>
    <QueryClientProvider client={queryClient}>
      <ThemeProvider theme={createMuiTheme(dark ? darkTheme : lightTheme)}>
        <CssBaseline />
        <BrowserRouter>
          <RouteSwitcher requiresToken={() => false} />
        </BrowserRouter>
      </ThemeProvider>
    </QueryClientProvider>
  </Provider>
);
