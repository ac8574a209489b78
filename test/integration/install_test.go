//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"slices"
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Rights in one namespace are enough for everything that the operator does.
func TestNamespacedRightsAreSufficientForEveryStory(t *testing.T) {
	parallel(t)
	ns := ownNamespace(t)
	user := "system:serviceaccount:" + ns + ":operator"
	allowIn(t, ns, user, managerRole)
	p := operator(t, kubeconfig(t, user, ""), []string{"WATCH_NAMESPACE=" + ns})
	cluster := smallest(ns, "orders")
	onVolumes(t)(cluster)
	withHook(cluster)
	usePassword(cluster)
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
	awaitDeleted(t, &config[0])
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = true })
	awaitTrue(t, cluster, dbv1.ConditionHibernated, dbv1.ReasonHibernated)
	remove(t, cluster)
	awaitDeleted(t, cluster)
	p.mustStop(t)
	output := slices.DeleteFunc(strings.Split(p.output(t), "\n"), func(line string) bool {
		return strings.Contains(line, "may not list nodes") // no role in a namespace can have that right, and the operator does without
	})
	if output := strings.Join(output, "\n"); strings.Contains(output, "in API group") {
		t.Errorf("a right is missing:\n%s", output)
	}
}
