//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"strings"
	"testing"
	"time"
)

// evict asks the eviction API, as kubectl drain does, until the answer has a word.
func (w world) evict(pod, want string) {
	w.Helper()
	path := "/api/v1/namespaces/" + w.namespace + "/pods/" + pod + "/eviction"
	eviction := `{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "` + pod + `"}}`
	text, _ := run(w.Context(), eviction, "create", "--raw", path, "-f", "-")
	w.must(strings.Contains(text, want), "the eviction of %s returns %s", pod, text)
}

// The only node is cordoned, so no member can take over: a drain evicts replicas, one at a time, and the primary stays.
func TestADrainOfTheOnlyNodeLeavesThePrimaryAlone(t *testing.T) {
	onLocalNode(t, "it cordons the only node")
	const allowed, refused = `"status":"Success"`, "would violate the pod's disruption budget"
	w := newExclusiveWorld(t)
	w.replacements = append(w.replacements, "IMAGE", w.needs(patroniImage))
	w.apply(replicated)
	w.await("ledger", "Ready")
	w.startRowClient()
	before, term := w.primary(), w.ask("ledger", timeline)
	uncordon := func() { _, _ = run(context.WithoutCancel(t.Context()), "", "uncordon", "local") }
	t.Cleanup(uncordon)

	w.kubectl("cordon", "local")
	w.awaitReported("databasecluster/ledger", "EvictionBlocked", "True", "a drain cannot evict the primary "+before)
	w.eventually("ledger.primary", "get", "poddisruptionbudgets", "-o", "name")
	w.evict(before, refused)
	w.evict("ledger-2", allowed)
	w.eventually("Pending", "get", "pod", "ledger-2", "-o", "jsonpath={.status.phase}")
	w.evict("ledger-1", refused)
	w.evict(before, refused)
	w.must(w.errors() == 0, "the client has seen errors although the primary stays")
	w.must(w.primary() == before && w.ask("ledger", timeline) == term, "the primary has changed")

	uncordon()
	w.await("ledger", "Ready")
	w.awaitReported("databasecluster/ledger", "EvictionBlocked", "False")
	w.do("wait", "--for=delete", "poddisruptionbudget/ledger.primary", "--timeout=60s")
	w.evict(before, allowed)
	for is := before; is == before || is == ""; is = w.primary() {
		time.Sleep(200 * time.Millisecond)
	}
	w.await("ledger", "Ready")
	w.stopRowClient()
	t.Logf("after the eviction of the primary without a cordon, the client has seen %d errors:", w.errors())
	for _, m := range w.moments() {
		if m.errors > 0 {
			t.Log(m)
		}
	}
}
