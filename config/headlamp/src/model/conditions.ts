/*
SPDX-License-Identifier: Apache-2.0
*/

import { Cluster, Condition, Tone } from './types';

// Which status of a condition is good: a test of the repository compares the types with those of the operator.
const trueIsGood = [
  'Ready',
  'Available',
  'BackupHealthy',
  'BackupVerified',
  'ContinuousArchiving',
  'CredentialsRotated',
  'ProtectionEnforced',
  'TLSReady',
  'MonitoringConfigured',
  'AutoResizeActive',
];
const trueIsBad = ['Stalled', 'SplitBrainSuspected', 'DeletionBlocked'];
const trueIsAWarning = ['Degraded', 'DiskPressure', 'EvictionBlocked'];
const trueIsAChange = ['Progressing', 'UpdateAvailable', 'StorageResizing', 'Paused', 'Hibernated'];

/** conditionTypes are the conditions that the plugin knows, in the order in which it shows them. */
export const conditionTypes = [...trueIsGood, ...trueIsBad, ...trueIsAWarning, ...trueIsAChange];

/** condition returns the condition of a type, if the cluster has it. */
export function condition(cluster: Cluster, type: string): Condition | undefined {
  return cluster.status?.conditions?.find(c => c.type === type);
}

/** isTrue reports whether a condition is True. Absent and Unknown are not. */
export function isTrue(cluster: Cluster, type: string): boolean {
  return condition(cluster, type)?.status === 'True';
}

/** isFalse reports whether a condition is False. Absent and Unknown are not. */
export function isFalse(cluster: Cluster, type: string): boolean {
  return condition(cluster, type)?.status === 'False';
}

/** conditionTone judges a condition. A status that is neither True nor False, and a type of another version, are unknown. */
export function conditionTone(c: Condition): Tone {
  const is = c.status === 'True';
  if ((!is && c.status !== 'False') || !conditionTypes.includes(c.type)) {
    return 'unknown';
  }
  if (trueIsGood.includes(c.type)) {
    return is ? 'good' : c.type === 'Available' ? 'bad' : 'warning';
  }
  if (!is) {
    return 'quiet';
  }
  if (trueIsBad.includes(c.type)) {
    return 'bad';
  }
  return trueIsAWarning.includes(c.type) ? 'warning' : 'change';
}

/** isOutdated reports whether a condition describes an older generation of the spec. */
export function isOutdated(cluster: Cluster, c: Condition): boolean {
  const { generation } = cluster.metadata;
  return (
    c.observedGeneration !== undefined &&
    generation !== undefined &&
    c.observedGeneration < generation
  );
}

/** sortedConditions are the conditions of a cluster, known types first. */
export function sortedConditions(cluster: Cluster): Condition[] {
  const place = (c: Condition) => {
    const at = conditionTypes.indexOf(c.type);
    return at < 0 ? conditionTypes.length : at;
  };
  return [...(cluster.status?.conditions ?? [])].sort(
    (a, b) => place(a) - place(b) || a.type.localeCompare(b.type)
  );
}
