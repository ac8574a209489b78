//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

const pooler = `---
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCompanion
metadata:
  name: pool
spec:
  clusterRef: {name: ledger}
  companion: pgbouncer
`

// Clients of the pooler wait while the primary changes or restarts, and lose nothing that was committed.
func TestClientsOfThePoolerSeeNoErrorAtAHandOverARestartAndARollout(t *testing.T) {
	w := newWorld(t)
	w.needs(poolerImage)
	w.replacements = append(w.replacements, "IMAGE", w.needs(patroniImage))
	w.apply(replicated)
	w.await("ledger", "Ready")
	w.ask("ledger", "CREATE TABLE written (host text); GRANT ALL ON written TO app")
	w.apply(pooler)
	w.do("wait", "--for=condition=Ready", "databasecompanion/pool", "--timeout=120s")
	w.startClients("pool", "ledger")

	before := w.primary()
	to := map[bool]string{true: "ledger-2", false: "ledger-1"}[before == "ledger-1"]
	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/hand-over="+to)
	w.eventually(to, "get", "databasecluster", "ledger", "-o", "jsonpath={.status.primary}")
	w.await("ledger", "Ready")
	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"parameters":{"shared_buffers":"40MB"}}}`)
	w.ready()
	w.must(w.ask("ledger", "SHOW shared_buffers") == "40MB", "the parameter is not in force")
	members := w.pods()
	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/restart=now")
	w.eventually("Completed", "get", "databasecluster", "ledger", "-o", `jsonpath={.status.requests[?(@.type=="Restart")].state}`)
	w.ready()
	w.must(w.pods() != members, "the members have not restarted")
	time.Sleep(2 * time.Second) // the clients go on for a moment
	w.stopClients()

	commits, errors := w.seen("pool")
	direct, broken := w.seen("ledger")
	t.Logf("through the pooler %d commits and %d errors, through the Service alone %d and %d", commits, errors, direct, broken)
	w.must(commits > 0 && errors == 0, "clients of the pooler have seen %d errors", errors)
	rows := w.ask("ledger", "SELECT count(*) FROM written WHERE host = 'pool'")
	w.must(rows == strconv.Itoa(commits), "%s rows of %d commits", rows, commits)
}

// A pooler connects for its clients, so it must not be a way around the NetworkPolicy of its cluster.
func TestThePoolerAdmitsOnlyClientsOfItsCluster(t *testing.T) {
	onLocalNode(t, "the network plugin of another cluster may not enforce policies")
	w := withLedger(t, "")
	w.needs(poolerImage)
	friends, strangers := w.neighbor("friends", "{app: web}"), w.neighbor("strangers", "{app: web}")
	w.client("local", "{app: web}")
	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p",
		`{"spec":{"networkPolicy":{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"`+friends.namespace+`"}}}]}}}`)
	w.apply(pooler)
	w.do("wait", "--for=condition=Ready", "databasecompanion/pool", "--timeout=120s")
	service := "pool." + w.namespace + ".svc"
	for name, got := range map[string]string{
		"a pod of another namespace":                   strangers.dials("client", service, "5432"),
		"a pod of the same namespace, not in the list": w.dials("local", service, "5432"),
	} {
		w.must(strings.Contains(got, "no response"), "%s: %s", name, got)
	}
	got := friends.dials("client", service, "5432")
	w.must(strings.Contains(got, "accepting connections"), "a client of the cluster: %s", got)

	before := w.primary()
	to := map[bool]string{true: "ledger-2", false: "ledger-1"}[before == "ledger-1"]
	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/hand-over="+to)
	w.eventually(to, "get", "databasecluster", "ledger", "-o", "jsonpath={.status.primary}")
	log := w.do("logs", "-l", "app.kubernetes.io/instance=ledger,app.kubernetes.io/component=hand-over", "--tail=-1")
	w.must(strings.Contains(log, "Paused 2 of 2 poolers"), "the Job of the hand-over did not reach the poolers: %s", log)

	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"networkPolicy":{"from":null}}}`)
	strangers.eventually("accepting", "exec", "client", "--", "sh", "-c", `pg_isready -t 3 -U postgres -h "$0" -p 5432; true`, service)
}
