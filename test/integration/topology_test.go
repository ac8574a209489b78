//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"maps"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestAnEngineOfAnotherTopologyIsRefusedAndTheMembersStayAsTheyAre(t *testing.T) {
	parallel(t)
	independent := restorer(t)
	cluster := ready(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = independent })
	before, members := read(t, statefulSet(cluster)), uids(t, cluster)
	selector := read(t, service(cluster)).Spec.Selector

	asked := replicated(t, func(e *dbv1.DatabaseEngineSpec) {
		e.RestoresFrom, e.Actions.Restore = []string{independent}, &dbv1.EngineAction{Command: []string{"restore"}}
	})
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Engine, c.Spec.Image = asked, "example.test/database:2" })
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonEngineIncompatible,
		"spec.engine is", asked, "topology PrimaryReplica", independent, "topology Independent", "spec.bootstrap.fromBackup")
	if after := read(t, statefulSet(cluster)); after.Generation != before.Generation || after.UID != before.UID {
		t.Errorf("the StatefulSet has changed from generation %d to %d", before.Generation, after.Generation)
	}
	if got := uids(t, cluster); !maps.Equal(got, members) {
		t.Errorf("the members were %v and are %v", members, got)
	}
	if got := read(t, service(cluster)).Spec.Selector; !maps.Equal(got, selector) {
		t.Errorf("the Service selected %v and selects %v", selector, got)
	}

	// The engine of the data must be known, and a deleted one is not.
	old := &dbv1.DatabaseEngine{}
	if err := admin.Get(t.Context(), client.ObjectKey{Name: independent}, old); err != nil {
		t.Fatal(err)
	}
	remove(t, old)
	newer := restorer(t)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = newer })
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonEngineIncompatible, independent, "its topology is unknown")

	old.ResourceVersion, old.UID = "", ""
	createFor(t, old)
	awaitReady(t, cluster)
	if after := read(t, statefulSet(cluster)); after.Spec.Template.Annotations[dbv1.AnnotationEngine] != newer {
		t.Errorf("the template has the annotations %v", after.Spec.Template.Annotations)
	}
}
