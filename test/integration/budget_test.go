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

func mustCost(t *testing.T, what string, sent []string, budget map[string]int) {
	t.Helper()
	counts := tally(sent)
	t.Logf("%s: %d requests, %v", what, len(sent), counts)
	all := maps.Clone(budget)
	for request := range counts {
		all[request] = budget[request]
	}
	for request, want := range all {
		if got := counts[request]; got != want {
			t.Errorf("%s: %d requests %s, want %d", what, got, request, want)
		}
	}
}

// whileIdle starts pods only after a silence of the operator. So the operator reports each step before the next one.
func whileIdle(ns string, act func(*corev1.Pod)) func(*corev1.Pod) {
	look := watchSilence(func() int { return len(requests.in(ns, 0)) })
	return func(pod *corev1.Pod) {
		if _, isSilent := look(); isSilent {
			act(pod)
		}
	}
}

// looks are the reads of live looks at a cluster: the operator disturbs a database only after one.
func looks(n int, others map[string]int) map[string]int {
	all := map[string]int{"GET services": 2 * n}
	for _, kind := range []string{"databaseclusters", "networkpolicies", "persistentvolumeclaims", "poddisruptionbudgets", "pods", "statefulsets"} {
		all["GET "+kind] = n
	}
	maps.Copy(all, others)
	return all
}

// A change that adds a request has to change these numbers on purpose. Pods start only while the operator is idle, because it gathers changes of
// the status: with faster pods it writes fewer of them.
func TestAClusterCostsTheseRequests(t *testing.T) {
	awaitNoClusters(t)
	ns := namespace(t)
	kubelet(t, ns, whileIdle(ns, healthy))
	since, conflicts := awaitIdleIn(t, ns), 0
	// spent compares the requests since the phase before with a budget, which may depend on the refused writes of the StatefulSet.
	spent := func(what string, budget func(again int) map[string]int) {
		t.Helper()
		after, all := awaitIdleIn(t, ns), requests.conflictsOf(ns, "statefulsets")
		mustCost(t, what, requests.in(ns, since), budget(all-conflicts))
		since, conflicts = after, all
	}
	fixed := func(budget map[string]int) func(int) map[string]int {
		return func(int) map[string]int { return budget }
	}
	cluster := smallest(ns, "orders")
	atOnce(cluster)
	create(t, cluster)
	awaitReady(t, cluster)
	spent("creation", fixed(map[string]int{
		"POST services": 2, "POST poddisruptionbudgets": 1, "POST networkpolicies": 1, "POST statefulsets": 1,
		"POST events": 1, "PATCH databaseclusters": 1, "PATCH databaseclusters/status": 2,
	}))
	change(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: cluster.Name}}, func(s *corev1.Service) { s.Spec.Selector["version"] = "2" })
	spent("repair of a Service", fixed(map[string]int{"PATCH services": 1}))
	before := uids(t, cluster)
	change(t, cluster, annotated(dbv1.AnnotationRestart, "1"))
	awaitRestarted(t, cluster, before)
	// The first apply of the StatefulSet after its creation also reads it, and changes its field manager. Each member that stops, and that is
	// ready again, changes Available. Two events are about the request.
	spent("rolling restart", fixed(looks(4, map[string]int{
		"DELETE pods": 3, "GET configmaps": 4, "GET statefulsets": 5, "PATCH statefulsets": 2,
		"PATCH databaseclusters/status": 7, "POST events": 6,
	})))
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 5 })
	awaitReady(t, cluster)
	spent("scale out", fixed(looks(1, map[string]int{
		"GET configmaps": 1, "GET statefulsets": 2, "PATCH statefulsets": 1,
		"PATCH databaseclusters/status": 3, "POST events": 1,
	})))
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 3 })
	awaitReady(t, cluster)
	// A scale is a patch of the version that the look has seen. If the StatefulSet's status changes in between, the API server refuses the
	// patch, and the operator retries after another look.
	spent("scale in", func(again int) map[string]int {
		return looks(2+again, map[string]int{
			"GET configmaps": 2 + again, "PATCH statefulsets": 2 + again, "PATCH databaseclusters/status": 2, "POST events": 3,
		})
	})
	remove(t, cluster, client.PropagationPolicy("Background"))
	awaitDeleted(t, cluster)
	// Secrets and ServiceAccounts are not in the cache.
	spent("deletion", func(again int) map[string]int {
		return looks(4+again, map[string]int{
			"GET secrets": 8, "GET serviceaccounts": 8, "PATCH statefulsets": 3 + again, "PATCH databaseclusters": 1,
			"PATCH databaseclusters/status": 2, "POST events": 3,
		})
	})
}
