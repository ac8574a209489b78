/*
SPDX-License-Identifier: Apache-2.0
*/

package named

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestACopyHasTheSizeAndTheResourcesThatTheOperatorHasDecided(t *testing.T) {
	cluster, memory := &dbv1.DatabaseCluster{}, resource.MustParse("4Gi")
	cluster.Spec.Storage.Size = resource.MustParse("10Gi")
	cluster.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	cluster.Spec.AutoResize = &dbv1.ClusterAutoResize{Memory: &dbv1.ClusterResizeBounds{Min: resource.MustParse("1Gi"), Max: resource.MustParse("8Gi")}}
	cluster.Status.Storage = &dbv1.ClusterStorageStatus{Growth: &dbv1.ClusterStorageGrowth{Size: resource.MustParse("50Gi")}}
	cluster.Status.AutoResize = &dbv1.ClusterAutoResizeStatus{Requests: dbv1.ClusterResizeAmounts{Memory: &memory}}
	got := ClusterFacts(cluster).Spec
	if got.Storage.Size.String() != "50Gi" || got.Resources.Requests.Memory().String() != "4Gi" {
		t.Errorf("got %s with %s", got.Storage.Size.String(), got.Resources.Requests.Memory())
	}
	if cluster.Spec.Storage.Size.String() != "10Gi" || cluster.Spec.Resources.Requests.Memory().String() != "1Gi" {
		t.Error("the cluster in the cache has changed")
	}
}

func TestNoVolumeIsMountedThatTheStatefulSetGivesToAMember(t *testing.T) {
	for _, c := range []struct{ start, replicas, want int32 }{{0, 0, 0}, {0, 3, 3}, {2, 0, 0}, {2, 1, 3}} {
		set := &appsv1.StatefulSet{}
		set.Spec.Replicas, set.Spec.Ordinals = &c.replicas, &appsv1.StatefulSetOrdinals{Start: c.start}
		if got := endOrdinal(set); got != c.want {
			t.Errorf("members from %d: %d, and the first ordinal without one is %d, want %d", c.start, c.replicas, got, c.want)
		}
	}
}
