/*
SPDX-License-Identifier: Apache-2.0
*/

// The objects of the test: clusters with their status, as the operator writes it. No operator runs.

export const namespace = 'shop';
const apiVersion = 'database.dbcluster.io/v1alpha1';
const finalizer = 'database.dbcluster.io/finalizer';
const hour = 3600 * 1000;
const ago = hours => new Date(Date.now() - hours * hour).toISOString().replace(/\.\d+Z$/, 'Z');

function conditions(all, generation = 1) {
  return Object.entries(all).map(([type, [status, reason, message, hours = 30]]) => ({
    type,
    status,
    reason,
    message,
    observedGeneration: generation,
    lastTransitionTime: ago(hours),
  }));
}

const healthy = {
  Ready: ['True', 'Ready', 'all 3 members are ready'],
  Available: ['True', 'PrimaryReady', 'the primary orders-1 is ready'],
  Progressing: ['False', 'UpToDate', 'the cluster matches its spec'],
  Degraded: ['False', 'MembersHealthy', 'all members are healthy'],
  Stalled: ['False', 'NotStalled', 'no action required'],
  BackupHealthy: ['True', 'BackupFresh', 'the newest backup is 5 hours old', 100],
  BackupVerified: ['True', 'Verified', 'orders-nightly-2 was restored and checked', 28],
  ContinuousArchiving: ['True', 'Archiving', 'the archive has the commits of the last minutes', 90],
};

const { ContinuousArchiving: _, ...withoutArchive } = healthy;

function cluster(name, spec, more = {}) {
  const storage = { size: '10Gi' };
  return {
    apiVersion,
    kind: 'DatabaseCluster',
    metadata: { name, namespace, ...more },
    spec: { replicas: 3, image: 'registry.example.com/patroni:17.5', engine: 'postgresql-v1', storage, ...spec },
  };
}

function member(name, ordinal, role, more = {}) {
  return {
    pod: `${name}-${ordinal}`,
    ordinal,
    ready: true,
    state: 'Ready',
    role,
    node: `worker-${ordinal + 1}`,
    zone: `zone-${'abc'[ordinal]}`,
    version: '17.5',
    volume: { claim: `data-${name}-${ordinal}`, requested: '10Gi', capacity: '10Gi' },
    ...more,
  };
}

const destination = { url: 's3://backups/prod', endpoint: 'https://s3.example.com', credentialsSecretName: 'backup-credentials' };

export const clusters = [
  {
    object: cluster('orders', { backup: { destination, archive: {} } }),
    status: {
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      updatedReplicas: 3,
      version: '17.5',
      primary: 'orders-1',
      conditions: conditions(healthy),
      members: [member('orders', 0, 'Replica'), member('orders', 1, 'Primary'), member('orders', 2, 'Replica')],
      backup: {
        lastCompletedBackup: 'orders-nightly-4',
        lastCompletionTime: ago(5),
        nextScheduleTime: ago(-19),
      },
      recovery: {
        location: 's3://backups/prod/shop/orders/archive',
        checkedAt: ago(0.2),
        oldest: ago(101),
        newest: ago(0.2),
        ranges: [
          { oldest: ago(101), newest: ago(74) },
          { oldest: ago(53), newest: ago(0.2) },
        ],
      },
    },
  },
  {
    object: cluster('carts', { replicas: 3, backup: { destination } }),
    status: {
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 2,
      updatedReplicas: 3,
      version: '17.5',
      primary: 'carts-0',
      conditions: conditions({
        ...withoutArchive,
        Ready: ['False', 'MemberFailing', 'carts-2: the container exits again and again', 1],
        Available: ['True', 'PrimaryReady', 'the primary carts-0 is ready'],
        Degraded: ['True', 'MemberFailing', 'carts-2: could not write to file "pg_wal/xlogtemp.31": No space left on device', 1],
        BackupHealthy: ['Unknown', 'NoBackup', 'no backup is complete yet', 1],
        BackupVerified: ['Unknown', 'NotVerified', 'no backup was verified yet', 1],
      }),
      members: [
        member('carts', 0, 'Primary'),
        member('carts', 1, 'Replica'),
        member('carts', 2, undefined, {
          ready: false,
          state: 'Failing',
          message: 'could not write to file "pg_wal/xlogtemp.31": No space left on device',
        }),
      ],
      backup: {},
    },
  },
  {
    object: cluster(
      'sessions',
      { replicas: 2, deletion: { hooks: [{ name: 'last', type: 'Command', command: ['true'] }] } },
      { finalizers: [finalizer] }
    ),
    deleted: true,
    status: {
      observedGeneration: 1,
      replicas: 1,
      readyReplicas: 1,
      updatedReplicas: 1,
      primary: 'sessions-0',
      conditions: conditions(
        {
          Ready: ['False', 'HookRunning', 'deletion hook last runs', 0.1],
          Available: ['True', 'PrimaryReady', 'the primary sessions-0 is ready'],
          Progressing: ['True', 'HookRunning', 'deletion hook last runs', 0.1],
          Degraded: healthy.Degraded,
          Stalled: healthy.Stalled,
          DeletionBlocked: ['False', 'HookRunning', 'deletion hook last runs', 0.1],
        },
        2
      ),
      members: [member('sessions', 0, 'Primary')],
      hooks: [{ name: 'last', phase: 'Running', message: 'Job sessions-last runs' }],
    },
  },
  { object: cluster('catalog', { replicas: 1 }) },
];

function backup(name, of, completed, status) {
  return {
    object: { apiVersion, kind: 'DatabaseBackup', metadata: { name, namespace }, spec: { cluster: of } },
    status: {
      phase: 'Completed',
      startTime: ago(completed + 0.1),
      completionTime: ago(completed),
      size: '1.2 GiB',
      observedGeneration: 1,
      ...status,
    },
  };
}

export const backups = [
  backup('orders-nightly-0', 'orders', 101),
  backup('orders-nightly-1', 'orders', 77, {
    phase: 'Failed',
    completionTime: undefined,
    size: undefined,
    message: 'the destination refused the data: 503',
  }),
  backup('orders-nightly-2', 'orders', 53, { verification: { phase: 'Succeeded', completionTime: ago(28) } }),
  backup('orders-nightly-3', 'orders', 29),
  backup('orders-nightly-4', 'orders', 5),
  backup('orders-before-migration', 'orders', 0, { phase: 'Running', startTime: ago(0.1), completionTime: undefined, size: '310 MiB' }),
];

const labels = name => ({
  'app.kubernetes.io/name': 'databasecluster',
  'app.kubernetes.io/instance': name,
  'app.kubernetes.io/component': 'database',
});

/** pods are those of the members. No node runs them, so the test sets their status. */
export function pods() {
  return members().map(({ name, m }) => ({
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: m.pod, namespace, labels: labels(name) },
      spec: { containers: [{ name: 'database', image: 'registry.example.com/patroni:17.5' }] },
    },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: m.ready ? 'True' : 'False', lastTransitionTime: ago(30) }],
    },
  }));
}

/** volumes are a claim and its volume for each member: the volume controller binds them. */
export function volumes() {
  return members().flatMap(({ name, m }) => {
    const { claim } = m.volume;
    const common = { storageClassName: '', accessModes: ['ReadWriteOnce'] };
    return [
      {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: claim },
        spec: { ...common, capacity: { storage: '10Gi' }, claimRef: { namespace, name: claim }, hostPath: { path: '/nonexistent' } },
      },
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: claim, namespace, labels: labels(name) },
        spec: { ...common, volumeName: claim, resources: { requests: { storage: '10Gi' } } },
      },
    ];
  });
}

function members() {
  return clusters.flatMap(({ object, status }) => (status?.members ?? []).map(m => ({ name: object.metadata.name, m })));
}
