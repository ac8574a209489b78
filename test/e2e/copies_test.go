//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// The stories let a member not start, by a node on which nothing is scheduled. So no other test can run in parallel.

const registry = `
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata:
  name: registry
spec:
  engine: etcd-v1
  replicas: REPLICAS
  image: IMAGE
  resources: {requests: {cpu: 20m, memory: 64Mi}}
  storage: {size: 1Gi}
`

const lastCopy = `
  deletion: {volumes: Delete, hookDeadlineSeconds: 300, hooks: [{name: final, type: Backup}]}`

// etcd runs etcdctl in a member.
func (w world) etcd(pod string, words ...string) string {
	w.Helper()
	return w.do(append([]string{
		"exec", pod, "-c", "database", "--", "sh", "-c",
		`ETCDCTL_USER=root ETCDCTL_PASSWORD=$(cat /dbc/secrets/password) exec etcdctl "$@"`, "sh",
	}, words...)...)
}

// sqlOf runs a statement on the database of applications, from a member.
func (w world) sqlOf(pod, host, statement string) string {
	w.Helper()
	return w.do("exec", pod, "-c", "database", "--", "sh", "-c",
		`PGPASSWORD=$(cat /dbc/secrets/password) exec psql -X -q -t -A -h "$1" -U postgres -d app -c "$2"`, "sh", host, statement)
}

// schedulesNothing cordons all nodes. The function that it returns ends that.
func (w world) schedulesNothing() (again func()) {
	w.Helper()
	nodes := strings.Fields(w.kubectl("get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"))
	again = func() { w.kubectl(append([]string{"uncordon"}, nodes...)...) }
	w.Cleanup(func() { _, _ = run(context.Background(), "", append([]string{"uncordon"}, nodes...)...) })
	w.kubectl(append([]string{"cordon"}, nodes...)...)
	return again
}

// operatorAway stops the operator. The function that it returns starts it again.
func (w world) operatorAway() (back func()) {
	w.Helper()
	replicas := w.kubectl("-n", operatorNamespace, "get", "deployment", deployment, "-o", "jsonpath={.spec.replicas}")
	again := []string{"-n", operatorNamespace, "scale", "deployment", deployment, "--replicas=" + replicas}
	w.Cleanup(func() { _, _ = run(context.Background(), "", again...) })
	w.kubectl("-n", operatorNamespace, "scale", "deployment", deployment, "--replicas=0")
	w.kubectl("-n", operatorNamespace, "wait", "--for=delete", "pod", "-l", "control-plane=controller-manager", "--timeout=3m")
	return func() {
		w.kubectl(again...)
		w.kubectl("-n", operatorNamespace, "rollout", "status", "deployment/"+deployment, "--timeout=3m")
	}
}

func TestTheFinalBackupOfVotersHasWhatTheirMajorityAcknowledged(t *testing.T) {
	onLocalNode(t, "it lets no node schedule pods")
	w := newExclusiveWorld(t)
	w.replacements = append(w.replacements, "IMAGE", w.needs(etcdImage), "REPLICAS", "3")
	w.apply(registry + lastCopy + archive)
	w.await("registry", "Ready")
	for n := range 13 {
		w.etcd("registry-0", "put", fmt.Sprintf("/row/%02d", n), "acknowledged")
	}
	schedule := w.schedulesNothing()
	w.do("delete", "pod", "registry-0")
	w.eventually("Pending", "get", "pod", "registry-0", "-o", "jsonpath={.status.phase}")
	for n := range 64 {
		w.etcd("registry-1", "put", fmt.Sprintf("/row/%02d", 13+n), "acknowledged")
	}

	w.do("delete", "databasecluster", "registry", "--wait=false")
	w.eventually("waits until pod registry-0 is ready", "get", "databasecluster", "registry", "-o", `jsonpath={.status.conditions[?(@.type=="DeletionBlocked")].message}`)
	running := w.do("get", "pods", "-l", "app.kubernetes.io/component=database", "--field-selector=status.phase=Running", "-o", "name")
	w.must(strings.Contains(running, "registry-1") && strings.Contains(running, "registry-2"), "members stopped: %s", running)
	schedule()
	w.do("wait", "--for=delete", "databasecluster/registry", "--timeout="+patience.String())
	claims := w.do("get", "persistentvolumeclaims", "-l", "app.kubernetes.io/instance=registry", "-o", "name")
	w.must(claims == "", "volumes remain: %s", claims)

	backup := w.do("get", "databasebackups", "-o", "jsonpath={.items[0].metadata.name}")
	w.apply(strings.Replace(registry, "REPLICAS", "1", 1) + "  bootstrap: {fromBackup: {name: " + backup + "}}\n")
	w.await("registry", "Ready")
	rows := strings.Count(w.etcd("registry-0", "get", "/row/", "--prefix", "--keys-only"), "/row/")
	w.must(rows == 77, "the final backup has %d of 77 rows", rows)
}

func TestAFailoverThatTheOperatorDidNotSeeLosesNothingInTheNextCluster(t *testing.T) {
	onLocalNode(t, "it stops the operator, and lets no node schedule pods")
	w := newExclusiveWorld(t)
	w.replacements = append(w.replacements, "IMAGE", w.needs(patroniImage))
	w.apply(replicated + lastCopy + archive)
	w.await("ledger", "Ready")
	w.ask("ledger", "CREATE TABLE row (n int)")
	for n := range 31 {
		w.ask("ledger", fmt.Sprintf("INSERT INTO row VALUES (%d)", n))
	}
	operate := w.operatorAway()
	schedule := w.schedulesNothing()
	w.do("delete", "pod", "ledger-0")
	w.eventually("ledger-", "get", "pods", "-l", "database.dbcluster.io/role=primary", "--field-selector=status.phase=Running", "-o", "name")
	next := strings.TrimPrefix(w.do("get", "pods", "-l", "database.dbcluster.io/role=primary", "--field-selector=status.phase=Running", "-o", "name"), "pod/")
	w.eventually("f", "exec", next, "-c", "database", "--", "sh", "-c", "PGPASSWORD=$(cat /dbc/secrets/password) exec psql -X -q -t -A -h localhost -U postgres -d app -c 'SELECT pg_is_in_recovery()'")
	for n := range 36 {
		w.sqlOf(next, next+".ledger-headless", fmt.Sprintf("INSERT INTO row VALUES (%d)", 31+n))
	}
	w.do("delete", "databasecluster", "ledger", "--cascade=foreground", "--wait=false")
	w.do("wait", "--for=delete", "pod", "-l", "app.kubernetes.io/component=database", "--timeout="+patience.String())
	schedule()
	operate()

	w.eventually("none is known to have every acknowledged write", "get", "databasecluster", "ledger", "-o", `jsonpath={.status.conditions[?(@.type=="DeletionBlocked")].message}`)
	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/skip-deletion-hooks=true")
	w.do("wait", "--for=delete", "databasecluster/ledger", "--timeout="+patience.String())
	w.apply(replicated)
	w.await("ledger", "Ready")
	rows := w.ask("ledger", "SELECT count(*) FROM row")
	w.must(rows == "67", "the next cluster continues with %s of 67 rows", rows)
}
