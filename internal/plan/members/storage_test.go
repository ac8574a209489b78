/*
SPDX-License-Identifier: Apache-2.0
*/

package members_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// reseal sets the hash of a changed StatefulSet, as if the operator had written it.
func reseal(o *state.Observed) {
	o.StatefulSet.Annotations[dbv1.AnnotationStoredSpec] = objects.StoredSpecHash(o.StatefulSet)
}

func TestARecreatedStatefulSetAdoptsEveryRunningMember(t *testing.T) {
	cluster := plans.Orders()
	cluster.Spec.Replicas = 1
	observed := plans.Standing(t, plans.Orders())
	observed.StatefulSet = nil
	p := plans.Decide(cluster, observed)
	replicas, _, _ := nestedInt(p, "spec", "replicas")
	if !p.LiveRead() || replicas != 3 {
		t.Errorf("replicas %d, decided from the API server itself: %v", replicas, p.LiveRead())
	}
}

func TestAMemberWaitsUntilItsPreviousVolumeIsDeleted(t *testing.T) {
	decideEach(t, map[string]scenario{
		"those below come already": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Replicas = 6
				o.Volumes = []state.Volume{{Claim: "data-orders-4", Ordinal: 4, Terminating: true}}
			},
			"update StatefulSet orders (spec.replicas)\nApplying: update StatefulSet orders (spec.replicas)\n",
		},
		"and it is said what is waited for": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Replicas = 4
				o.Volumes = []state.Volume{{Claim: "data-orders-3", Ordinal: 3, Terminating: true}}
			},
			"WaitingForVolume: PersistentVolumeClaim data-orders-3 is terminating; its member starts after the claim is deleted\n",
		},
	})
}

func TestPauseAndHibernation(t *testing.T) {
	decideEach(t, map[string]scenario{
		"a paused cluster does not change, and the pending step is reported": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Paused, c.Finalizers = true, nil
				plans.Outdated(o, 1)
			},
			"Paused: spec.paused is true; pending: 1 member is outdated; restarting pod orders-1\n",
		},
		"a paused cluster with nothing to do has settled": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { c.Spec.Paused, o.Configs = true, previousFiles() },
			"UpToDate: the cluster matches its spec\n",
		},
		"hibernation stops the members one by one": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Hibernated = true },
			"scale in to 2\nHibernating: scaling in from 3 to 0 members, one at a time\n",
		},
		"a hibernated cluster has settled": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Hibernated, o.Members = true, nil
				*o.StatefulSet.Spec.Replicas = 0
			},
			"UpToDate: the cluster matches its spec\n",
		},
		"also when its volumes grow only once they are mounted": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Hibernated, o.Members = true, nil
				*o.StatefulSet.Spec.Replicas = 0
				o.Volumes = []state.Volume{{Claim: "data-orders-0", Requested: resource.MustParse("1Gi"), Capacity: resource.MustParse("500Mi")}}
			},
			"UpToDate: the cluster matches its spec\n",
		},
		"and wakes with all its members": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Members, *o.StatefulSet.Spec.Replicas = nil, 0 },
			"update StatefulSet orders (spec.replicas)\nApplying: update StatefulSet orders (spec.replicas)\n",
		},
	})
}

func nestedInt(p plan.Plan, path ...string) (int64, bool, error) {
	for _, o := range p.Operations {
		if w, is := o.(operation.Apply); is && w.Kind() == "StatefulSet" {
			return unstructured.NestedInt64(w.Object.Object, path...)
		}
	}
	return 0, false, nil
}
