//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Three namespaces: an operator works in those that it is told, with rights in those alone where that is not
// all, and nothing happens in the others.
func TestAnOperatorWorksInTheNamespacesThatItIsTold(t *testing.T) {
	cases := map[string]struct {
		watch func(a, b string) string
		works [3]bool // in a, b and c
	}{
		"one":               {func(a, _ string) string { return a }, [3]bool{true, false, false}},
		"several":           {func(a, b string) string { return a + ", " + b }, [3]bool{true, true, false}},
		"all, told as \"\"": {func(_, _ string) string { return "" }, [3]bool{true, true, true}},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			spaces := [3]string{ownNamespace(t), ownNamespace(t), ownNamespace(t)}
			watch := c.watch(spaces[0], spaces[1])
			user := operatorUser
			if watch != "" {
				user = "system:serviceaccount:" + spaces[0] + ":operator"
				for i, works := range c.works {
					if works {
						allowIn(t, spaces[i], user, managerRole)
					}
				}
			}
			clusters := [3]*dbv1.DatabaseCluster{}
			for i, ns := range spaces {
				clusters[i] = smallest(ns, "orders")
				create(t, clusters[i])
				kubelet(t, ns, healthy)
			}
			p := operator(t, kubeconfig(t, user, ""), []string{"WATCH_NAMESPACE=" + watch})
			for i, works := range c.works {
				if works {
					awaitReady(t, clusters[i])
					settle(t, clusters[i])
				}
			}
			for i, works := range c.works {
				if s := read(t, clusters[i]); !works && (len(s.Finalizers) > 0 || len(s.Status.Conditions) > 0 || len(uids(t, s)) > 0) {
					t.Errorf("the operator worked in a namespace that it was not told: %+v", s)
				}
			}
			if said := p.said(t); strings.Contains(said, "in API group") {
				t.Errorf("the operator lacks a right, or asks for more than it should:\n%s", said)
			}
			deleteCluster(t, clusters[0])
			awaitGone(t, clusters[0])
			p.stopped(t)
		})
	}
}

// Rights in one namespace are enough for all that an operator does.
func TestNamespacedRightsAreEnoughForEveryStory(t *testing.T) {
	ns := ownNamespace(t)
	user := "system:serviceaccount:" + ns + ":operator"
	allowIn(t, ns, user, managerRole)
	p := operator(t, kubeconfig(t, user, ""), []string{"WATCH_NAMESPACE=" + ns})
	cluster := smallest(ns, "orders")
	onVolumes(t)(cluster)
	withHook(cluster)
	takePassword(cluster)
	withConfig("a = 1")(cluster)
	create(t, password(cluster))
	create(t, cluster)
	kubelet(t, ns, running)
	driver(t, cluster, "10Gi")
	awaitReady(t, cluster)
	awaitBound(t, cluster)
	config := configs(t, cluster)

	before := uids(t, cluster)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { growTo("2Gi")(c); requestMemory("128Mi")(c) })
	awaitReady(t, cluster)
	mustHaveVolumesOf(t, cluster, "2Gi")
	mustNotBeRestarted(t, cluster, before)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { withConfig("a = 2")(c); c.Spec.Replicas = 2 })
	awaitReady(t, cluster)
	awaitGone(t, &config[0])
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = true })
	awaitCondition(t, cluster, dbv1.ConditionHibernated, "True", dbv1.ReasonHibernated)
	deleteCluster(t, cluster)
	awaitGone(t, cluster)
	p.stopped(t)
	if said := p.said(t); strings.Contains(said, "in API group") {
		t.Errorf("a right is missing:\n%s", said)
	}
}
