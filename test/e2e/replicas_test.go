//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const replicated = `
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata:
  name: ledger
spec:
  engine: postgresql-v1
  replicas: 3
  image: IMAGE
  resources: {requests: {cpu: 20m, memory: 100Mi}}
  storage: {size: 1Gi}
  parameters: {shared_buffers: 32MB, max_connections: "50"}
`

// withLedger returns a world with PostgreSQL of three members, and one row.
func withLedger(t *testing.T, more string) world {
	t.Helper()
	w := newWorld(t)
	w.replacements = append(w.replacements, "IMAGE", w.needs(patroniImage))
	w.apply(replicated + more)
	w.await("ledger", "Ready")
	w.ask("ledger", "CREATE TABLE note (text text); INSERT INTO note VALUES ('still here')")
	return w
}

// ask runs a statement on a host, from a member.
func (w world) ask(host, statement string) string {
	w.Helper()
	return w.do("exec", "ledger-0", "-c", "database", "--", "sh", "-c",
		`PGPASSWORD=$(cat /dbc/secrets/password) exec psql -X -q -t -A -h "$1" -U postgres -d app -c "$2"`, "sh", host, statement)
}

func (w world) primary() string {
	w.Helper()
	return w.do("get", "databasecluster", "ledger", "-o", "jsonpath={.status.primary}")
}

// ready waits until a change of the spec is complete.
func (w world) ready() {
	w.Helper()
	generation := w.do("get", "databasecluster", "ledger", "-o", "jsonpath={.metadata.generation}")
	w.eventually(generation+" True", "get", "databasecluster", "ledger", "-o",
		`jsonpath={.status.conditions[?(@.type=="Ready")].observedGeneration} {.status.conditions[?(@.type=="Ready")].status}`)
}

func (w world) keepsTheRow() {
	w.Helper()
	w.eventually("still here", "exec", "ledger-0", "-c", "database", "--", "sh", "-c",
		"PGPASSWORD=$(cat /dbc/secrets/password) exec psql -X -q -t -A -h ledger -U postgres -d app -c 'SELECT text FROM note'")
}

func TestClientsReachThePrimaryAndTheReplicas(t *testing.T) {
	w := withLedger(t, "")
	w.must(w.primary() == "ledger-0", "the first primary is %s", w.primary())
	w.must(w.ask("ledger", "SELECT pg_is_in_recovery()") == "f", "the Service does not lead to the primary")
	w.must(w.ask("ledger-replicas", "SELECT pg_is_in_recovery()") == "t", "the Service of the replicas leads to the primary")
	roles := w.do("get", "databasecluster", "ledger", "-o", "jsonpath={.status.members[*].role}")
	w.must(roles == "Primary Replica Replica", "the roles are %s", roles)
	tokens := w.do("get", "pods", "-l", "app.kubernetes.io/component=restore", "-o", "jsonpath={..volumes[*].name}")
	w.must(!strings.Contains(tokens, "dbc-token"), "the Job that created the data has a token: %s", tokens)
}

func TestAMemberBecomesThePrimaryOnRequestAndARolloutEndsWithThePrimary(t *testing.T) {
	w := withLedger(t, "")
	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/hand-over=ledger-2")
	w.eventually("ledger-2", "get", "databasecluster", "ledger", "-o", "jsonpath={.status.primary}")

	before := w.do("get", "pod", "ledger-2", "-o", "jsonpath={.metadata.uid}")
	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/restart=now")
	for w.do("get", "pod", "ledger-2", "--ignore-not-found", "-o", "jsonpath={.metadata.uid}") == before {
		time.Sleep(200 * time.Millisecond) // the other members were restarted before
	}
	for _, pod := range []string{"ledger-0", "ledger-1"} {
		restarted := w.do("get", "pod", pod, "-o", "jsonpath={.metadata.annotations.database\\.dbcluster\\.io/restart}")
		w.must(restarted == "now", "%s was not restarted before the primary", pod)
	}
	w.await("ledger", "Ready")
	w.must(w.primary() != "ledger-2", "the primary was restarted without a hand-over")
	w.keepsTheRow()
}

func TestParametersChangeWithoutARestartOfPods(t *testing.T) {
	w := withLedger(t, "")
	pods := func() string {
		return w.do("get", "pods", "-l", "app.kubernetes.io/component=database", "-o", "jsonpath={.items[*].metadata.uid}")
	}
	before := pods()
	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"parameters":{"max_connections":"40","log_lock_waits":"on"}}}`)
	w.ready()
	for ordinal := range 3 {
		host := fmt.Sprintf("ledger-%d.ledger-headless", ordinal)
		got := w.ask(host, "SELECT current_setting('max_connections') || current_setting('log_lock_waits')")
		w.must(got == "40on", "%s has %s", host, got)
	}
	w.must(pods() == before, "pods were restarted")

	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"parameters":{"no_such_setting":"1"}}}`)
	w.eventually("no_such_setting", "get", "databasecluster", "ledger", "-o", `jsonpath={.status.conditions[?(@.reason=="ConfigureFailed")].message}`)
	w.keepsTheRow()
	w.do("patch", "databasecluster", "ledger", "--type=json", "-p", `[{"op":"remove","path":"/spec/parameters/no_such_setting"}]`)
	w.ready()
}

func TestMembersComeAndGoAndHibernate(t *testing.T) {
	w := withLedger(t, "")
	w.do("scale", "databasecluster", "ledger", "--replicas=5")
	w.ready()
	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/hand-over=ledger-4")
	w.eventually("ledger-4", "get", "databasecluster", "ledger", "-o", "jsonpath={.status.primary}")
	w.do("scale", "databasecluster", "ledger", "--replicas=3")
	w.ready()
	w.keepsTheRow()

	w.do("annotate", "--overwrite", "databasecluster", "ledger", "database.dbcluster.io/hand-over=ledger-2")
	w.eventually("ledger-2", "get", "databasecluster", "ledger", "-o", "jsonpath={.status.primary}")
	w.ready()
	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"hibernated":true}}`)
	w.await("ledger", "Hibernated")
	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"hibernated":false}}`)
	w.ready()
	w.keepsTheRow()
	primary := w.do("get", "databasecluster", "ledger", "-o", "jsonpath={.status.primary}")
	w.must(primary == "ledger-2", "the primary that stopped last is ledger-2, and now it is %s", primary)

	claim := w.do("get", "persistentvolumeclaim", "data-ledger-2", "-o", "jsonpath={.metadata.uid}")
	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/rebuild=ledger-2")
	for w.do("get", "persistentvolumeclaim", "data-ledger-2", "--ignore-not-found", "-o", "jsonpath={.metadata.uid}") == claim {
		time.Sleep(200 * time.Millisecond)
	}
	w.await("ledger", "Ready")
	w.keepsTheRow()
}

// claims returns the UIDs of the claims of the members.
func (w world) claims() string {
	w.Helper()
	return w.do("get", "persistentvolumeclaims", "-l", "app.kubernetes.io/component=database", "-o", "jsonpath={.items[*].metadata.uid}")
}

func TestNoRequestIsRepeatedAfterVolumesHaveGrown(t *testing.T) {
	onLocalNode(t, "its StorageClass growing has volumes that grow")
	w := newWorld(t)
	w.replacements = append(w.replacements, "IMAGE", w.needs(patroniImage), "size: 1Gi", "size: 1Gi, storageClassName: growing")
	w.apply(replicated)
	w.await("ledger", "Ready")
	w.ask("ledger", "CREATE TABLE note (text text); INSERT INTO note VALUES ('still here')")

	before := w.claims()
	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/rebuild=ledger-2")
	w.eventually("Completed", "get", "databasecluster", "ledger", "-o", `jsonpath={.status.requests[?(@.type=="Rebuild")].state}`)
	w.await("ledger", "Ready")
	rebuilt := w.claims()
	w.must(rebuilt != before, "no volume was rebuilt")
	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/hand-over=ledger-1")
	w.eventually("Completed", "get", "databasecluster", "ledger", "-o", `jsonpath={.status.requests[?(@.type=="HandOver")].state}`)
	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/hand-over=ledger-0", "--overwrite")
	w.eventually("ledger-0", "get", "databasecluster", "ledger", "-o", "jsonpath={.status.primary}")

	set := w.do("get", "statefulset", "ledger", "-o", "jsonpath={.metadata.uid}")
	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"storage":{"size":"2Gi"}}}`)
	w.ready()
	w.must(w.do("get", "statefulset", "ledger", "-o", "jsonpath={.metadata.uid}") != set, "the StatefulSet was not created again")
	w.must(w.claims() == rebuilt, "a volume was rebuilt again")
	w.must(w.primary() == "ledger-0", "%s is the primary", w.primary())

	w.Log("a user deletes the StatefulSet")
	w.do("delete", "statefulset", "ledger", "--cascade=orphan")
	w.await("ledger", "Ready")
	w.must(w.claims() == rebuilt, "a volume was rebuilt again")
	w.keepsTheRow()
}

func TestTheNextClusterOfTheNameHasItsDataAndNothingElseOfThePreviousOne(t *testing.T) {
	w := withLedger(t, "")
	w.do("delete", "databasecluster", "ledger", "--timeout="+patience.String())
	left := w.do("get", "serviceaccounts,roles,rolebindings,pods", "-l", "app.kubernetes.io/instance=ledger,app.kubernetes.io/component=database", "-o", "name")
	w.must(left == "", "the deletion left %s", left)
	agreement := w.do("get", "configmaps", "-l", "app.kubernetes.io/instance=ledger,app.kubernetes.io/component=database", "-o", "name")
	w.must(strings.Contains(agreement, "ledger-leader"), "the deletion retained the volumes, but of the agreement only %q", agreement)

	w.apply(replicated)
	w.await("ledger", "Ready")
	w.keepsTheRow()

	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"deletion":{"volumes":"Delete"}}}`)
	w.do("delete", "databasecluster", "ledger", "--timeout="+patience.String())
	w.apply(replicated)
	w.await("ledger", "Ready")
	got := w.ask("ledger", "SELECT count(*) FROM pg_tables WHERE tablename = 'note'")
	w.must(got == "0", "a cluster with new volumes has the table of the previous one")
}

const archive = `
  backup: {destination: {url: "file:///", claimName: archive}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: archive}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

func TestABackupOfAReplicaBecomesAnotherCluster(t *testing.T) {
	w := withLedger(t, archive)
	w.apply("{apiVersion: database.dbcluster.io/v1alpha1, kind: DatabaseBackup, metadata: {name: now}, spec: {cluster: ledger}}")
	w.do("wait", "--for=condition=Ready", "databasebackup/now", "--timeout="+patience.String())
	streams := w.do("get", "databasebackup", "now", "-o", "jsonpath={.status.replicas} {.status.streams[*].ordinal}")
	w.must(streams == "1 0", "the backup has the streams %s", streams)
	w.do("annotate", "databasebackup", "now", "database.dbcluster.io/verify=please")
	w.do("wait", "--for=condition=Verified", "databasebackup/now", "--timeout="+patience.String())

	w.do("delete", "databasecluster", "ledger", "--timeout="+patience.String())
	w.do("delete", "persistentvolumeclaims", "-l", "app.kubernetes.io/instance=ledger")
	w.apply(replicated + "  bootstrap: {fromBackup: {name: now}}\n")
	w.await("ledger", "Ready")
	w.keepsTheRow()
}
