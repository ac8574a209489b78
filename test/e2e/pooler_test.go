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
	members := w.memberPods("ledger")
	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/restart=now")
	w.eventually("Completed", "get", "databasecluster", "ledger", "-o", `jsonpath={.status.requests[?(@.type=="Restart")].state}`)
	w.ready()
	w.must(w.memberPods("ledger") != members, "the members have not restarted")
	time.Sleep(2 * time.Second) // the clients go on for a moment
	w.stopClients()

	commits, errors := w.seen("pool")
	direct, broken := w.seen("ledger")
	t.Logf("through the pooler %d commits and %d errors, through the Service alone %d and %d", commits, errors, direct, broken)
	w.must(commits > 0 && errors == 0, "clients of the pooler have seen %d errors", errors)
	rows := w.ask("ledger", "SELECT count(*) FROM written WHERE host = 'pool'")
	w.must(rows == strconv.Itoa(commits), "%s rows of %d commits", rows, commits)
}

// memberPods are the UIDs of the members.
func (w world) memberPods(cluster string) string {
	w.Helper()
	selector := "app.kubernetes.io/instance=" + cluster + ",app.kubernetes.io/component=database"
	return strings.TrimSpace(w.do("get", "pods", "-l", selector, "-o", "jsonpath={.items[*].metadata.uid}"))
}
