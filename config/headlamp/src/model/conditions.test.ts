/*
SPDX-License-Identifier: Apache-2.0
*/

import { conditionTone, isOutdated, sortedConditions } from './conditions';
import { cluster, conditionOf } from './example';

it.each([
  ['Available', 'True', 'good'],
  ['Available', 'False', 'bad'],
  ['BackupHealthy', 'False', 'warning'],
  ['Stalled', 'True', 'bad'],
  ['Stalled', 'False', 'quiet'],
  ['Degraded', 'True', 'warning'],
  ['Progressing', 'True', 'change'],
  ['Hibernated', 'False', 'quiet'],
])('%s %s is %s', (type, status, tone) => {
  expect(conditionTone(conditionOf(type, status))).toBe(tone);
});

it.each([
  ['Available', 'Unknown'],
  ['Stalled', 'Unknown'],
  ['Stalled', ''],
  ['OfAnotherVersion', 'True'],
  ['OfAnotherVersion', 'False'],
])('%s %s is unknown, neither good nor bad', (type, status) => {
  expect(conditionTone(conditionOf(type, status))).toBe('unknown');
});

it('a condition of a previous generation is marked, one without a generation is not', () => {
  const c = cluster();
  expect(isOutdated(c, conditionOf('Ready', 'True'))).toBe(false);
  expect(isOutdated(c, { ...conditionOf('Ready', 'True'), observedGeneration: 1 })).toBe(true);
  expect(isOutdated(c, { type: 'Ready', status: 'True' })).toBe(false);
});

it('every condition is listed, Ready first and unknown types last', () => {
  const types = sortedConditions(cluster(conditionOf('OfAnotherVersion', 'True'))).map(c => c.type);
  expect(types[0]).toBe('Ready');
  expect(types[types.length - 1]).toBe('OfAnotherVersion');
  expect(types).toHaveLength(6);
});
