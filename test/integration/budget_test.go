//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// tally counts requests by verb and kind, such as "POST services: 2".
func tally(sent []string) string {
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
	var lines []string
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		lines = append(lines, fmt.Sprintf("%s: %d", what, counts[what]))
	}
	return strings.Join(lines, "\n")
}

// Whoever adds a request changes these numbers on purpose. Requests of the same kind that depend on the moment have a range in
// the comparison of mustCost.
func TestAClusterCostsTheseRequests(t *testing.T) {
	awaitNoClusters(t)
	ns := namespace(t)
	kubelet(t, ns, healthy)
	since := awaitIdleIn(t, ns)
	cost := func(what string) {
		after := awaitIdleIn(t, ns)
		t.Logf("%s:\n%s", what, tally(requests.in(ns, since)))
		since = after
	}
	cluster := smallest(ns, "orders")
	create(t, cluster)
	awaitReady(t, cluster)
	cost("creation")
	change(t, cluster, annotated(dbv1.AnnotationRestart, "1"))
	cost("restart")
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 5 })
	cost("scale out")
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 3 })
	cost("scale in")
	remove(t, cluster)
	cost("deletion")
}
