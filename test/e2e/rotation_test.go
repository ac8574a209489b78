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

// writer is a pod that writes all the time with the files of a connection Secret: %[1]s is the image, %[2]s the cluster,
// and %[3]s a command that writes one row, with a connection of its own. It counts rows and errors.
const writer = `
apiVersion: v1
kind: Pod
metadata: {name: writer}
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 1
  securityContext: {runAsNonRoot: true, runAsUser: 999, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: writer
    image: %[1]s
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    volumeMounts: [{name: binding, mountPath: /binding, readOnly: true}]
    command: [sh, -c]
    args:
    - |
      cd /tmp
      rows=0 errors=0
      while :; do
          if %[3]s > last 2>&1; then rows=$((rows + 1)); else errors=$((errors + 1)); cp last error; fi
          echo "$rows $errors" > count.new && mv count.new count
          sleep 0.2
      done
  volumes:
  - {name: binding, projected: {sources: [{secret: {name: %[2]s-connection}}]}}
`

// count returns how many rows the writer has written, and how many attempts failed.
func (w world) count() (rows, errors int) {
	w.Helper()
	if _, err := fmt.Sscan(w.do("exec", "writer", "--", "cat", "/tmp/count"), &rows, &errors); err != nil {
		w.Fatal(err)
	}
	return rows, errors
}

// awaitRow waits until the writer has written another row.
func (w world) awaitRow() {
	w.Helper()
	w.do("wait", "--for=condition=Ready", "pod/writer", "--timeout="+patience.String())
	w.eventually(" ", "exec", "writer", "--", "cat", "/tmp/count")
	before, _ := w.count()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Second) {
		if rows, _ := w.count(); rows > before {
			return
		}
	}
	w.Fatalf("the writer writes nothing: %s", w.do("exec", "writer", "--", "cat", "/tmp/last"))
}

// A rotation restarts no member, and clients continue by themselves. PostgreSQL accepts one password at a time: its clients
// fail until the kubelet has refreshed their files. If the Secret gets its previous passwords again, a restart applies them.
func TestAClientKeepsWritingDuringARotation(t *testing.T) {
	type story struct {
		engine, image, write, previous, refused, accepted string
		keys                                              int
		errors                                            bool
	}
	for name, c := range map[string]story{
		"PostgreSQL": {
			"postgresql-single-v1", postgresImage,
			`psql -Xqc "CREATE TABLE IF NOT EXISTS visits (at timestamptz DEFAULT now()); INSERT INTO visits DEFAULT VALUES" "$(cat /binding/uri)"`,
			`PGPASSWORD=$0 psql -h $(cat /binding/host) -U app app -c 'SELECT 1' 2>&1 || :`, "password authentication failed", "(1 row)", 2, true,
		},
		"Redis": {
			"redis-single-v1", "", `REDISCLI_AUTH=$(cat /binding/password) redis-cli -h $(cat /binding/host) incr visits | tee /dev/stderr | grep -qv [A-Z]`,
			`REDISCLI_AUTH=$0 redis-cli -h $(cat /binding/host) ping 2>&1 || :`, "WRONGPASS", "PONG", 1, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.image == "" {
				c.image = w.needs(redisImage)
			}
			w.manifest("database.dbcluster.io/v1alpha1", "DatabaseCluster", "orders", "spec:", indent(
				"engine: "+c.engine, "image: "+c.image, "storage: {size: 1Gi}", "credentials: {rotation: {overlap: 3m}}"))
			w.await("orders", "Ready")
			w.apply(fmt.Sprintf(writer, c.image, "orders", c.write))
			w.awaitRow()
			_, early := w.count() // until kube-proxy knew the Service
			w.must(w.of("databasecluster/orders", "{.status.version}") != "", "status.version is empty")
			previous, pod := w.secret("orders-connection", "password"), w.of("pod/orders-0", "{.metadata.uid}")
			credentials := w.of("secret/orders-credentials", "{.data}")

			start := time.Now()
			w.do("annotate", "databasecluster", "orders", "database.dbcluster.io/rotate-credentials=1")
			w.do("wait", "--for=condition=CredentialsRotated", "databasecluster/orders", "--timeout="+patience.String())
			w.Logf("the new password is in force after %.1f s", time.Since(start).Seconds())
			w.must(w.secret("orders-connection", "password") != previous, "the connection Secret has the previous password")
			w.eventually(fmt.Sprint(c.keys), "get", "secret", "orders-credentials", "-o", "go-template={{len .data}}")
			w.awaitRow()
			rows, failed := w.count()
			failed -= early
			w.Logf("%d rows, %d failed attempts; the last error: %s", rows, failed, w.do("exec", "writer", "--", "sh", "-c", "cat /tmp/error 2> /dev/null || :"))
			w.must(c.errors || failed == 0, "%d attempts failed", failed)
			w.must(w.of("pod/orders-0", "{.metadata.uid}") == pod, "the member was restarted")
			answer := w.do("exec", "writer", "--", "sh", "-c", c.previous, previous)
			w.must(strings.Contains(answer, c.refused), "the previous password gives %s", answer)

			w.do("patch", "secret", "orders-credentials", "--patch", `{"data":`+credentials+`}`)
			w.do("annotate", "databasecluster", "orders", "database.dbcluster.io/refresh=1")
			w.eventually(c.accepted, "exec", "writer", "--", "sh", "-c", c.previous, previous)
			w.must(w.of("pod/orders-0", "{.metadata.uid}") != pod, "the member was not restarted")
		})
	}
}

// Clients got the new password only after the parameter was corrected, so they could not connect until then.
func TestARotationReachesClientsBesideARefusedParameter(t *testing.T) {
	w := withLedger(t, "")
	before := w.do("get", "secret", "ledger-connection", "-o", "jsonpath={.data.password}")
	// A default of clients is no obstacle for the operator.
	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"parameters":{"default_transaction_read_only":"on"}}}`)
	w.ready()
	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"parameters":{"max_connections":"20"}}}`)
	stalled := []string{"get", "databasecluster", "ledger", "-o", `jsonpath={.status.conditions[?(@.type=="Stalled")].reason} {.status.conditions[?(@.type=="Stalled")].message}`}
	w.eventually("InvalidParameter spec.parameters[max_connections] is "+`"20"`, stalled...)

	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/rotate-credentials=1")
	w.eventually("True Rotated", "get", "databasecluster", "ledger", "-o",
		`jsonpath={.status.conditions[?(@.type=="CredentialsRotated")].status} {.status.conditions[?(@.type=="CredentialsRotated")].reason}`)
	w.must(w.do("get", "secret", "ledger-connection", "-o", "jsonpath={.data.password}") != before, "clients still get the previous password")
	uri := w.do("get", "secret", "ledger-connection", "-o", "go-template={{.data.uri | base64decode}}")
	w.must(w.do("exec", "ledger-1", "-c", "database", "--", "psql", "-X", "-q", "-t", "-A", uri, "-c", "SELECT current_user") == "app", "the published URI does not connect")
	w.eventually("InvalidParameter", stalled...)

	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"parameters":{"max_connections":"60"}}}`)
	w.ready()
	w.must(w.ask("ledger", "SHOW max_connections") == "60", "max_connections is %s", w.ask("ledger", "SHOW max_connections"))
	w.keepsTheRow()
}
