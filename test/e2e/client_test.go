//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"strconv"
	"strings"
)

// rowClient writes a row each 100 ms, and prints what happened in each second. With a rate in /tmp/rate, it also
// fills the volume. After the file /tmp/stop exists, it looks for each row whose commit was acknowledged.
const rowClient = `---
apiVersion: v1
kind: Pod
metadata: {name: client}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  securityContext: {runAsNonRoot: true, runAsUser: 999, fsGroup: 999, seccompProfile: {type: RuntimeDefault}}
  volumes: [{name: binding, secret: {secretName: ledger-connection}}]
  containers:
  - name: client
    image: IMAGE
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
    volumeMounts: [{name: binding, mountPath: /binding}]
    command:
    - python3
    - -uc
    - |
      import os, threading, time
      import psycopg2
      password = open("/binding/password").read()
      acknowledged, commits, errors, first = set(), {}, {}, {}
      def runs(): return not os.path.exists("/tmp/stop")
      def connect(): return psycopg2.connect(host="ledger", user="app", password=password, dbname="app", connect_timeout=5)
      def repeat(pause, work, failed):
          connection = None
          while runs():
              try:
                  connection = connection or connect()
                  work(connection)
              except psycopg2.Error as error:
                  failed(int(time.time()), " ".join(str(error).split())[:110])
                  if connection: connection.close()
                  connection = None
              time.sleep(pause)
      def write(connection):
          write.number += 1
          number = write.number
          with connection, connection.cursor() as cursor:
              cursor.execute("INSERT INTO written VALUES (%s)", (number,))
          acknowledged.add(number)
          commits[int(time.time())] = commits.get(int(time.time()), 0) + 1
      def refused(second, text):
          errors[second] = errors.get(second, 0) + 1
          first.setdefault(second, text)
      def fill(connection):
          rate = int(open("/tmp/rate").read()) if os.path.exists("/tmp/rate") else 0
          if rate:
              with connection, connection.cursor() as cursor:
                  cursor.execute("INSERT INTO bloat VALUES (%s)", (psycopg2.Binary(os.urandom(rate * 1024)),))
      write.number = 0
      threads = [threading.Thread(target=repeat, args=work) for work in [(0.1, write, refused), (1, fill, lambda second, text: None)]]
      for one in threads: one.start()
      second = int(time.time())
      while runs():
          time.sleep(0.2)
          while second < int(time.time()) - 1:
              print("SECOND", second, commits.get(second, 0), errors.get(second, 0), first.get(second, ""))
              second += 1
      for one in threads: one.join()
      with connect().cursor() as cursor:
          cursor.execute("SELECT number FROM written")
          stored = {number for number, in cursor}
      print("LOST", len(acknowledged - stored), "OF", len(acknowledged))
`

// startsClient starts it, as a client of the cluster ledger.
func (w world) startsClient() {
	w.Helper()
	w.ask("ledger", "CREATE TABLE written (number bigint PRIMARY KEY); CREATE TABLE bloat (data bytea); GRANT ALL ON written, bloat TO app")
	w.apply(rowClient)
	w.do("wait", "--for=condition=Ready", "pod/client", "--timeout=60s")
}

// stopsClient stops it. No acknowledged row may be missing.
func (w world) stopsClient() {
	w.Helper()
	w.do("exec", "client", "--", "touch", "/tmp/stop")
	w.eventually("LOST", "logs", "client", "--tail=1")
	lost := w.do("logs", "client", "--tail=1")
	w.Log(lost)
	w.must(strings.HasPrefix(lost, "LOST 0 OF "), "acknowledged rows are missing: %s", lost)
}

// moment is a second of the client.
type moment struct {
	commits, errors int
	first           string
}

// moments are those that the client has printed, by their second.
func (w world) moments() map[int64]moment {
	w.Helper()
	all := map[int64]moment{}
	for line := range strings.SplitSeq(w.do("logs", "client"), "\n") {
		words := strings.SplitN(line, " ", 5)
		if words[0] != "SECOND" || len(words) < 5 {
			continue
		}
		second, _ := strconv.ParseInt(words[1], 10, 64)
		commits, _ := strconv.Atoi(words[2])
		errors, _ := strconv.Atoi(words[3])
		all[second] = moment{commits, errors, words[4]}
	}
	return all
}

// errors counts those of the client.
func (w world) errors() (count int) {
	w.Helper()
	for _, m := range w.moments() {
		count += m.errors
	}
	return count
}
