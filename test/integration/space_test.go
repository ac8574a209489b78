//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestTheOperatorMayReadTheStatisticsOfNodesAndNothingElseOfThem(t *testing.T) {
	parallel(t)
	for _, c := range []struct {
		verb, subresource string
		want              bool
	}{
		{"get", "stats", true}, {"patch", "", false}, {"create", "", false}, {"get", "proxy", false}, {"create", "proxy", false},
		{"get", "log", false}, {"get", "metrics", false}, {"create", "stats", false},
	} {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: operatorUser,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: c.verb, Resource: "nodes", Subresource: c.subresource, Name: "any"}}}
		if err := admin.Create(t.Context(), review); err != nil {
			t.Fatal(err)
		}
		if review.Status.Allowed != c.want {
			t.Errorf("%s nodes/%s: allowed is %t", c.verb, c.subresource, review.Status.Allowed)
		}
	}
	if err := as(t, operatorUser).Get(t.Context(), client.ObjectKey{Name: "missing"}, &storagev1.StorageClass{}); !apierrors.IsNotFound(err) {
		t.Errorf("it may not read StorageClasses: %v", err)
	}
}

func TestAnImpossibleGrowthIsRefusedWithASentence(t *testing.T) {
	parallel(t)
	grows := func(size string, autoGrow fields) fields { return storage(fields{"size": size, "autoGrow": autoGrow}) }
	eachIsRefused(t, "databaseclusters", refusals{
		"a limit below the size":      {grows("2Gi", fields{"limit": "1Gi"}), "spec.storage.autoGrow.limit must be at least spec.storage.size. Raise the limit"},
		"no limit":                    {grows("2Gi", fields{"atPercent": int64(80)}), "spec.storage.autoGrow.limit: Required value"},
		"a limit as a word":           {grows("2Gi", fields{"limit": "large"}), "spec.storage.autoGrow.limit must be a quantity greater than zero"},
		"a growth when it is late":    {grows("2Gi", fields{"limit": "3Gi", "atPercent": int64(99)}), "spec.storage.autoGrow.atPercent in body should be less than or equal to 95"},
		"another policy":              {storage(fields{"size": "2Gi", "whenNearlyFull": "Delete"}), "spec.storage.whenNearlyFull: Unsupported value"},
		"a growth of what is in pods": {storage(fields{"size": "2Gi", "ephemeral": true, "autoGrow": fields{"limit": "3Gi"}}), "spec.storage.autoGrow and spec.storage.usage cannot be set together with spec.storage.ephemeral"},
	})
	eachIsAccepted(t, "databaseclusters", map[string]fields{
		"a limit that is the size": grows("2Gi", fields{"limit": "2Gi"}),
		"bytes":                    grows("2", fields{"limit": int64(3)}),
		"a use without growth":     storage(fields{"size": int64(2), "usage": "Measured", "whenNearlyFull": "Continue"}),
	})
}

// No kubelet measures here, so the test records the decision.
func TestAGrowthThatAQuotaRefusesEndsAndStallsNothing(t *testing.T) {
	parallel(t)
	cluster := readyOnVolumes(t)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "storage"}}
	quota.Spec.Hard = corev1.ResourceList{corev1.ResourceRequestsStorage: resource.MustParse("3Gi")}
	create(t, quota)
	await(t, quota, "the quota to be in force", func() bool { return len(quota.Status.Hard) > 0 })
	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		c.Spec.Storage.AutoGrow = &dbv1.ClusterAutoGrow{Limit: resource.MustParse("9Gi")}
	})
	stalled := false
	eventually(t, "record a growth", func() error {
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
			return err
		}
		before := cluster.DeepCopy()
		cluster.Status.Storage.Growth = &dbv1.ClusterStorageGrowth{
			Size: resource.MustParse("8Gi"), Time: metav1.Now(), Usage: dbv1.ClusterStorageUsage{Claim: "data-orders-0", UsedPercent: 85, Time: metav1.Now()},
		}
		return admin.Status().Patch(t.Context(), cluster, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
	await(t, cluster, "the growth to end", func() bool {
		stalled = stalled || meta.IsStatusConditionTrue(cluster.Status.Conditions, dbv1.ConditionStalled)
		growth := cluster.Status.Storage.Growth
		return growth != nil && strings.Contains(growth.Refused, "exceeded quota: storage") && growth.Size.Cmp(cluster.Spec.Storage.Size) == 0
	})
	awaitReady(t, cluster)
	if stalled {
		t.Error("the cluster was Stalled")
	}
	mustHaveVolumesOf(t, cluster, cluster.Spec.Storage.Size.String())
}
