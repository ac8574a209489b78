//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// cost is a number of requests: at least and at most.
type cost struct{ least, most int }

// exactly is a cost that depends on nothing but the code.
func exactly(n int) cost { return cost{n, n} }

// tally counts requests by verb and resource, such as "PATCH databaseclusters/status".
func tally(sent []string) map[string]int {
	counts := map[string]int{}
	for _, request := range sent {
		verb, path, _ := strings.Cut(request, " ")
		parts := strings.Split(path, "/")
		what := verb + " " + parts[0]
		if len(parts) > 2 {
			what += "/" + parts[2] // a subresource
		}
		counts[what]++
	}
	return counts
}

func mustCost(t *testing.T, what string, sent []string, budget map[string]cost) {
	t.Helper()
	counts := tally(sent)
	t.Logf("%s: %d requests, %v", what, len(sent), counts)
	all := maps.Clone(budget)
	for request := range counts {
		all[request] = budget[request]
	}
	for request, want := range all {
		if got := counts[request]; got < want.least || got > want.most {
			t.Errorf("%s: %d requests %s, want %d to %d", what, got, request, want.least, want.most)
		}
	}
}

// looks are the reads of live looks at a cluster: the operator disturbs a database only after one.
func looks(n int, others map[string]cost) map[string]cost {
	all := map[string]cost{"GET services": exactly(2 * n)}
	for _, kind := range []string{"databaseclusters", "networkpolicies", "persistentvolumeclaims", "poddisruptionbudgets", "pods", "statefulsets"} {
		all["GET "+kind] = exactly(n)
	}
	maps.Copy(all, others)
	return all
}

// A change that adds a request has to change these numbers on purpose. Only the number of writes of the status and of the events depends on the
// moment: the operator gathers changes for three seconds.
func TestAClusterCostsTheseRequests(t *testing.T) {
	awaitNoClusters(t)
	ns := namespace(t)
	kubelet(t, ns, healthy)
	since, conflicts := awaitIdleIn(t, ns), 0
	// spent compares the requests since the phase before with a budget, which may depend on the refused writes of the StatefulSet.
	spent := func(what string, budget func(again int) map[string]cost) {
		t.Helper()
		after, all := awaitIdleIn(t, ns), requests.conflictsOf(ns, "statefulsets")
		mustCost(t, what, requests.in(ns, since), budget(all-conflicts))
		since, conflicts = after, all
	}
	fixed := func(budget map[string]cost) func(int) map[string]cost {
		return func(int) map[string]cost { return budget }
	}
	cluster := smallest(ns, "orders")
	atOnce(cluster)
	create(t, cluster)
	awaitReady(t, cluster)
	spent("creation", fixed(map[string]cost{
		"POST services": exactly(2), "POST poddisruptionbudgets": exactly(1), "POST networkpolicies": exactly(1), "POST statefulsets": exactly(1),
		"POST events": exactly(1), "PATCH databaseclusters": exactly(1), "PATCH databaseclusters/status": {1, 3},
	}))
	change(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: cluster.Name}}, func(s *corev1.Service) { s.Spec.Selector["version"] = "2" })
	spent("repair of a Service", fixed(map[string]cost{"PATCH services": exactly(1)}))
	before := uids(t, cluster)
	change(t, cluster, annotated(dbv1.AnnotationRestart, "1"))
	awaitRestarted(t, cluster, before)
	// The first apply of the StatefulSet after its creation also reads it, and changes its field manager.
	spent("rolling restart", fixed(looks(4, map[string]cost{
		"DELETE pods": exactly(3), "GET configmaps": exactly(4), "GET statefulsets": exactly(5), "PATCH statefulsets": exactly(2),
		"PATCH databaseclusters/status": {2, 5}, "POST events": exactly(3), "PATCH events": {0, 2},
	})))
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 5 })
	awaitReady(t, cluster)
	spent("scale out", fixed(looks(1, map[string]cost{
		"GET configmaps": exactly(1), "GET statefulsets": exactly(2), "PATCH statefulsets": exactly(1),
		"PATCH databaseclusters/status": {2, 4}, "POST events": exactly(1),
	})))
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 3 })
	awaitReady(t, cluster)
	// A scale is a patch of the version that the look has seen. If the StatefulSet's status changes in between, the API server refuses the
	// patch, and the operator retries after another look.
	spent("scale in", func(again int) map[string]cost {
		return looks(2+again, map[string]cost{
			"GET configmaps": exactly(2 + again), "PATCH statefulsets": exactly(2 + again), "PATCH databaseclusters/status": {1, 4}, "POST events": {2, 3}, "PATCH events": {0, 1},
		})
	})
	remove(t, cluster, client.PropagationPolicy("Background"))
	awaitDeleted(t, cluster)
	// Secrets and ServiceAccounts are not in the cache.
	spent("deletion", func(again int) map[string]cost {
		return looks(4+again, map[string]cost{
			"GET secrets": {6, 12}, "GET serviceaccounts": {6, 12}, "PATCH statefulsets": exactly(3 + again), "PATCH databaseclusters": exactly(1),
			"PATCH databaseclusters/status": {1, 3}, "POST events": {1, 3}, "PATCH events": {0, 2},
		})
	})
}
