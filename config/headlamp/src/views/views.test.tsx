/*
SPDX-License-Identifier: Apache-2.0
*/

import React from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { backup, cluster, conditionOf, member } from '../model/example';
import { at } from '../model/time';
import { Tone } from '../model/types';
import { ClusterList } from './ClusterList';
import { ClusterPage, Lists } from './ClusterPage';
import { Shape } from './Tone';

const now = at('2026-01-10T12:00:00Z')!;

function page(c = cluster(), lists: Partial<Lists> = {}) {
  return renderToStaticMarkup(
    <ClusterPage cluster={c} now={now} lists={{ problems: [], ...lists }} />
  );
}

it('each tone has a form of its own', () => {
  const tones: Tone[] = ['good', 'change', 'warning', 'bad', 'quiet', 'unknown'];
  const forms = tones.map(tone =>
    renderToStaticMarkup(<Shape tone={tone} x={8} y={8} r={7} />).replace(/var\(--\w+\)/g, 'color')
  );
  expect(new Set(forms).size).toBe(tones.length);
});

describe('the page of a cluster', () => {
  it('does not claim that there are no backups if they are not loaded', () => {
    expect(page()).toContain('Whether there are backups is unknown');
    expect(page(cluster(), { backups: [] })).not.toContain('Whether there are backups is unknown');
  });

  it('names what could not be read', () => {
    expect(page(cluster(), { problems: ['The Pods could not be read: forbidden'] })).toContain(
      'forbidden'
    );
  });

  it('does not claim a recovery window that the operator has not read', () => {
    expect(page()).toContain('What can be recovered is unknown');
    const c = cluster();
    c.status!.recovery = { checkedAt: '2026-01-10T11:00:00Z' };
    expect(page(c)).toContain('No moment can be recovered.');
    c.status!.recovery = {
      ...c.status!.recovery,
      oldest: '2026-01-08T00:00:00Z',
      newest: '2026-01-10T11:00:00Z',
      needsBackupSince: '2026-01-10T11:30:00Z',
    };
    expect(page(c)).toContain(
      '8 Jan 00:00 to 10 Jan 11:00 UTC. Nothing since 10 Jan 11:30 UTC can be recovered'
    );
  });

  it('marks conditions of a previous generation', () => {
    const c = cluster();
    c.metadata.generation = 3;
    expect(page(c)).toContain('(of a previous generation of the spec)');
  });

  it('has every member and every backup in its pictures', () => {
    const c = cluster();
    c.status!.members = [member(0, { role: 'Primary' }), member(1), member(2)];
    const html = page(c, {
      backups: [backup('a', '2026-01-09T00:00:00Z'), backup('b', '2026-01-10T00:00:00Z')],
    });
    expect(html.match(/data-member=/g)).toHaveLength(3);
    expect(html.match(/data-backup=/g)).toHaveLength(2);
  });
});

describe('the list', () => {
  const list = (props: Partial<Parameters<typeof ClusterList>[0]>) =>
    renderToStaticMarkup(<ClusterList now={now} link={c => c.metadata.name} {...props} />);

  it('tells an empty list from one that is not loaded or could not be read', () => {
    expect(list({})).toContain('Loading');
    expect(list({ clusters: [] })).toContain('There is no DatabaseCluster');
    expect(list({ problem: 'forbidden' })).toContain('could be read: forbidden');
    expect(list({ clusters: [], problem: 'forbidden' })).not.toContain(
      'There is no DatabaseCluster'
    );
    expect(list({ clusters: [cluster()], problem: 'forbidden' })).toMatch(
      /could be read: forbidden.*orders/
    );
  });

  it('does not know members or backups that the operator has not reported', () => {
    const html = list({
      clusters: [
        {
          metadata: { name: 'new', namespace: 'shop' },
          spec: { replicas: 3, backup: { archive: {} } },
        },
      ],
    });
    expect(html).toContain('? of 3 ready');
    expect(html).toContain('none known');
    expect(html).toContain('<td>unknown</td>');
  });

  it('shows the message of a cluster that is not well', () => {
    expect(
      list({ clusters: [cluster(conditionOf('Stalled', 'True', 'Correct spec.image.'))] })
    ).toContain('Correct spec.image.');
  });
});
