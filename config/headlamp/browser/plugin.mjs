/*
SPDX-License-Identifier: Apache-2.0
*/

// The plugin in a browser, on a real API server. `make test-headlamp` runs it.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { clusters, namespace } from './objects.mjs';
import { createObjects, kubectl, serve, setStatus } from './serve.mjs';

const shots = process.env.SHOTS;
const requests = [];
const errors = [];
let server, browser, page;

before(async () => {
  await createObjects();
  server = await serve();
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    chromiumSandbox: process.getuid() !== 0,
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  page = await browser.newPage({ viewport: { width: 1120, height: 800 } });
  page.on('request', request => requests.push(request));
  page.on('pageerror', error => errors.push(error));
});

after(async () => {
  await browser?.close();
  await server?.close();
});

const list = '/c/main/databaseclusters';
const details = name => `${list}/${namespace}/${name}`;

async function open(address) {
  await page.goto(server.url + address);
}

// texts returns the texts of the elements that a selector finds, once the first one exists.
async function texts(selector) {
  await page.locator(selector).first().waitFor();
  return page.locator(selector).allInnerTexts();
}

async function shoot(name, theme) {
  if (shots) {
    await page.locator('main').screenshot({ path: path.join(shots, `headlamp-${name}${theme ? '-' + theme : ''}.png`) });
  }
}

test('the list has every cluster with its health, the worst first', async () => {
  await open(list);
  const rows = await texts('tr[data-cluster]');
  const words = rows.map(row => row.replace(/\s+/g, ' '));
  assert.match(words[0], /^carts shop Degraded carts-2: could not write .* 2 of 3 ready none known/);
  assert.match(words[1], /^catalog shop Unknown The operator has not reported yet\. \? of 1 ready/);
  assert.match(words[2], /^sessions shop Terminating deletion hook last runs 1 of 2 ready no backups configured/);
  assert.match(words[3], /^orders shop Ready 3 of 3 ready 5 h ago .* UTC 17\.5$/);
  assert.equal(words.length, clusters.length);
  const summary = await texts('.dbc-summary li');
  assert.deepEqual(
    summary.map(text => text.trim()),
    ['1 Degraded', '1 Unknown', '1 Terminating', '1 Ready']
  );
  await shoot('list');
});

test('a name leads to the picture of the cluster', async () => {
  await open(list);
  await page.getByRole('link', { name: 'orders' }).click();
  await page.locator('[data-health=good]').waitFor();
  assert.equal(new URL(page.url()).pathname, details('orders'));
});

test('the picture of a healthy cluster has its members, volumes, backups and recovery window', async () => {
  await open(details('orders'));
  await page.locator('[data-backup]').first().waitFor();
  await page.locator('[data-member] text', { hasText: 'Bound' }).first().waitFor();
  const members = await page.locator('[data-member] > title').allTextContents();
  assert.equal(members.length, 3);
  assert.match(members[1], /^orders-1, Primary, Ready, worker-2, zone-b, version 17\.5, volume data-orders-1: Bound 10Gi$/);
  assert.match(members[0], /^orders-0, Replica, Ready/);
  assert.equal(await page.locator('[data-backup]').count(), 6);
  const failed = await page.locator('[data-backup=orders-nightly-1] > title').textContent();
  assert.match(failed, /Failed.*not verified, the destination refused the data: 503/);
  assert.match(await page.locator('[data-backup=orders-nightly-2] > title').textContent(), /Completed.*verified/);
  assert.equal(await page.locator('[data-band=recoverable]').count(), 2);
  assert.equal(await page.locator('[data-band=archiving]').count(), 1);
  assert.deepEqual(await outside('svg[role=img]'), []);
  assert.equal((await texts('tr[data-condition]')).length, clusters[0].status.conditions.length);
  await shoot('cluster');
});

// outside returns the texts in pictures that reach over their edges.
function outside(selector) {
  return page.$$eval(selector, pictures =>
    pictures.flatMap(picture => {
      const frame = picture.getBoundingClientRect();
      return [...picture.querySelectorAll('text')]
        .filter(text => {
          const box = text.getBoundingClientRect();
          return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
        })
        .map(text => text.textContent);
    })
  );
}

test('unknown conditions are shown as unknown, neither good nor bad', async () => {
  await open(details('carts'));
  await page.locator('tr[data-condition=BackupHealthy]').waitFor();
  assert.equal(await page.locator('tr[data-condition=BackupHealthy] .dbc-unknown').innerText(), 'Unknown');
  assert.equal(await page.locator('tr[data-condition=BackupHealthy]').locator('.dbc-good, .dbc-bad, .dbc-warning').count(), 0);
  assert.match(await page.locator('[data-member=carts-2] > title').textContent(), /Role unknown, Failing/);
});

test('a cluster that is being deleted shows its hooks', async () => {
  await open(details('sessions'));
  await page.getByText('Deletion hooks').waitFor();
  assert.equal(await page.locator('[data-health]').getAttribute('data-health'), 'change');
  assert.match(await page.locator('main').innerText(), /last\s+Running\s+Job sessions-last runs/);
  assert.match(await page.locator('[data-member=sessions-1] > title').textContent(), /No member/);
  await shoot('terminating');
});

test('the page is readable in dark mode', async () => {
  await open(details('orders') + '?theme=dark');
  await page.locator('[data-band=recoverable]').first().waitFor();
  await page.locator('[data-member] text', { hasText: 'Bound' }).first().waitFor();
  const [ink, paper] = await page.evaluate(() => [
    getComputedStyle(document.querySelector('.dbc')).color,
    getComputedStyle(document.body).backgroundColor,
  ]);
  const [light, dark] = [ink, paper].map(luminance);
  assert.ok((light + 0.05) / (dark + 0.05) > 7, `${ink} on ${paper}`);
  await shoot('cluster', 'dark');
});

// luminance is the relative luminance of a color, by WCAG.
function luminance(color) {
  const [r, g, b] = /(\d+), (\d+), (\d+)/
    .exec(color)
    .slice(1, 4)
    .map(value => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

test('the page follows the API server without a reload', async () => {
  await open(details('carts'));
  await page.locator('[data-health=warning]').waitFor();
  const conditions = clusters[1].status.conditions.map(c =>
    c.type === 'Degraded' ? { ...c, status: 'False', message: 'all members are healthy' } : c
  );
  await setStatus('databasecluster', 'carts', {
    conditions: conditions.map(c => (c.type === 'Ready' ? { ...c, status: 'True', message: 'all 3 members are ready' } : c)),
  });
  await page.locator('[data-health=good]').waitFor();
  await setStatus('pod', 'carts-0', { conditions: [{ type: 'Ready', status: 'False' }] });
  await page.locator('[data-member=carts-0] text', { hasText: 'Status Ready, pod not ready' }).waitFor();
});

test('a cluster that no longer exists is not shown', async () => {
  await open(details('sessions'));
  await page.locator('[data-health]').waitFor();
  await kubectl(['-n', namespace, 'patch', 'databasecluster', 'sessions', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
  await page.getByText('This DatabaseCluster does not exist.').waitFor();
  await open(list);
  assert.equal((await texts('tr[data-cluster]')).length, clusters.length - 1);
});

test('the plugin only reads', () => {
  const others = requests
    .filter(request => request.method() !== 'GET')
    .map(request => `${request.method()} ${new URL(request.url()).pathname}`);
  // Headlamp itself asks for the rights of the user.
  assert.deepEqual(
    others.filter(text => !text.startsWith('POST /clusters/main/apis/authorization.k8s.io/v1/selfsubject')),
    []
  );
  assert.ok(requests.some(request => request.url().includes('/databaseclusters')));
  assert.deepEqual(errors, []);
});
