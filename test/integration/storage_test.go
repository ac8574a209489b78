//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// expandable creates a StorageClass whose volumes the controller manager provisions. They can grow if a test plays
// the CSI driver.
func expandable(t *testing.T) *string {
	t.Helper()
	class := &storagev1.StorageClass{
		ObjectMeta:           metav1.ObjectMeta{GenerateName: "expandable-"},
		Provisioner:          "kubernetes.io/host-path",
		AllowVolumeExpansion: new(true),
	}
	createFor(t, class)
	return &class.Name
}

func onVolumes(t *testing.T) func(*dbv1.DatabaseCluster) {
	t.Helper()
	class := expandable(t)
	return func(c *dbv1.DatabaseCluster) { atOnce(c); c.Spec.Storage.StorageClassName = class }
}

func readyOnVolumes(t *testing.T) *dbv1.DatabaseCluster {
	t.Helper()
	cluster := ready(t, onVolumes(t))
	awaitBound(t, cluster)
	return cluster
}

// growTo requests volumes of a size.
func growTo(size string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) { c.Spec.Storage.Size = resource.MustParse(size) }
}

func claims(ctx context.Context, cluster *dbv1.DatabaseCluster) ([]corev1.PersistentVolumeClaim, error) {
	list := &corev1.PersistentVolumeClaimList{}
	err := admin.List(ctx, list, client.InNamespace(cluster.Namespace), client.MatchingLabels(naming.Selector(cluster.Name)))
	return list.Items, err
}

func claimUIDs(t *testing.T, cluster *dbv1.DatabaseCluster) map[string]types.UID {
	t.Helper()
	items, err := claims(t.Context(), cluster)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]types.UID{}
	for _, claim := range items {
		all[claim.Name] = claim.UID
	}
	return all
}

// driver resizes volumes to the requested size, up to a limit, as a CSI driver and the kubelet would.
func driver(t *testing.T, cluster *dbv1.DatabaseCluster, limit string) {
	t.Helper()
	most, cluster := resource.MustParse(limit), cluster.DeepCopy() // the test goes on to read into its own
	repeat(t, func(ctx context.Context) {
		items, _ := claims(ctx, cluster)
		for i := range items {
			claim := &items[i]
			before := claim.DeepCopy()
			asked, has := claim.Spec.Resources.Requests[corev1.ResourceStorage], claim.Status.Capacity[corev1.ResourceStorage]
			switch {
			case claim.Status.Phase != corev1.ClaimBound || asked.Cmp(has) <= 0:
				continue
			case asked.Cmp(most) > 0:
				claim.Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{
					corev1.ResourceStorage: corev1.PersistentVolumeClaimControllerResizeInfeasible,
				}
				claim.Status.Conditions = []corev1.PersistentVolumeClaimCondition{{
					Type: corev1.PersistentVolumeClaimControllerResizeError, Status: corev1.ConditionTrue, Message: "the pool is full",
				}}
			default:
				claim.Status.Capacity, claim.Status.AllocatedResourceStatuses, claim.Status.Conditions = corev1.ResourceList{corev1.ResourceStorage: asked}, nil, nil
			}
			_ = admin.Status().Patch(ctx, claim, client.MergeFrom(before))
		}
	})
}

func mustHaveVolumesOf(t *testing.T, cluster *dbv1.DatabaseCluster, size string) {
	t.Helper()
	want := resource.MustParse(size)
	set := read(t, statefulSet(cluster))
	if got := set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests[corev1.ResourceStorage]; got.Cmp(want) != 0 {
		t.Errorf("the StatefulSet creates claims of %s, want %s", got.String(), size)
	}
	items, err := claims(t.Context(), cluster)
	if err != nil || len(items) == 0 {
		t.Fatal(items, err)
	}
	for _, claim := range items {
		asked, has := claim.Spec.Resources.Requests[corev1.ResourceStorage], claim.Status.Capacity[corev1.ResourceStorage]
		if asked.Cmp(want) != 0 || has.Cmp(want) != 0 {
			t.Errorf("%s requests %s and has %s, want %s", claim.Name, asked.String(), has.String(), size)
		}
	}
	s := read(t, cluster).Status
	if s.Storage == nil || s.Storage.Requested.Cmp(want) != 0 || s.Storage.Capacity == nil || s.Storage.Capacity.Cmp(want) != 0 {
		t.Errorf("%+v", s.Storage)
	}
}

func TestVolumesGrowWhileTheMembersRun(t *testing.T) {
	parallel(t)
	cluster := readyOnVolumes(t)
	before, set, sent := uids(t, cluster), read(t, statefulSet(cluster)), len(requests.since(0))

	change(t, cluster, growTo("2Gi"))
	awaitTrue(t, cluster, dbv1.ConditionStorageResizing, dbv1.ReasonResizing, "PersistentVolumeClaim data-orders-0 has 1Gi")
	driver(t, cluster, "10Gi")
	awaitReady(t, cluster)
	awaitCondition(t, cluster, dbv1.ConditionStorageResizing, metav1.ConditionFalse, dbv1.ReasonResized)

	mustHaveVolumesOf(t, cluster, "2Gi")
	mustNotBeRestarted(t, cluster, before)
	again := read(t, statefulSet(cluster))
	if again.UID == set.UID {
		t.Error("the StatefulSet was not re-created, so its claim template cannot have changed")
	}
	if again.Status.UpdateRevision != set.Status.UpdateRevision {
		t.Errorf("revision %s, before %s", again.Status.UpdateRevision, set.Status.UpdateRevision)
	}
	var order []string
	for _, request := range requests.in(cluster.Namespace, sent) {
		if strings.HasPrefix(request, "DELETE") || strings.Contains(request, "persistentvolumeclaims") && strings.HasPrefix(request, "PATCH") {
			order = append(order, request)
		}
	}
	if len(order) != 4 || order[3] != "DELETE statefulsets/orders" {
		t.Errorf("want three claims patched and then the StatefulSet deleted, got %v", order)
	}

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 4 })
	awaitReady(t, cluster)
	eventually(t, "the new member to have its volume", func() error {
		items, err := claims(t.Context(), cluster)
		if slices.ContainsFunc(items, func(c corev1.PersistentVolumeClaim) bool { return c.Status.Phase != corev1.ClaimBound }) {
			return fmt.Errorf("%d claims, and not all have a volume", len(items))
		}
		return err
	})
	mustHaveVolumesOf(t, cluster, "2Gi")
}

func TestGrowthAndANewImageTogetherRestartEachMemberOnce(t *testing.T) {
	parallel(t)
	cluster := readyOnVolumes(t)
	driver(t, cluster, "10Gi")
	stopped := stops(t, cluster)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { growTo("2Gi")(c); setSecondImage(c) })
	mustBeFromTheHighest(t, stopped(3))
	awaitReady(t, cluster)
	before := uids(t, cluster)
	mustHaveVolumesOf(t, cluster, "2Gi")
	mustHaveImage(t, cluster, secondImage)
	awaitConverged(t, cluster)
	mustNotBeRestarted(t, cluster, before)
}

func TestAnImpossibleGrowthIsStalledAndASmallerOneReplacesIt(t *testing.T) {
	parallel(t)
	cluster := readyOnVolumes(t)
	driver(t, cluster, "10Gi")
	before := uids(t, cluster)
	change(t, cluster, growTo("100Gi"))
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonResizeInfeasible,
		"has 1Gi and cannot be expanded to 100Gi: the pool is full", "between 1Gi and 100Gi")
	awaitTrue(t, cluster, dbv1.ConditionAvailable, dbv1.ReasonAllReplicasReady)

	change(t, cluster, growTo("2Gi"))
	awaitReady(t, cluster)
	mustHaveVolumesOf(t, cluster, "2Gi")
	mustNotBeRestarted(t, cluster, before)
}

func TestAGrowthThatTheClassDoesNotAllowIsRefusedAndChangesNothing(t *testing.T) {
	parallel(t)
	cluster := started(t, func(c *dbv1.DatabaseCluster) {
		onVolumes(t)(c)
		class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: *c.Spec.Storage.StorageClassName}}
		change(t, class, func(c *storagev1.StorageClass) { c.AllowVolumeExpansion = new(false) })
	}, healthy)
	awaitBound(t, cluster)
	before, set := uids(t, cluster), read(t, statefulSet(cluster)).UID
	change(t, cluster, growTo("2Gi"))
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonRefused, "data-orders-0", "only dynamically provisioned pvc can be resized")
	mustNotBeRestarted(t, cluster, before)
	if read(t, statefulSet(cluster)).UID != set {
		t.Error("the StatefulSet was re-created")
	}
}

// While the StatefulSet does not exist, only the API server has the state of the growth.
func TestARestartedOperatorFinishesAGrowthWithoutAStatefulSet(t *testing.T) {
	parallel(t)
	ns := ownNamespace(t)
	config := kubeconfig(t, operatorUser, "")
	first := operator(t, config, nil, "--watch-namespace="+ns)
	cluster := smallest(ns, "orders")
	onVolumes(t)(cluster)
	create(t, cluster)
	kubelet(t, ns, healthy)
	driver(t, cluster, "10Gi")
	awaitReady(t, cluster)
	awaitBound(t, cluster)
	before, set, kept := uids(t, cluster), read(t, statefulSet(cluster)), claimUIDs(t, cluster)

	first.stop(t, syscall.SIGKILL)
	change(t, cluster, growTo("2Gi"))
	items, err := claims(t.Context(), cluster)
	if err != nil {
		t.Fatal(err)
	}
	for i := range items {
		change(t, &items[i], func(c *corev1.PersistentVolumeClaim) {
			c.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
		})
	}
	remove(t, set, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	awaitDeleted(t, statefulSet(cluster))

	operator(t, config, nil, "--watch-namespace="+ns)
	awaitReady(t, cluster)
	mustHaveVolumesOf(t, cluster, "2Gi")
	mustNotBeRestarted(t, cluster, before)
	if got := claimUIDs(t, cluster); !maps.Equal(got, kept) {
		t.Errorf("claims %v, before %v", got, kept)
	}
	if got := read(t, statefulSet(cluster)).Status.UpdateRevision; got != set.Status.UpdateRevision {
		t.Errorf("revision %s, before %s", got, set.Status.UpdateRevision)
	}
}

// awaitBound waits until every claim is bound: an unbound claim cannot grow.
func awaitBound(t *testing.T, cluster *dbv1.DatabaseCluster) {
	t.Helper()
	await(t, cluster, "volumes", func() bool {
		s := cluster.Status.Storage
		return s != nil && s.Capacity != nil
	})
}
