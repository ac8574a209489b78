/*
SPDX-License-Identifier: Apache-2.0
*/

import { cluster, conditionOf } from './example';
import { byUrgency, counts, health } from './health';
import { Cluster } from './types';

describe('the health of a cluster', () => {
  it('is good only if Ready and Available are True for the current spec', () => {
    expect(health(cluster())).toMatchObject({ tone: 'good', word: 'Ready' });
    for (const type of ['Ready', 'Available']) {
      expect(health(cluster(conditionOf(type, 'Unknown'))).tone).toBe('unknown');
    }
    const changed = cluster();
    changed.metadata.generation = 3;
    expect(health(changed)).toMatchObject({ tone: 'unknown', word: 'Unknown' });
  });

  it('is unknown before the operator has reported', () => {
    expect(health({ metadata: { name: 'new' } }).tone).toBe('unknown');
    expect(health({ metadata: { name: 'new' }, status: { observedGeneration: -1 } }).tone).toBe(
      'unknown'
    );
  });

  it('is unknown if a condition has a status of another version', () => {
    expect(health(cluster(conditionOf('Ready', 'Maybe'))).tone).toBe('unknown');
  });

  it.each([
    ['Stalled', 'True', 'bad'],
    ['SplitBrainSuspected', 'True', 'bad'],
    ['Available', 'False', 'bad'],
    ['Degraded', 'True', 'warning'],
    ['BackupHealthy', 'False', 'warning'],
    ['ContinuousArchiving', 'False', 'warning'],
    ['Progressing', 'True', 'change'],
    ['Ready', 'False', 'warning'],
  ])('follows %s %s, and quotes its message', (type, status, tone) => {
    expect(health(cluster(conditionOf(type, status, 'the cause')))).toMatchObject({
      tone,
      message: 'the cause',
    });
  });

  it.each(['BackupHealthy', 'ContinuousArchiving', 'Degraded', 'Stalled'])(
    'takes %s Unknown as neither good nor bad',
    type => {
      expect(health(cluster(conditionOf(type, 'Unknown'))).tone).toBe('good');
    }
  );

  it('names the most urgent state first', () => {
    const both = cluster(
      conditionOf('Stalled', 'True', 'act'),
      conditionOf('Available', 'False', 'down')
    );
    expect(health(both).message).toBe('act');
  });

  it('does not call a hibernated cluster unavailable', () => {
    const asleep = cluster(
      conditionOf('Available', 'False'),
      conditionOf('Hibernated', 'True', 'asleep')
    );
    asleep.spec!.hibernated = true;
    expect(health(asleep)).toMatchObject({ tone: 'quiet', word: 'Hibernated', message: 'asleep' });
    asleep.status!.conditions!.push(conditionOf('Stalled', 'True'));
    asleep.status!.conditions = asleep.status!.conditions!.filter(
      c => c.type !== 'Stalled' || c.status === 'True'
    );
    expect(health(asleep).tone).toBe('bad');
  });

  it('reports a deletion, and whether it is blocked', () => {
    const deleted = cluster(conditionOf('Progressing', 'True', 'the members stop'));
    deleted.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(health(deleted)).toEqual({
      tone: 'change',
      word: 'Terminating',
      message: 'the members stop',
    });
    deleted.status!.conditions!.push(conditionOf('DeletionBlocked', 'True', 'a hook failed'));
    expect(health(deleted)).toEqual({
      tone: 'bad',
      word: 'Deletion blocked',
      message: 'a hook failed',
    });
  });
});

it('a list has the worst first, and then the names', () => {
  const named = (name: string, c: Cluster) => ({ ...c, metadata: { ...c.metadata, name } });
  const all = byUrgency([
    named('b', cluster()),
    named('c', cluster(conditionOf('Stalled', 'True'))),
    named('a', cluster()),
    named('d', cluster(conditionOf('Ready', 'Unknown'))),
  ]);
  expect(all.map(e => e.cluster.metadata.name)).toEqual(['c', 'd', 'a', 'b']);
  expect(counts(all).map(e => `${e.count} ${e.word}`)).toEqual([
    '1 Action required',
    '1 Unknown',
    '2 Ready',
  ]);
});
