//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"strings"
	"testing"
	"time"
)

// shop is a plain web application: each page writes a row. Before it stops, it serves until no Service leads to it.
const shop = `---
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCompanion
metadata: {name: shop}
spec:
  clusterRef: {name: ledger}
  image: IMAGE
  port: 8080
  container:
    command: [python3, -uc]
    args:
    - |
      import http.server, os, signal, threading, time
      import psycopg2
      def given(key): return open("/bindings/ledger/" + key).read()
      def connect():
          return psycopg2.connect(host=given("host"), user=given("username"), password=given("password"), dbname=given("database"), connect_timeout=5)
      lock, connections = threading.Lock(), []
      class Page(http.server.BaseHTTPRequestHandler):
          def do_GET(self):
              connection = None
              try:
                  with lock: connection = connections.pop() if connections else None
                  connection = connection or connect()
                  with connection, connection.cursor() as cursor:
                      cursor.execute("INSERT INTO written VALUES ('shop')")
                  with lock: connections.append(connection)
                  status, text = 200, b"written\n"
              except psycopg2.Error as error:
                  status, text = 503, str(error).encode()
              self.send_response(status)
              self.end_headers()
              self.wfile.write(text)
          def log_message(self, *_): pass
      def stop(*_): threading.Thread(target=lambda: (time.sleep(5), os._exit(0))).start()
      signal.signal(signal.SIGTERM, stop)
      http.server.ThreadingHTTPServer(("", 8080), Page).serve_forever()
  pod: {securityContext: {runAsUser: 999}}
`

// Companions are repaired, scaled and get new passwords under load. Scaling and repair cost no client anything.
func TestCompanionsServeWhileTheyAreRepairedAndScaledAndThePasswordsRotate(t *testing.T) {
	w := newWorld(t)
	w.needs(poolerImage)
	w.replacements = append(w.replacements, "IMAGE", w.needs(patroniImage))
	w.apply(replicated)
	w.await("ledger", "Ready")
	w.ask("ledger", "CREATE TABLE written (host text); GRANT ALL ON written TO app")
	w.apply(pooler + shop)
	w.do("wait", "--for=condition=Ready", "databasecompanion/pool", "databasecompanion/shop", "--timeout=120s")
	w.startClients("pool", "http://shop:8080")

	w.do("set", "image", "deployment/shop", "companion=localhost/other:1")
	w.do("delete", "poddisruptionbudget", "shop")
	w.eventually("shop", "get", "poddisruptionbudget", "shop", "-o", "name", "--ignore-not-found")
	w.eventually(patroniImage.name, "get", "deployment", "shop", "-o", "jsonpath={.spec.template.spec.containers[0].image}")
	w.scaleCompanion("shop", "4")
	w.scaleCompanion("pool", "3")
	w.scaleCompanion("shop", "2")
	w.scaleCompanion("pool", "2")
	w.stopClients()
	for _, way := range []string{"pool", "http://shop:8080"} {
		successes, errors := w.seen(way)
		w.must(successes > 0 && errors == 0, "%s: %d successes and %d errors during repair and scaling", way, successes, errors)
	}

	w.do("delete", "pod", "clients")
	w.startClients("pool", "http://shop:8080")
	before := w.companionPods("shop")
	w.do("annotate", "databasecluster", "ledger", "database.dbcluster.io/rotate-credentials=now")
	w.eventually("Completed", "get", "databasecluster", "ledger", "-o", `jsonpath={.status.requests[?(@.type=="RotateCredentials")].state}`)
	for deadline := time.Now().Add(patience); w.companionPods("shop") == before && time.Now().Before(deadline); {
		time.Sleep(time.Second)
	}
	w.must(w.companionPods("shop") != before, "the web application has not restarted")
	w.do("wait", "--for=condition=Ready", "databasecompanion/pool", "databasecompanion/shop", "--timeout=180s")
	time.Sleep(2 * time.Second) // the clients go on for a moment
	w.stopClients()
	for _, way := range []string{"pool", "http://shop:8080"} {
		successes, errors := w.seen(way)
		t.Logf("%s: %d successes and %d errors while the passwords rotated", way, successes, errors)
		w.must(successes > 0 && errors == 0, "clients of %s have seen errors", way)
	}
}

// scaleCompanion scales a companion as an autoscaler does, and waits until that is done.
func (w world) scaleCompanion(name, replicas string) {
	w.Helper()
	w.do("scale", "databasecompanion", name, "--replicas="+replicas)
	w.eventually(replicas+" "+replicas, "get", "databasecompanion", name, "-o", "jsonpath={.status.replicas} {.status.readyReplicas}")
	w.do("wait", "--for=condition=Ready", "databasecompanion/"+name, "--timeout=120s")
}

// companionPods are the UIDs of the pods of a companion.
func (w world) companionPods(companion string) string {
	w.Helper()
	selector := w.do("get", "databasecompanion", companion, "-o", "jsonpath={.status.selector}")
	return strings.TrimSpace(w.do("get", "pods", "-l", selector, "-o", "jsonpath={.items[*].metadata.uid}"))
}
