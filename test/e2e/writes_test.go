//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// available is what the condition Available of a cluster reports.
func (w world) available(cluster string) []string {
	return []string{"get", "databasecluster", cluster, "-o", `jsonpath={range .status.conditions[?(@.type=="Available")]}{.status} {.reason} {.message}{end}`}
}

// event waits for an event of the operator about a cluster.
func (w world) event(reason string) {
	w.Helper()
	w.eventually(reason, "get", "events.events.k8s.io", "-o", `jsonpath={.items[?(@.action=="ReportAvailable")].reason}`)
}

// A full disk was Available: Patroni reports a primary while its server ends in each attempt to start.
func TestAPrimaryWithAFullVolumeIsNotAvailableAndWritesAgainWhenItGrows(t *testing.T) {
	onLocalNode(t, "its StorageClass growing has volumes of a real size, which grow up to 100Gi")
	w := newWorld(t)
	w.replacements = append(w.replacements, "IMAGE", w.needs(patroniImage), "replicas: 3", "replicas: 1", "storage: {size: 1Gi}", "storage: {size: 700Mi, storageClassName: growing}")
	w.apply(replicated)
	w.await("ledger", "Ready")
	w.ask("ledger", "CREATE TABLE note (text text); INSERT INTO note VALUES ('still here')")
	settings := "SELECT current_setting('max_wal_size') || ' ' || current_setting('wal_keep_size') || ' ' || current_setting('max_slot_wal_keep_size')"
	w.must(w.ask("ledger", settings) == "70MB 35MB 70MB", "the limits of the log do not fit the volume: %s", w.ask("ledger", settings))
	pod := w.do("get", "pod", "ledger-0", "-o", "jsonpath={.metadata.uid}")

	_, err := run(w.Context(), "", "-n", w.namespace, "exec", "ledger-0", "--", "sh", "-c", "cat /dev/zero > /var/lib/database/rubbish")
	w.must(err != nil, "the volume does not fill up")
	_, _ = run(w.Context(), "", "-n", w.namespace, "exec", "ledger-0", "-c", "database", "--", "psql", "-h", "/run/postgresql", "-U", "postgres", "-d", "app", "-c",
		"CREATE TABLE large AS SELECT repeat(md5(n::text), 20) FROM generate_series(1, 300000) n")
	w.eventually("False WritesRefused pod ledger-0 accepts no writes: the data volume of", w.available("ledger")...)
	w.eventually("MiB is full. Raise spec.storage.size.", w.available("ledger")...)
	w.event("WritesRefused")

	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"storage":{"size":"1400Mi"}}}`)
	w.ready()
	w.keepsTheRow()
	w.ask("ledger", "INSERT INTO note VALUES ('and another one')")
	w.eventually("140MB 70MB 140MB", "exec", "ledger-0", "-c", "database", "--", "psql", "-X", "-q", "-t", "-A", "-h", "/run/postgresql", "-U", "postgres", "-d", "app", "-c", settings)
	w.must(w.do("get", "pod", "ledger-0", "-o", "jsonpath={.metadata.uid} {.status.containerStatuses[0].restartCount}") == pod+" 0", "the member was restarted")
	w.event("PrimaryReady")

	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"parameters":{"max_wal_size":"1GB"}}}`)
	w.eventually("spec.parameters[max_wal_size] is 1GB, but must be at most 40% of spec.storage.size", "get", "databasecluster", "ledger", "-o",
		`jsonpath={.status.conditions[?(@.type=="Stalled")].message}`)
	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"parameters":{"max_wal_size":null},"container":{"port":8008}}}`)
	w.eventually("spec.container.port is 8008, which DatabaseEngine postgresql-v1 uses for another purpose", "get", "databasecluster", "ledger", "-o",
		`jsonpath={.status.conditions[?(@.type=="Stalled")].message}`)
}

// With synchronous strict, no commit ends without a replica.
func TestAPrimaryThatWaitsForAReplicaIsNotAvailable(t *testing.T) {
	w := newWorld(t)
	w.replacements = append(w.replacements, "IMAGE", w.needs(patroniImage), "replicas: 3", "replicas: 2", "parameters: {", "parameters: {synchronous: strict, ")
	w.apply(replicated)
	w.await("ledger", "Ready")
	w.ask("ledger", "SET synchronous_commit = local; ALTER ROLE replicator NOLOGIN; SELECT pg_terminate_backend(pid) FROM pg_stat_replication")
	w.eventually("False WritesRefused pod ledger-0 accepts no writes: commits wait for a replica, and none streams", w.available("ledger")...)
	w.eventually("pod ledger-1 is not ready: this replica does not follow", "get", "databasecluster", "ledger", "-o", `jsonpath={.status.conditions[?(@.type=="Degraded")].message}`)

	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"parameters":{"synchronous":"on"}}}`)
	w.eventually("True PrimaryReady", w.available("ledger")...)
	w.ask("ledger", "CREATE TABLE note (text text); ALTER ROLE replicator LOGIN")
	w.await("ledger", "Ready")
}

// The tokens of running pods name the deleted account. The primary cannot keep its lock and is demoted, but cannot change its label either.
func TestADeletedServiceAccountIsReportedUntilThePodsAreDeleted(t *testing.T) {
	w := withLedger(t, "")
	w.do("delete", "serviceaccount", "ledger")
	w.eventually("False NoPrimary", w.available("ledger")...)
	stalled := []string{"get", "databasecluster", "ledger", "-o", `jsonpath={range .status.conditions[?(@.type=="Stalled")]}{.reason} {.message}{end}`}
	w.eventually("ServiceAccountReplaced ServiceAccount ledger was created at ", stalled...)
	w.eventually("the Kubernetes API server refuses this member: 401", "get", "databasecluster", "ledger", "-o",
		`jsonpath={.status.conditions[?(@.type=="Degraded")].message}`)

	_, command, found := strings.Cut(w.do(stalled...), "Delete the pods: kubectl ")
	w.must(found, "the way out is not in the message")
	w.do(strings.Fields(command)...)
	w.await("ledger", "Ready")
	w.keepsTheRow()
}

// A hash join of parallel processes needs more shared memory than the 64 MiB of a container.
func TestAParallelJoinHasEnoughSharedMemory(t *testing.T) {
	w := newWorld(t)
	w.replacements = append(w.replacements, "IMAGE", w.needs(patroniImage), "replicas: 3", "replicas: 1")
	w.apply(replicated)
	w.await("ledger", "Ready")
	w.ask("ledger", "CREATE TABLE large AS SELECT n, repeat('x', 100) AS text FROM generate_series(1, 700000) n; ANALYZE large")
	got := w.ask("ledger", `SET work_mem = '300MB'; SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
		SET min_parallel_table_scan_size = 0; SET enable_mergejoin = off; SET enable_nestloop = off;
		SELECT count(*) FROM large a JOIN large b ON a.n = b.n AND a.text = b.text`)
	w.must(strings.HasSuffix(got, "700000"), "the join returns %s", got)
}

const registryAtItsQuota = `
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata:
  name: registry
spec:
  engine: etcd-v1
  replicas: 3
  image: IMAGE
  resources: {requests: {cpu: 20m, memory: 100Mi}}
  storage: {size: 1Gi}
  parameters: {quota-backend-bytes: "100000000"}
`

// etcd at its quota accepts reads and deletions only, also after a higher quota, until its alarm is disarmed.
func TestEtcdAtItsQuotaIsNotAvailableUntilTheQuotaIsRaised(t *testing.T) {
	w := newWorld(t)
	w.replacements = append(w.replacements, "IMAGE", w.needs(etcdImage))
	w.apply(registryAtItsQuota)
	w.await("registry", "Ready")
	etcdctl := func(command string) (string, error) {
		return run(w.Context(), "", "-n", w.namespace, "exec", "registry-0", "-c", "database", "--", "bash", "-c",
			`export ETCDCTL_USER=root ETCDCTL_PASSWORD=$(cat /dbc/secrets/password) ETCDCTL_ENDPOINTS=http://registry:2379; `+command)
	}
	const fill = `value=$(head -c 750000 /dev/urandom | base64 -w 0)
		for n in $(seq 400); do
			said=$(printf %s "$value" | etcdctl put "key-$n" 2>&1) && continue # a slow disk refuses some, too
			case $said in *"space exceeded"*) exit 0;; esac
		done
		echo "$said"; exit 1`
	text, err := etcdctl(fill)
	w.must(err == nil, "etcd does not refuse a write because of its quota: %s", text)
	w.eventually("False WritesRefused pod registry-", w.available("registry")...)
	w.eventually("accepts no writes: the database has reached its quota", w.available("registry")...)
	text, err = etcdctl("etcdctl get key-1 --keys-only")
	w.must(err == nil && strings.Contains(text, "key-1"), "the Service serves no reads: %s", text)

	w.do("patch", "databasecluster", "registry", "--type=merge", "-p", fmt.Sprintf(`{"spec":{"parameters":{"quota-backend-bytes":"%d"}}}`, 200_000_000))
	w.eventually("True MajorityReady", w.available("registry")...)
	w.await("registry", "Ready")
	text, err = etcdctl("etcdctl put after the-alarm")
	w.must(err == nil, "etcd refuses writes: %s", text)
}
