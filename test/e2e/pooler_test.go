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

// clients write through two hosts until the file stop exists, and then print how many commits and errors each has seen.
const clients = `---
apiVersion: v1
kind: Pod
metadata: {name: clients}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  securityContext: {runAsNonRoot: true, runAsUser: 999, fsGroup: 999}
  volumes: [{name: binding, secret: {secretName: ledger-connection}}]
  containers:
  - name: clients
    image: IMAGE
    volumeMounts: [{name: binding, mountPath: /binding}]
    command:
    - python3
    - -uc
    - |
      import os, threading, time
      import psycopg2
      password = open("/binding/password").read()
      seen = {"pool": [0, 0], "ledger": [0, 0]}
      def write(host):
          connection = None
          while not os.path.exists("/tmp/stop"):
              try:
                  connection = connection or psycopg2.connect(host=host, user="app", password=password, dbname="app", connect_timeout=5)
                  with connection, connection.cursor() as cursor:
                      cursor.execute("INSERT INTO written VALUES (%s)", (host,))
                  seen[host][0] += 1
              except psycopg2.Error as error:
                  print(host, "ERROR", " ".join(str(error).split())[:150])
                  seen[host][1] += 1
                  connection = None
              time.sleep(0.05)
      threads = [threading.Thread(target=write, args=(host,)) for host in seen for _ in range(3)]
      for one in threads: one.start()
      for one in threads: one.join()
      for host in seen: print("SEEN", host, *seen[host])
`

// seen are the commits and errors of the clients through a host.
func (w world) seen(host string) (commits, errors int) {
	w.Helper()
	for line := range strings.SplitSeq(w.do("logs", "clients"), "\n") {
		if words := strings.Fields(line); len(words) == 4 && words[0] == "SEEN" && words[1] == host {
			commits, _ = strconv.Atoi(words[2])
			errors, _ = strconv.Atoi(words[3])
		}
	}
	return commits, errors
}

// Clients of the pooler wait while the primary changes or restarts, and lose nothing that was committed.
func TestClientsOfThePoolerSeeNoErrorAtAHandOverAndARestart(t *testing.T) {
	w := newWorld(t)
	w.needs(poolerImage)
	w.replacements = append(w.replacements, "IMAGE", w.needs(patroniImage))
	w.apply(replicated)
	w.await("ledger", "Ready")
	w.ask("ledger", "CREATE TABLE written (host text); GRANT ALL ON written TO app")
	w.apply(pooler)
	w.do("wait", "--for=condition=Ready", "databasecompanion/pool", "--timeout=120s")
	w.apply(clients)
	w.eventually("true", "get", "pod", "clients", "-o", "jsonpath={.status.containerStatuses[0].ready}")

	before := w.primary()
	to := map[bool]string{true: "ledger-2", false: "ledger-1"}[before == "ledger-1"]
	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/hand-over="+to)
	w.eventually(to, "get", "databasecluster", "ledger", "-o", "jsonpath={.status.primary}")
	w.await("ledger", "Ready")
	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"parameters":{"shared_buffers":"40MB"}}}`)
	w.ready()
	w.must(w.ask("ledger", "SHOW shared_buffers") == "40MB", "the parameter is not in force")
	time.Sleep(2 * time.Second) // the clients go on for a moment
	w.do("exec", "clients", "--", "touch", "/tmp/stop")
	w.eventually("Succeeded", "get", "pod", "clients", "-o", "jsonpath={.status.phase}")

	commits, errors := w.seen("pool")
	direct, broken := w.seen("ledger")
	t.Logf("through the pooler %d commits and %d errors, through the Service alone %d and %d", commits, errors, direct, broken)
	w.must(commits > 0 && errors == 0, "clients of the pooler have seen %d errors:\n%s", errors, w.do("logs", "clients"))
	rows := w.ask("ledger", "SELECT count(*) FROM written WHERE host = 'pool'")
	w.must(rows == strconv.Itoa(commits), "%s rows of %d commits", rows, commits)
}
