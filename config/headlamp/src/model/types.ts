/*
SPDX-License-Identifier: Apache-2.0
*/

// The fields that the plugin reads. The comment before an interface names its place in a CRD, and a test of the repository
// compares the fields with the schema there. Every field is optional: an object that is new, or from another version, lacks some.

export interface Metadata {
  name: string;
  namespace?: string;
  uid?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
}

/** schema: databaseclusters status.conditions[] */
export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
  lastTransitionTime?: string;
}

/** schema: databaseclusters status.members[].volume */
export interface MemberVolume {
  claim: string;
  requested?: string | number;
  capacity?: string | number;
}

/** schema: databaseclusters status.members[] */
export interface Member {
  pod: string;
  ordinal?: number;
  ready?: boolean;
  state?: string;
  role?: string;
  outdated?: boolean;
  node?: string;
  zone?: string;
  version?: string;
  message?: string;
  volume?: MemberVolume;
}

/** schema: databaseclusters status.recovery.ranges[] */
export interface RecoveryRange {
  oldest: string;
  newest: string;
}

/** schema: databaseclusters status.recovery */
export interface Recovery {
  oldest?: string;
  newest?: string;
  ranges?: RecoveryRange[];
  needsBackupSince?: string;
  checkedAt?: string;
  message?: string;
}

/** schema: databaseclusters status.backup */
export interface BackupStatus {
  lastCompletedBackup?: string;
  lastCompletionTime?: string;
  lastVerificationTime?: string;
  nextScheduleTime?: string;
}

/** schema: databaseclusters status.hooks[] */
export interface Hook {
  name: string;
  phase?: string;
  message?: string;
}

/** schema: databaseclusters status */
export interface ClusterStatus {
  conditions?: Condition[];
  observedGeneration?: number;
  readyReplicas?: number;
  members?: Member[];
  primary?: string;
  version?: string;
  backup?: BackupStatus;
  recovery?: Recovery;
  hooks?: Hook[];
}

/** schema: databaseclusters spec.backup */
export interface BackupConfig {
  archive?: object;
}

/** schema: databaseclusters spec */
export interface ClusterSpec {
  replicas?: number;
  image?: string;
  engine?: string;
  paused?: boolean;
  hibernated?: boolean;
  backup?: BackupConfig;
}

export interface Cluster {
  metadata: Metadata;
  spec?: ClusterSpec;
  status?: ClusterStatus;
}

/** schema: databasebackups status.verification */
export interface Verification {
  phase?: string;
  message?: string;
  completionTime?: string;
}

/** schema: databasebackups status */
export interface BackupObjectStatus {
  phase?: string;
  message?: string;
  startTime?: string;
  completionTime?: string;
  size?: string;
  clusterUID?: string;
  verification?: Verification;
}

/** schema: databasebackups spec */
export interface BackupSpec {
  cluster?: string;
}

export interface Backup {
  metadata: Metadata;
  spec?: BackupSpec;
  status?: BackupObjectStatus;
}

export interface Pod {
  metadata: Metadata;
  status?: {
    phase?: string;
    conditions?: Condition[];
    containerStatuses?: { name: string; restartCount?: number }[];
  };
}

export interface Claim {
  metadata: Metadata;
  spec?: { resources?: { requests?: Record<string, string> } };
  status?: { phase?: string; capacity?: Record<string, string> };
}

/** Tone is how good a fact is. An unknown fact is neither good nor bad. */
export type Tone = 'good' | 'change' | 'warning' | 'bad' | 'quiet' | 'unknown';
