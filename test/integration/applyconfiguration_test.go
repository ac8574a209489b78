//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	dbv1ac "github.com/dbcluster/databasecluster-operator/api/v1alpha1/applyconfiguration/api/v1alpha1"
)

// Another program applies its fields of a cluster with apply configurations. The API server removes fields that it no
// longer applies and keeps the users' fields. The program can extract its own fields.
func TestAnotherProgramOwnsOnlyTheFieldsThatItApplies(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	wanted := func() *dbv1ac.DatabaseClusterApplyConfiguration {
		return dbv1ac.DatabaseCluster("orders", ns).WithSpec(dbv1ac.DatabaseClusterSpec().
			WithReplicas(1).WithImage("example.test/db:1").
			WithStorage(dbv1ac.ClusterStorage().WithSize(resource.MustParse("1Gi"))).
			WithDeletion(dbv1ac.ClusterDeletion().WithProtection(false).
				WithHooks(dbv1ac.DeletionHook().WithName("dump").WithType(dbv1.HookCommand).WithCommand("true"))))
	}
	first := wanted()
	first.Spec.WithContainer(dbv1ac.ClusterContainer().WithEnv(corev1ac.EnvVar().WithName("MODE").WithValue("fast")))
	if err := admin.Apply(t.Context(), first, client.FieldOwner("shop")); err != nil {
		t.Fatal(err)
	}
	cluster := &dbv1.DatabaseCluster{}
	key := client.ObjectKey{Namespace: ns, Name: "orders"}
	if err := admin.Get(t.Context(), key, cluster); err != nil {
		t.Fatal(err)
	}
	byHand := client.MergeFrom(cluster.DeepCopy())
	cluster.Spec.Hibernated = true
	cluster.Spec.Deletion.Hooks = append(cluster.Spec.Deletion.Hooks, dbv1.DeletionHook{Name: "stop", Type: dbv1.HookShutdown})
	if err := admin.Patch(t.Context(), cluster, byHand, client.FieldOwner("people")); err != nil {
		t.Fatal(err)
	}

	if err := admin.Apply(t.Context(), wanted(), client.FieldOwner("shop")); err != nil {
		t.Fatal(err)
	}
	if err := admin.Get(t.Context(), key, cluster); err != nil {
		t.Fatal(err)
	}
	if len(cluster.Spec.Container.Env) != 0 {
		t.Errorf("a field that is no longer applied still exists: %v", cluster.Spec.Container.Env)
	}
	if !cluster.Spec.Hibernated || len(cluster.Spec.Deletion.Hooks) != 2 {
		t.Errorf("the users' fields were removed: %+v", cluster.Spec)
	}
	own, err := dbv1ac.ExtractDatabaseCluster(cluster, "shop")
	if err != nil {
		t.Fatal(err)
	}
	if own.Spec == nil || own.Spec.Image == nil || own.Spec.Hibernated != nil || len(own.Spec.Deletion.Hooks) != 1 {
		t.Errorf("the program's own fields are %+v", own.Spec)
	}
}
