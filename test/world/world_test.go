/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// created is a cluster with the values that the API server would set.
func created(replicas int32) Step {
	return Step{What: "A cluster is created", Do: func(w *World) {
		c := &dbv1.DatabaseCluster{ObjectMeta: w.Meta(w.Name)}
		c.Spec.Replicas, c.Spec.Image, c.Spec.Storage.Size = replicas, "database:1", resource.MustParse("1Gi")
		c.Spec.UpdateStrategy.Type, c.Spec.Service.Type = dbv1.UpdateRolling, corev1.ServiceTypeClusterIP
		w.Store.Put(c)
	}}
}

func TestAWorldRunsTheClusterThatItIsGiven(t *testing.T) {
	for _, cluster := range []types.NamespacedName{{Namespace: "shop", Name: "orders"}, {Namespace: "office", Name: "people-2"}} {
		p := NewPlay(New(cluster, 0), Tell("create", created(2)))
		if err := p.ToTheEnd(); err != nil {
			t.Errorf("%v:\n%s", err, p.Text())
		}
		if c := p.Cluster(); c == nil || !meta.IsStatusConditionTrue(c.Status.Conditions, dbv1.ConditionReady) {
			t.Errorf("%s is not ready:\n%s", cluster, p.Text())
		}
		for _, pod := range store.All[*corev1.Pod](p.Store) {
			if pod.Namespace != cluster.Namespace || !strings.HasPrefix(pod.Name, cluster.Name+"-") {
				t.Errorf("pod %s/%s in the world of %s", pod.Namespace, pod.Name, cluster)
			}
		}
	}
}

func TestACopyOfAWorldContinuesAlone(t *testing.T) {
	w := New(types.NamespacedName{Namespace: "shop", Name: "orders"}, 0)
	created(1).Do(w)
	w.Settle()
	copied := w.clone()
	copied.Delete(copied.Cluster())
	copied.Settle()
	if copied.Cluster() != nil || w.Cluster() == nil {
		t.Errorf("the deletion in the copy: %v there, %v in the world", copied.Cluster(), w.Cluster())
	}
}
