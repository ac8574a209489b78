//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"strconv"
	"strings"
)

// clients are three clients of each way until the file stop exists: a host is the one of a database to which they write, and an URL
// is of a page that they open. Then each way has a line with what its clients have seen.
const clients = `---
apiVersion: v1
kind: Pod
metadata: {name: clients}
spec:
  automountServiceAccountToken: false
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  securityContext: {runAsNonRoot: true, runAsUser: 999, seccompProfile: {type: RuntimeDefault}}
  volumes: [{name: binding, projected: {sources: [{secret: {name: ledger-connection}}]}}]
  containers:
  - name: clients
    image: IMAGE
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    volumeMounts: [{name: binding, mountPath: /binding}]
    env: [{name: WAYS, value: GIVEN}]
    command:
    - python3
    - -uc
    - |
      import os, threading, time, urllib.request
      import psycopg2
      seen = {way: [0, 0, 0.0] for way in os.environ["WAYS"].split()}
      lock = threading.Lock()
      def connect(host):
          return psycopg2.connect(host=host, user="app", password=open("/binding/password").read(), dbname="app", connect_timeout=5)
      class Writer:
          connection = None
          def __init__(self, way): self.way = way
          def act(self):
              try:
                  self.connection = self.connection or connect(self.way)
                  with self.connection, self.connection.cursor() as cursor:
                      cursor.execute("INSERT INTO written VALUES (%s)", (self.way,))
              except psycopg2.Error:
                  self.connection = None
                  raise
      class Visitor:
          def __init__(self, way): self.way = way
          def act(self): urllib.request.urlopen(self.way, timeout=5).read()
      def use(way):
          client, last = (Visitor if way.startswith("http") else Writer)(way), time.monotonic()
          while not os.path.exists("/tmp/stop"):
              try:
                  client.act()
                  now = time.monotonic()
                  with lock: seen[way][0], seen[way][2], last = seen[way][0] + 1, max(seen[way][2], now - last), now
              except (OSError, psycopg2.Error) as error:
                  with lock:
                      print(time.strftime("%H:%M:%S"), way, "ERROR", " ".join(str(error).split())[:150])
                      seen[way][1] += 1
              time.sleep(0.05)
      threads = [threading.Thread(target=use, args=(way,)) for way in seen for _ in range(3)]
      for one in threads: one.start()
      for one in threads: one.join()
      for way, (successes, errors, gap) in seen.items(): print("SEEN", way, successes, errors, round(gap, 2))
`

// startClients starts the clients, and waits until they run.
func (w world) startClients(ways ...string) {
	w.Helper()
	w.apply(strings.Replace(clients, "GIVEN", `"`+strings.Join(ways, " ")+`"`, 1))
	w.eventually("true", "get", "pod", "clients", "-o", "jsonpath={.status.containerStatuses[0].ready}")
}

// stopClients ends the clients.
func (w world) stopClients() {
	w.Helper()
	w.do("exec", "clients", "--", "touch", "/tmp/stop")
	w.eventually("Succeeded", "get", "pod", "clients", "-o", "jsonpath={.status.phase}")
	w.Log("\n" + w.do("logs", "clients"))
}

// seen are the successes and errors of the clients of a way.
func (w world) seen(way string) (successes, errors int) {
	w.Helper()
	for line := range strings.SplitSeq(w.do("logs", "clients"), "\n") {
		if words := strings.Fields(line); len(words) == 5 && words[0] == "SEEN" && words[1] == way {
			successes, _ = strconv.Atoi(words[2])
			errors, _ = strconv.Atoi(words[3])
		}
	}
	return successes, errors
}
