//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	_ "embed"
	"strconv"
	"strings"
)

// rowClient writes a row each 100 ms, and prints what happened in each second. With a rate in /tmp/rate, it also
// fills the volume. After the file /tmp/stop exists, it looks for each row whose commit was acknowledged.
//
//go:embed testdata/rows.py
var rowClient string

// startRowClient starts it, as a client of the cluster ledger.
func (w world) startRowClient() {
	w.Helper()
	w.ask("ledger", "CREATE TABLE written (number bigint PRIMARY KEY); CREATE TABLE bloat (data bytea); GRANT ALL ON written, bloat TO app")
	w.runPython("client", rowClient)
}

// stopRowClient stops it. No acknowledged row may be missing.
func (w world) stopRowClient() {
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
