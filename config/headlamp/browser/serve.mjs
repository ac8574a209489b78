/*
SPDX-License-Identifier: Apache-2.0
*/

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { build, preview } from 'vite';
import { backups, clusters, namespace, pods, volumes } from './objects.mjs';

const folder = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** kubectl runs kubectl on the API server of the test, with an object on its standard input. */
export async function kubectl(args, object) {
  const child = spawn(process.env.KUBECTL, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', text => (output += text));
  child.stdin.end(object ? JSON.stringify(object) : '');
  const [code] = await once(child, 'close');
  if (code !== 0) {
    throw new Error(`kubectl ${args.join(' ')} exited with ${code}`);
  }
  return output;
}

/** setStatus replaces fields of the status, as the operator or the kubelet does. */
export async function setStatus(kind, name, status) {
  const patch = JSON.stringify({ status });
  await kubectl(['-n', namespace, 'patch', kind, name, '--subresource=status', '--type=merge', '-p', patch]);
}

/** createObjects creates the CRDs, the clusters, and the objects beside them. */
export async function createObjects() {
  await kubectl(['apply', '--server-side', '-f', path.join(folder, '..', 'crd', 'bases')]);
  await kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
  await kubectl(['create', 'namespace', namespace]);
  await kubectl(['-n', namespace, 'wait', '--for=create', 'serviceaccount/default', '--timeout=60s']);
  const all = [...clusters, ...backups, ...pods()];
  const items = [...all.map(({ object }) => object), ...volumes()];
  await kubectl(['create', '-f', '-'], { apiVersion: 'v1', kind: 'List', items });
  for (const { object, status, deleted } of all) {
    const { name } = object.metadata;
    if (deleted) {
      await kubectl(['-n', namespace, 'delete', object.kind, name, '--wait=false']);
    }
    if (status) {
      await setStatus(object.kind, name, status);
    }
  }
  await kubectl(['-n', namespace, 'wait', 'pvc', '--all', '--for=jsonpath={.status.phase}=Bound', '--timeout=60s']);
}

// The folder of the page, and how Vite builds it.
const outDir = path.join(folder, 'dist', 'browser');
const config = {
  configFile: false,
  root: path.join(folder, 'browser', 'host'),
  logLevel: 'warn',
  plugins: [react()],
  resolve: { alias: { path: 'path-browserify' } },
  define: {
    global: 'globalThis',
    'process.env': '{}',
    'import.meta.env.REACT_APP_ENABLE_WEBSOCKET_MULTIPLEXER': '"false"',
  },
};

/** serve serves the page of the test, and the API server below /clusters/main as Headlamp's server does. */
export async function serve() {
  await build({
    ...config,
    build: { outDir, emptyOutDir: true, target: 'esnext', minify: false, reportCompressedSize: false, chunkSizeWarningLimit: 1e6 },
  });
  await cp(path.join(folder, 'dist', 'main.js'), path.join(outDir, 'plugin', 'main.js'));
  const proxy = spawn(process.env.KUBECTL, ['proxy', '--port=0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = await once(proxy.stdout, 'data');
  const target = 'http://' + /127\.0\.0\.1:\d+/.exec(text)[0];
  const rewrite = url => url.replace('/clusters/main', '');
  const server = await preview({
    ...config,
    build: { outDir },
    preview: { port: 0, host: '127.0.0.1', proxy: { '/clusters/main': { target, ws: true, changeOrigin: true, rewrite } } },
  });
  return {
    url: `http://127.0.0.1:${server.httpServer.address().port}`,
    async close() {
      proxy.kill();
      server.httpServer.closeAllConnections();
      await new Promise(resolve => server.httpServer.close(resolve));
    },
  };
}
