//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
