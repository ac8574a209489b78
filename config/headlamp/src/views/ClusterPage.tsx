/*
SPDX-License-Identifier: Apache-2.0
*/

import React from 'react';
import { conditionTone, isOutdated, sortedConditions } from '../model/conditions';
import { health } from '../model/health';
import { slots } from '../model/members';
import { age, at, clock } from '../model/time';
import { timeline } from '../model/timeline';
import { Backup, Claim, Cluster, Pod, Tone } from '../model/types';
import { MembersPicture } from './MembersPicture';
import { TimelinePicture } from './TimelinePicture';
import { Word } from './Tone';

/** Lists are the objects beside the cluster. A list that is not loaded, or could not be read, is undefined. */
export interface Lists {
  backups?: Backup[];
  pods?: Pod[];
  claims?: Claim[];
  /** problems are why a list could not be read. */
  problems: string[];
}

interface Props {
  cluster: Cluster;
  lists: Lists;
  now: number;
}

/** ClusterPage shows one cluster: its health, its members and backups as pictures, and its conditions as text. */
export function ClusterPage({ cluster, lists, now }: Props) {
  const { tone, word, message } = health(cluster);
  return (
    <>
      <p style={{ fontSize: '1.15rem' }} data-health={tone}>
        <Word tone={tone}>{word}</Word>
      </p>
      {message && <p>{message}</p>}
      {lists.problems.map(problem => (
        <p key={problem} className="dbc-note" role="alert">
          {problem}
        </p>
      ))}
      <Facts cluster={cluster} now={now} />
      <Hooks cluster={cluster} />
      <h2>Members</h2>
      <MembersPicture
        slots={slots(cluster, lists.pods, lists.claims)}
        cluster={cluster.metadata.name}
      />
      <Causes cluster={cluster} />
      <h2>Backups</h2>
      <Backups cluster={cluster} backups={lists.backups} now={now} />
      <h2>Conditions</h2>
      <Conditions cluster={cluster} now={now} />
    </>
  );
}

function Facts({ cluster: { metadata, spec, status }, now }: { cluster: Cluster; now: number }) {
  const facts: [string, string | undefined][] = [
    ['Namespace', metadata.namespace],
    ['Engine', spec?.engine || 'none'],
    ['Version', status?.version || 'unknown'],
    ['Primary', status?.primary],
    ['Image', spec?.image],
    ['Created', age(now, metadata.creationTimestamp)],
    ['Deletion requested', metadata.deletionTimestamp && age(now, metadata.deletionTimestamp)],
  ];
  return (
    <dl className="dbc-facts">
      {facts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

const hookTones: Record<string, Tone> = {
  Pending: 'quiet',
  Running: 'change',
  Succeeded: 'good',
  Failed: 'bad',
  Skipped: 'warning',
};

function Hooks({ cluster }: { cluster: Cluster }) {
  const hooks = cluster.status?.hooks ?? [];
  if (!cluster.metadata.deletionTimestamp || hooks.length === 0) {
    return null;
  }
  return (
    <>
      <h2>Deletion hooks</h2>
      <table>
        <tbody>
          {hooks.map(hook => (
            <tr key={hook.name}>
              <th scope="row">{hook.name}</th>
              <td>
                <Word tone={hookTones[hook.phase ?? ''] ?? 'unknown'}>
                  {hook.phase || 'Unknown'}
                </Word>
              </td>
              <td className="dbc-message">{hook.message}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

// The causes of failures are too long for the picture.
function Causes({ cluster }: { cluster: Cluster }) {
  const failed = (cluster.status?.members ?? []).filter(m => m.message);
  return (
    <>
      {failed.map(m => (
        <p key={m.pod} className="dbc-message">
          <strong>{m.pod}:</strong> {m.message}
        </p>
      ))}
    </>
  );
}

function Backups({ cluster, backups, now }: { cluster: Cluster; backups?: Backup[]; now: number }) {
  const archive = !!cluster.spec?.backup?.archive;
  const line = timeline(cluster, backups ?? [], now);
  return (
    <>
      {line && <TimelinePicture line={line} cluster={cluster.metadata.name} archive={archive} />}
      <p>{backupsText(cluster, backups)}</p>
      {archive && <p>{recoveryText(cluster, now)}</p>}
      {cluster.status?.recovery?.message && <p>{cluster.status.recovery.message}</p>}
    </>
  );
}

function backupsText({ spec, status }: Cluster, backups?: Backup[]): string {
  if (!backups) {
    return 'Whether there are backups is unknown: they are not loaded.';
  }
  if (!spec?.backup) {
    return 'The cluster has no spec.backup: no schedule creates backups.';
  }
  const next = at(status?.backup?.nextScheduleTime);
  return next === undefined
    ? 'No scheduled backup is known.'
    : `Next scheduled backup: ${clock(next)} UTC.`;
}

function recoveryText({ status }: Cluster, now: number): string {
  const recovery = status?.recovery;
  if (!recovery) {
    return 'What can be recovered is unknown: the operator has not read the archive yet.';
  }
  const read = `The operator read the archive ${age(now, recovery.checkedAt)}.`;
  const [oldest, newest] = [at(recovery.oldest), at(recovery.newest)];
  if (oldest === undefined || newest === undefined) {
    return `No moment can be recovered. ${read}`;
  }
  const gaps = (recovery.ranges?.length ?? 0) > 1 ? ', with gaps' : '';
  const lost = at(recovery.needsBackupSince);
  const since =
    lost === undefined
      ? ''
      : ` Nothing since ${clock(lost)} UTC can be recovered without a new backup.`;
  return `Recoverable: ${clock(oldest)} to ${clock(newest)} UTC${gaps}.${since} ${read}`;
}

function Conditions({ cluster, now }: { cluster: Cluster; now: number }) {
  const conditions = sortedConditions(cluster);
  if (conditions.length === 0) {
    return <p className="dbc-muted">The operator has not reported any condition yet.</p>;
  }
  return (
    <div className="dbc-scroll">
      <table>
        <tbody>
          {conditions.map(c => (
            <tr key={c.type} data-condition={c.type}>
              <th scope="row">{c.type}</th>
              <td>
                <Word tone={conditionTone(c)}>{c.status}</Word>
              </td>
              <td>
                {c.reason}
                <div className="dbc-muted">{age(now, c.lastTransitionTime)}</div>
              </td>
              <td className="dbc-message">
                {c.message}
                {isOutdated(cluster, c) && ' (of a previous generation of the spec)'}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
