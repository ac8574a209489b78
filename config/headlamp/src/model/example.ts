/*
SPDX-License-Identifier: Apache-2.0
*/

import { Backup, Cluster, Condition, Member } from './types';

/** condition is a condition of the current generation of example. */
export function conditionOf(type: string, status: string, message = ''): Condition {
  return { type, status, reason: type, message, observedGeneration: 2 };
}

/** healthy are the conditions of a cluster that matches its spec. */
export const healthy = [
  conditionOf('Ready', 'True'),
  conditionOf('Available', 'True'),
  conditionOf('Progressing', 'False'),
  conditionOf('Degraded', 'False'),
  conditionOf('Stalled', 'False'),
];

/** cluster is a cluster for tests, with other conditions in place of those of the same type. */
export function cluster(...conditions: Condition[]): Cluster {
  const types = conditions.map(c => c.type);
  return {
    metadata: { name: 'orders', namespace: 'shop', uid: 'u1', generation: 2 },
    spec: { replicas: 3, backup: { archive: {} } },
    status: {
      conditions: [...healthy.filter(c => !types.includes(c.type)), ...conditions],
      readyReplicas: 3,
    },
  };
}

/** member is a ready member for tests. */
export function member(ordinal: number, more: Partial<Member> = {}): Member {
  return {
    pod: `orders-${ordinal}`,
    ordinal,
    ready: true,
    state: 'Ready',
    volume: { claim: `data-orders-${ordinal}`, requested: '10Gi', capacity: '10Gi' },
    ...more,
  };
}

/** backup is a complete backup for tests. */
export function backup(name: string, completionTime?: string, more: Backup['status'] = {}): Backup {
  return {
    metadata: { name, namespace: 'shop', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { cluster: 'orders' },
    status: { phase: 'Completed', completionTime, clusterUID: 'u1', ...more },
  };
}
