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

// clients are three clients of each way until the file stop exists: a host is the one of a database to which they write, and an URL
// is of a page that they open. Then each way has a line with what its clients have seen.
//
//go:embed testdata/clients.py
var clients string

// startClients starts the clients, and waits until they run.
func (w world) startClients(ways ...string) {
	w.Helper()
	w.runPython("clients", clients, ways...)
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
