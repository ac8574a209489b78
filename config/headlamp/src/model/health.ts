/*
SPDX-License-Identifier: Apache-2.0
*/

import { condition, isFalse, isOutdated, isTrue } from './conditions';
import { Cluster, Tone } from './types';

/** Health is the state of a cluster in a few words, with the message of the condition that decides it. */
export interface Health {
  tone: Tone;
  word: string;
  message: string;
}

/** Rule is a state that a condition decides. */
interface Rule {
  type: string;
  status: 'True' | 'False';
  tone: Tone;
  word: string;
}

// The first rule that holds decides. The order is the order of urgency.
const rules: Rule[] = [
  { type: 'Stalled', status: 'True', tone: 'bad', word: 'Action required' },
  { type: 'SplitBrainSuspected', status: 'True', tone: 'bad', word: 'Two primaries' },
  { type: 'Available', status: 'False', tone: 'bad', word: 'Not available' },
  { type: 'Degraded', status: 'True', tone: 'warning', word: 'Degraded' },
  { type: 'Paused', status: 'True', tone: 'change', word: 'Paused' },
  { type: 'BackupHealthy', status: 'False', tone: 'warning', word: 'Backups unhealthy' },
  { type: 'BackupVerified', status: 'False', tone: 'warning', word: 'Verification failed' },
  { type: 'ContinuousArchiving', status: 'False', tone: 'warning', word: 'Archive behind' },
  { type: 'TLSReady', status: 'False', tone: 'warning', word: 'Certificate not ready' },
  { type: 'EvictionBlocked', status: 'True', tone: 'warning', word: 'Eviction blocked' },
  { type: 'Progressing', status: 'True', tone: 'change', word: 'Progressing' },
];

/** health judges a cluster by its conditions. It is good only if the operator reports so for the current spec. */
export function health(cluster: Cluster): Health {
  if (cluster.metadata.deletionTimestamp) {
    return terminating(cluster);
  }
  const ready = condition(cluster, 'Ready');
  if (!ready) {
    return { tone: 'unknown', word: 'Unknown', message: 'The operator has not reported yet.' };
  }
  return asleep(cluster) ?? decided(cluster) ?? byReady(cluster);
}

function terminating(cluster: Cluster): Health {
  if (isTrue(cluster, 'DeletionBlocked')) {
    return quote(cluster, 'DeletionBlocked', 'bad', 'Deletion blocked');
  }
  return quote(cluster, 'Progressing', 'change', 'Terminating');
}

// A hibernated cluster is not available on purpose.
function asleep(cluster: Cluster): Health | undefined {
  if (!cluster.spec?.hibernated || isTrue(cluster, 'Stalled')) {
    return undefined;
  }
  return isTrue(cluster, 'Hibernated')
    ? quote(cluster, 'Hibernated', 'quiet', 'Hibernated')
    : quote(cluster, 'Progressing', 'change', 'Hibernating');
}

function decided(cluster: Cluster): Health | undefined {
  const rule = rules.find(r =>
    r.status === 'True' ? isTrue(cluster, r.type) : isFalse(cluster, r.type)
  );
  return rule && quote(cluster, rule.type, rule.tone, rule.word);
}

function byReady(cluster: Cluster): Health {
  const ready = condition(cluster, 'Ready')!;
  if (isOutdated(cluster, ready)) {
    return {
      tone: 'unknown',
      word: 'Unknown',
      message: 'The operator has not reported on the last change of the spec yet.',
    };
  }
  if (ready.status === 'False') {
    return quote(cluster, 'Ready', 'warning', ready.reason || 'Not ready');
  }
  if (ready.status !== 'True' || !isTrue(cluster, 'Available')) {
    return quote(cluster, ready.status === 'True' ? 'Available' : 'Ready', 'unknown', 'Unknown');
  }
  return quote(cluster, 'Ready', 'good', 'Ready');
}

function quote(cluster: Cluster, type: string, tone: Tone, word: string): Health {
  return { tone, word, message: condition(cluster, type)?.message ?? '' };
}

/** urgency is the place of a tone in a list: the worst is first. */
export function urgency(tone: Tone): number {
  return ['bad', 'warning', 'unknown', 'change', 'quiet', 'good'].indexOf(tone);
}

/** byUrgency returns the clusters with their health, the worst first. */
export function byUrgency<C extends Cluster>(clusters: C[]): { cluster: C; health: Health }[] {
  const name = (c: Cluster) => `${c.metadata.namespace}/${c.metadata.name}`;
  return clusters
    .map(cluster => ({ cluster, health: health(cluster) }))
    .sort(
      (a, b) =>
        urgency(a.health.tone) - urgency(b.health.tone) ||
        name(a.cluster).localeCompare(name(b.cluster))
    );
}

/** counts returns how many clusters have each word, the worst first. */
export function counts(all: { health: Health }[]): { word: string; tone: Tone; count: number }[] {
  const found = new Map<string, { word: string; tone: Tone; count: number }>();
  for (const { health: h } of all) {
    const entry = found.get(h.word) ?? { word: h.word, tone: h.tone, count: 0 };
    entry.count++;
    found.set(h.word, entry);
  }
  return [...found.values()].sort((a, b) => urgency(a.tone) - urgency(b.tone));
}
