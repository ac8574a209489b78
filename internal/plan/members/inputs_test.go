/*
SPDX-License-Identifier: Apache-2.0
*/

package members_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/mutate"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// written describes the writes of a pass with all their fields.
func written(t *testing.T, all operation.List) string {
	t.Helper()
	var text strings.Builder
	for _, o := range all {
		apply, ok := o.(operation.Apply)
		if !ok {
			t.Fatalf("%s is no write", o)
		}
		object, err := json.Marshal(apply.Object)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s %v %s\n", apply, apply.Removals, object)
	}
	return text.String()
}

// changed is a converged cluster of which one thing has changed since a pass.
type changed struct {
	cluster  *dbv1.DatabaseCluster
	observed state.Observed
}

// converged is a cluster without a generation: a new default in the CRD changes the spec, and no generation counts that.
func converged(t *testing.T) changed {
	t.Helper()
	cluster := plans.Orders()
	cluster.Spec.Config = &dbv1.ClusterConfig{Files: map[string]string{"database.conf": "a = 1"}}
	observed := plans.Standing(t, cluster)
	observed.PodDisruptionBudget.Generation = 1
	observed.Service.Generation = 1 // its creator may set one, and nothing counts it
	config := resources.ConfigMap(cluster)
	observed.Configs = []*corev1.ConfigMap{{}}
	text, err := json.Marshal(config.Object)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, observed.Configs[0]); err != nil {
		t.Fatal(err)
	}
	return changed{cluster, observed}
}

// eachChange returns clusters that differ from a converged one in one field each. The API server gives each change another version.
func eachChange(t *testing.T) map[string]changed {
	t.Helper()
	all := map[string]changed{}
	start := converged(t)
	for path, object := range mutate.Each(start.cluster) {
		all["cluster"+path] = changed{object.(*dbv1.DatabaseCluster), start.observed}
	}
	object := func(name string, live client.Object, set func(*state.Observed, client.Object)) {
		for path, mutated := range mutate.Each(live) {
			if _, err := json.Marshal(mutated); err != nil {
				continue // no API server stores it
			}
			observed := start.observed
			mutated.SetResourceVersion("changed")
			if _, service := live.(*corev1.Service); service {
				mutated.SetGeneration(live.GetGeneration())
			}
			set(&observed, mutated)
			all[name+path] = changed{start.cluster, observed}
		}
	}
	object("headless", start.observed.HeadlessService, func(o *state.Observed, c client.Object) { o.HeadlessService = c.(*corev1.Service) })
	object("service", start.observed.Service, func(o *state.Observed, c client.Object) { o.Service = c.(*corev1.Service) })
	object("budget", start.observed.PodDisruptionBudget, func(o *state.Observed, c client.Object) { o.PodDisruptionBudget = c.(*policyv1.PodDisruptionBudget) })
	object("set", start.observed.StatefulSet, func(o *state.Observed, c client.Object) { o.StatefulSet = c.(*appsv1.StatefulSet) })
	object("config", start.observed.Configs[0], func(o *state.Observed, c client.Object) { o.Configs = []*corev1.ConfigMap{c.(*corev1.ConfigMap)} })
	for name, change := range map[string]func(*state.Observed){
		"no budget": func(o *state.Observed) { o.PodDisruptionBudget = nil },
		"no set":    func(o *state.Observed) { o.StatefulSet, o.Members = nil, nil },
		"another secret": func(o *state.Observed) {
			o.References = []pods.Reference{{Kind: "Secret", Name: "a", Found: true, Content: "b"}}
		},
		"a service account":   func(o *state.Observed) { o.ServiceAccount = &corev1.ServiceAccount{} },
		"an abandoned member": func(o *state.Observed) { o.StatefulSet = nil },
	} {
		observed := start.observed
		change(&observed)
		all[name] = changed{start.cluster, observed}
	}
	return all
}

func writesOf(c changed, known *objects.Comparisons) operation.List {
	s := situation.Of(c.cluster, c.observed)
	s.Comparisons = known
	return members.Writes(s)
}

// A pass that remembers comparisons must decide like one that compares everything.
func TestARememberedComparisonHidesNoDifference(t *testing.T) {
	differ := 0
	for name, c := range eachChange(t) {
		known := &objects.Comparisons{}
		if first := written(t, writesOf(converged(t), known)); first != "" {
			t.Fatalf("the converged cluster has writes:\n%s", first)
		}
		want, got := written(t, writesOf(c, nil)), written(t, writesOf(c, known))
		if got != want {
			t.Errorf("%s: a pass that remembers writes\n%s\nand one that compares everything\n%s", name, got, want)
		}
		if want != "" {
			differ++
		}
	}
	if differ < 100 {
		t.Errorf("only %d changes lead to a write: the test compares too few", differ)
	}
}

func TestAPassOfAConvergedClusterComparesOnce(t *testing.T) {
	known, inputs := &objects.Comparisons{}, 0
	for range 3 {
		c := converged(t)
		c.observed.Members = c.observed.Members[:inputs] // the state of members is no input
		if all := writesOf(c, known); len(all) > 0 {
			t.Fatalf("writes %v", all)
		}
		inputs++
	}
	broken := converged(t)
	broken.observed.Service.Spec.Selector = nil // and the same version, which no API server does
	if all := writesOf(broken, known); len(all) > 0 {
		t.Errorf("the pass compares again: %v", all)
	}
	if all := writesOf(broken, nil); len(all) != 1 {
		t.Errorf("without a memory, the Service is not repaired: %v", all)
	}
}
