/*
SPDX-License-Identifier: Apache-2.0
*/

import { isTrue } from './conditions';
import { at, ticks } from './time';
import { Backup, Cluster, Tone } from './types';

/** Mark is a backup at its place in the time line. */
export interface Mark {
  name: string;
  time: number;
  tone: Tone;
  word: string;
  verified: 'yes' | 'failed' | 'running' | 'no';
  size: string;
  message: string;
}

/** Band is a range of times. */
export interface Band {
  from: number;
  to: number;
}

/** Timeline has the backups of a cluster, and the times that can be recovered. */
export interface Timeline {
  from: number;
  to: number;
  now: number;
  marks: Mark[];
  /** recoverable are the times that the operator has seen in the archive. */
  recoverable: Band[];
  /** archiving is from the end of that until now, if the archive has the commits of the last minutes. */
  archiving?: Band;
  /** lost is since when nothing new can be recovered, because no usable backup begins in the log that is archived now. */
  lost?: Band;
  next?: number;
  ticks: { time: number; label: string }[];
}

const shown = 60;
const hour = 3600 * 1000;

/** ownBackups are the backups of a cluster, and of no previous cluster of the same name. */
export function ownBackups(cluster: Cluster, backups: Backup[]): Backup[] {
  const { name, namespace, uid } = cluster.metadata;
  return backups.filter(
    b =>
      b.metadata.namespace === namespace &&
      b.spec?.cluster === name &&
      (!b.status?.clusterUID || !uid || b.status.clusterUID === uid)
  );
}

/** mark judges a backup. A backup without a phase is unknown. */
export function mark(backup: Backup): Mark {
  const { metadata, status } = backup;
  const tones: Record<string, Tone> = {
    Completed: 'good',
    Failed: 'bad',
    Running: 'change',
    Pending: 'quiet',
  };
  const phase = status?.phase ?? '';
  const verification = { Succeeded: 'yes', Failed: 'failed', Running: 'running' } as const;
  return {
    name: metadata.name,
    time:
      at(status?.completionTime) ?? at(status?.startTime) ?? at(metadata.creationTimestamp) ?? 0,
    tone: tones[phase] ?? 'unknown',
    word: tones[phase] ? phase : 'Unknown',
    verified: verification[status?.verification?.phase as keyof typeof verification] ?? 'no',
    size: status?.size ?? '',
    message: status?.message ?? '',
  };
}

/** timeline returns the time line of a cluster, or undefined if there is neither a backup nor a time to recover. */
export function timeline(cluster: Cluster, backups: Backup[], now: number): Timeline | undefined {
  const marks = ownBackups(cluster, backups)
    .map(mark)
    .filter(m => m.time > 0)
    .sort((a, b) => a.time - b.time)
    .slice(-shown);
  const recoverable = bands(cluster);
  const lostSince = at(cluster.status?.recovery?.needsBackupSince);
  const starts = [...marks.map(m => m.time), ...recoverable.map(b => b.from)];
  if (starts.length === 0) {
    return undefined;
  }
  const first = Math.min(...starts, now - hour);
  const next = at(cluster.status?.backup?.nextScheduleTime);
  const soon = next !== undefined && next > now && next - now <= (now - first) / 3;
  const last = Math.max(now, soon ? next : now, ...marks.map(m => m.time));
  const margin = (last - first) * 0.03;
  const [from, to] = [first - margin, last + margin];
  return {
    from,
    to,
    now,
    marks,
    recoverable,
    archiving: archiving(cluster, recoverable, now),
    lost: lostSince !== undefined && lostSince < now ? { from: lostSince, to: now } : undefined,
    next: soon ? next : undefined,
    ticks: ticks(from, to),
  };
}

function bands(cluster: Cluster): Band[] {
  return (cluster.status?.recovery?.ranges ?? [])
    .map(r => ({ from: at(r.oldest), to: at(r.newest) }))
    .filter((b): b is Band => b.from !== undefined && b.to !== undefined && b.to >= b.from);
}

// The status has the times that the operator saw when it last read the archive. Later ones follow while
// ContinuousArchiving is True. The picture shows these apart, because the operator has not read them.
function archiving(cluster: Cluster, recoverable: Band[], now: number): Band | undefined {
  const newest = recoverable[recoverable.length - 1]?.to;
  const follows =
    isTrue(cluster, 'ContinuousArchiving') && !cluster.status?.recovery?.needsBackupSince;
  return follows && newest !== undefined && newest < now ? { from: newest, to: now } : undefined;
}

/** place returns where a time is in a width. */
export function place(line: Timeline, time: number, width: number): number {
  return ((time - line.from) / (line.to - line.from)) * width;
}

/** rows moves marks that would cover each other to another row, and returns the row of each mark. */
export function rows(line: Timeline, width: number, gap: number, most: number): number[] {
  const ends: number[] = [];
  return line.marks.map(m => {
    const x = place(line, m.time, width);
    let row = ends.findIndex(end => x - end >= gap);
    if (row < 0) {
      row = ends.length < most ? ends.length : ends.indexOf(Math.min(...ends));
    }
    ends[row] = x;
    return row;
  });
}
