/*
SPDX-License-Identifier: Apache-2.0
*/

import { K8s } from '@kinvolk/headlamp-plugin/lib';
import { Link, SectionBox } from '@kinvolk/headlamp-plugin/lib/CommonComponents';
import { useTheme } from '@mui/material/styles';
import React from 'react';
import { useParams } from 'react-router-dom';
import { Backup, Claim, Cluster, Pod } from './model/types';
import { DatabaseBackup, DatabaseCluster } from './resources';
import { ClusterList } from './views/ClusterList';
import { ClusterPage, Lists } from './views/ClusterPage';
import { Frame } from './views/Tone';

/** Item is an object as Headlamp has it: the JSON of the API server, and the Kubernetes cluster that it is from. */
interface Item {
  jsonData: unknown;
  cluster: string;
}

interface Failure {
  message: string;
}

const refresh = 30 * 1000;

// The ages on a page grow although no object changes.
function useNow(): number {
  const [now, setNow] = React.useState(Date.now);
  React.useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), refresh);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function useDark(): boolean {
  return useTheme().palette.mode === 'dark';
}

/** ListPage lists the DatabaseClusters of the Kubernetes clusters that are selected. */
export function ListPage() {
  const [items, error] = DatabaseCluster.useList();
  const clusters = items?.map(item => ({ ...(item.jsonData as Cluster), context: item.cluster }));
  return (
    <SectionBox title="Databases">
      <Frame dark={useDark()}>
        <ClusterList
          clusters={clusters ?? undefined}
          problem={error?.message}
          now={useNow()}
          link={({ metadata: { namespace = '', name }, context }) => (
            <Link routeName="databasecluster" params={{ namespace, name }} activeCluster={context}>
              {name}
            </Link>
          )}
        />
      </Frame>
    </SectionBox>
  );
}

function useLists(name: string, namespace: string, cluster?: string): Lists {
  const labelSelector = `app.kubernetes.io/name=databasecluster,app.kubernetes.io/instance=${name}`;
  const [backups, noBackups] = DatabaseBackup.useList({ cluster, namespace });
  const [pods, noPods] = K8s.ResourceClasses.Pod.useList({ cluster, namespace, labelSelector });
  const [claims, noClaims] = K8s.ResourceClasses.PersistentVolumeClaim.useList({
    cluster,
    namespace,
  });
  return {
    backups: objects<Backup>(backups),
    pods: objects<Pod>(pods),
    claims: objects<Claim>(claims),
    problems: [
      ...problem('DatabaseBackups', noBackups),
      ...problem('Pods', noPods),
      ...problem('PersistentVolumeClaims', noClaims),
    ],
  };
}

function objects<T>(items: Item[] | null): T[] | undefined {
  return items?.map(item => item.jsonData as T);
}

function problem(kind: string, error: Failure | null): string[] {
  return error
    ? [`The ${kind} could not be read, so the picture lacks what they show: ${error.message}`]
    : [];
}

/** DetailsPage shows one DatabaseCluster. It lists, because Headlamp keeps an object that it has read by name after its deletion. */
export function DetailsPage() {
  const { namespace, name } = useParams<{ namespace: string; name: string }>();
  const cluster = K8s.useCluster() ?? undefined;
  const fieldSelector = `metadata.name=${name}`;
  const [items, error] = DatabaseCluster.useList({ cluster, namespace, fieldSelector });
  const item = items?.[0];
  const lists = useLists(name, namespace, cluster);
  const now = useNow();
  return (
    <SectionBox title={name} backLink>
      <Frame dark={useDark()}>
        {item ? (
          <ClusterPage cluster={item.jsonData as Cluster} lists={lists} now={now} />
        ) : (
          <p role="status">{missing(items, error)}</p>
        )}
      </Frame>
    </SectionBox>
  );
}

function missing(items: Item[] | null, error: Failure | null): string {
  if (error) {
    return `The DatabaseCluster could not be read: ${error.message}`;
  }
  return items ? 'This DatabaseCluster does not exist.' : 'Loading…';
}
