/*
SPDX-License-Identifier: Apache-2.0
*/

import { backup, cluster, conditionOf } from './example';
import { age, at, clock, span, ticks } from './time';
import { mark, ownBackups, place, rows, timeline } from './timeline';
import { Recovery } from './types';

const now = at('2026-01-10T12:00:00Z')!;
const checkedAt = '2026-01-10T11:00:00Z';

function archived(recovery: Recovery, archiving = 'True') {
  const c = cluster(conditionOf('ContinuousArchiving', archiving));
  c.status!.recovery = { checkedAt, ...recovery };
  return c;
}

const range = { oldest: '2026-01-08T00:00:00Z', newest: '2026-01-10T11:00:00Z' };

describe('the time line', () => {
  it('is absent without a backup and a time to recover', () => {
    expect(timeline(cluster(), [], now)).toBeUndefined();
  });

  it('contains every backup, every range and now', () => {
    const line = timeline(
      archived({ ranges: [range] }),
      [backup('a', '2026-01-05T00:00:00Z')],
      now
    )!;
    expect(line.from).toBeLessThan(at('2026-01-05T00:00:00Z')!);
    expect(line.to).toBeGreaterThan(now);
    expect(line.recoverable).toEqual([{ from: at(range.oldest), to: at(range.newest) }]);
    expect(line.marks.map(m => m.name)).toEqual(['a']);
    expect(place(line, line.from, 100)).toBe(0);
    expect(place(line, line.to, 100)).toBe(100);
  });

  it('continues to now only while ContinuousArchiving is True', () => {
    expect(timeline(archived({ ranges: [range] }), [], now)!.archiving).toEqual({
      from: at(range.newest),
      to: now,
    });
    for (const status of ['False', 'Unknown']) {
      expect(timeline(archived({ ranges: [range] }, status), [], now)!.archiving).toBeUndefined();
    }
  });

  it('does not continue while nothing new can be recovered', () => {
    const line = timeline(
      archived({ ranges: [range], needsBackupSince: '2026-01-10T09:00:00Z' }),
      [],
      now
    )!;
    expect(line.archiving).toBeUndefined();
    expect(line.lost).toEqual({ from: at('2026-01-10T09:00:00Z'), to: now });
  });

  it('keeps gaps between ranges', () => {
    const earlier = { oldest: '2026-01-01T00:00:00Z', newest: '2026-01-02T00:00:00Z' };
    expect(timeline(archived({ ranges: [earlier, range] }), [], now)!.recoverable).toHaveLength(2);
  });

  it('ignores times that are no times', () => {
    const broken = { oldest: 'yesterday', newest: range.newest };
    expect(
      timeline(archived({ ranges: [broken] }), [backup('a', '2026-01-09T00:00:00Z')], now)!
        .recoverable
    ).toEqual([]);
  });

  it('has the next backup if that is near', () => {
    const c = archived({ ranges: [range] });
    c.status!.backup = { nextScheduleTime: '2026-01-10T20:00:00Z' };
    expect(timeline(c, [], now)!.next).toBe(at('2026-01-10T20:00:00Z'));
    c.status!.backup = { nextScheduleTime: '2026-03-01T00:00:00Z' };
    expect(timeline(c, [], now)!.next).toBeUndefined();
  });
});

it('a backup without a phase is unknown, and one that is not verified is not called verified', () => {
  expect(mark(backup('a', '2026-01-09T00:00:00Z', { phase: undefined }))).toMatchObject({
    tone: 'unknown',
    word: 'Unknown',
  });
  expect(mark(backup('a', '2026-01-09T00:00:00Z'))).toMatchObject({ tone: 'good', verified: 'no' });
  expect(mark(backup('a', undefined, { phase: 'Failed' }))).toMatchObject({
    tone: 'bad',
    time: at('2026-01-01T00:00:00Z'),
  });
  const verified = mark(
    backup('a', '2026-01-09T00:00:00Z', { verification: { phase: 'Succeeded' } })
  );
  expect(verified.verified).toBe('yes');
});

it('backups of another cluster, namespace or previous cluster of the same name are not shown', () => {
  const other = backup('other');
  other.spec = { cluster: 'carts' };
  const elsewhere = backup('elsewhere');
  elsewhere.metadata.namespace = 'test';
  const previous = backup('previous', undefined, { clusterUID: 'u0' });
  const pending = backup('pending', undefined, { phase: 'Pending', clusterUID: undefined });
  const own = ownBackups(cluster(), [other, elsewhere, previous, pending, backup('own')]);
  expect(own.map(b => b.metadata.name)).toEqual(['pending', 'own']);
});

it('marks that would cover each other are in different rows', () => {
  const backups = ['00:00', '00:05', '00:10', '12:00'].map((time, i) =>
    backup(`b${i}`, `2026-01-08T${time}:00Z`)
  );
  const line = timeline(cluster(), backups, now)!;
  expect(rows(line, 800, 18, 3)).toEqual([0, 1, 2, 0]);
});

describe('times', () => {
  it('are ages in their largest unit', () => {
    expect(span(90 * 1000)).toBe('90 s');
    expect(span(3 * 60 * 1000)).toBe('3 min');
    expect(span(47 * 3600 * 1000)).toBe('47 h');
    expect(span(49 * 3600 * 1000)).toBe('2 d');
    expect(age(now, '2026-01-10T09:00:00Z')).toBe('3 h ago');
    expect(age(now, '2026-01-10T15:00:00Z')).toBe('in 3 h');
    expect(age(now, undefined)).toBe('unknown');
    expect(age(now, 'yesterday')).toBe('unknown');
  });

  it('are in UTC, and ticks are at most nine round times', () => {
    expect(clock(now)).toBe('10 Jan 12:00');
    for (const hours of [0.5, 1, 5, 30, 24 * 7, 24 * 90, 24 * 3000]) {
      const all = ticks(now - hours * 3600 * 1000, now);
      expect(all.length).toBeGreaterThan(1);
      expect(all.length).toBeLessThanOrEqual(9);
    }
    expect(ticks(now - 24 * 3600 * 1000, now).map(t => t.label)).toEqual([
      '12:00',
      '15:00',
      '18:00',
      '21:00',
      '10 Jan',
      '03:00',
      '06:00',
      '09:00',
      '12:00',
    ]);
  });
});
