/*
SPDX-License-Identifier: Apache-2.0
*/

import React from 'react';
import { byUrgency, counts, Health } from '../model/health';
import { slots } from '../model/members';
import { age, at, clock } from '../model/time';
import { Cluster } from '../model/types';
import { Sign, Word } from './Tone';

interface Props<C extends Cluster> {
  /** clusters are undefined until they are loaded. */
  clusters?: C[];
  /** problem is why some clusters, or all of them, could not be read. */
  problem?: string;
  now: number;
  link: (cluster: C) => React.ReactNode;
}

/** ClusterList lists the clusters, the worst first. */
export function ClusterList<C extends Cluster>({ clusters, problem, now, link }: Props<C>) {
  if (!clusters && !problem) {
    return <p className="dbc-muted">Loading…</p>;
  }
  if (clusters?.length === 0 && !problem) {
    return (
      <p className="dbc-muted">There is no DatabaseCluster in the namespaces that you can see.</p>
    );
  }
  return (
    <>
      {problem && (
        <p className="dbc-note" role="alert">
          Not every DatabaseCluster could be read: {problem}
        </p>
      )}
      {!!clusters?.length && <Table clusters={clusters} now={now} link={link} />}
    </>
  );
}

const titles = ['Cluster', 'Health', 'Members', 'Newest backup', 'Recoverable since', 'Version'];

function Table<C extends Cluster>({ clusters, now, link }: Props<C> & { clusters: C[] }) {
  const all = byUrgency(clusters);
  return (
    <>
      <ul className="dbc-summary" aria-label="Number of clusters by health">
        {counts(all).map(({ word, tone, count }) => (
          <li key={word + tone}>
            <Word tone={tone}>
              {count} {word}
            </Word>
          </li>
        ))}
      </ul>
      <div className="dbc-scroll">
        <table>
          <thead>
            <tr>
              {titles.map(title => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {all.map(({ cluster, health }) => (
              <Row
                key={
                  cluster.metadata.uid ?? `${cluster.metadata.namespace}/${cluster.metadata.name}`
                }
                cluster={cluster}
                health={health}
                now={now}
                name={link(cluster)}
              />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface RowProps {
  cluster: Cluster;
  health: Health;
  now: number;
  name: React.ReactNode;
}

function Row({ cluster, health, now, name }: RowProps) {
  const { metadata, spec, status } = cluster;
  return (
    <tr data-cluster={metadata.name}>
      <td>
        {name}
        <div className="dbc-muted">{metadata.namespace}</div>
      </td>
      <td>
        <Word tone={health.tone}>{health.word}</Word>
        {health.tone !== 'good' && <div className="dbc-message">{health.message}</div>}
      </td>
      <td style={{ whiteSpace: 'nowrap' }}>
        {status?.conditions ? status.readyReplicas ?? 0 : '?'} of {spec?.replicas ?? 1} ready
        <div aria-hidden="true">
          {slots(cluster).map(slot => (
            <Sign key={slot.ordinal} tone={slot.tone} />
          ))}
        </div>
      </td>
      <td>{newestBackup(cluster, now)}</td>
      <td>{recoverable(cluster)}</td>
      <td>{status?.version || '—'}</td>
    </tr>
  );
}

function newestBackup({ spec, status }: Cluster, now: number): string {
  if (status?.backup?.lastCompletionTime) {
    return age(now, status.backup.lastCompletionTime);
  }
  return spec?.backup ? 'none known' : 'no backups configured';
}

function recoverable({ spec, status }: Cluster): string {
  const oldest = at(status?.recovery?.oldest);
  if (oldest !== undefined) {
    return clock(oldest) + ' UTC';
  }
  if (!spec?.backup?.archive) {
    return '—';
  }
  return status?.recovery ? 'nothing' : 'unknown';
}
