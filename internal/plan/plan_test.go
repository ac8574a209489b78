/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestTheStepsOfARunningCluster(t *testing.T) {
	decideEach(t, map[string]scenario{
		"nothing when all is as it should be": {
			func(*dbv1.DatabaseCluster, *state.Observed) {}, "UpToDate: the cluster matches its spec\n",
		},
		"everything for a new cluster, the finalizer first and the members last": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { c.Finalizers = nil; *o = state.Observed{} },
			"add the finalizer\ncreate NetworkPolicy orders\ncreate Service orders-headless\ncreate Service orders\ncreate PodDisruptionBudget orders\ncreate StatefulSet orders\n" +
				"Applying: create NetworkPolicy orders, create Service orders-headless, create Service orders, create PodDisruptionBudget orders, create StatefulSet orders\n",
		},
		"what is missing": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Service = nil }, "create Service orders\nApplying: create Service orders\n",
		},
		"what differs": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Service.Spec.Selector["x"] = "y" },
			"update Service orders (spec.selector)\nApplying: update Service orders (spec.selector)\n",
		},
		"no restart while an object has to be written": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Service = nil; plans.Outdated(o, 0, 1, 2) },
			"create Service orders\nApplying: create Service orders\n",
		},
		"members come all at once": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Replicas = 5 },
			"update StatefulSet orders (spec.replicas)\nApplying: update StatefulSet orders (spec.replicas)\n",
		},
		"members stop one by one": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Replicas = 1 },
			"scale in to 2\nScaling: scaling in from 3 to 1 members, one at a time\n",
		},
		"a member stops only after the previous one is deleted": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Replicas = 1
				*o.StatefulSet.Spec.Replicas = 2
			},
			"Scaling: pod orders-2 is terminating\n",
		},
		"no restart for another client's change of the template": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0, 1, 2)
				o.StatefulSet.Spec.Template.Spec.NodeSelector = map[string]string{"no": "such"}
			},
			"update StatefulSet orders (spec.template)\nApplying: update StatefulSet orders (spec.template)\n",
		},
		"a member between two crashes does not serve": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Members[1].ReadySince, o.Members[1].Problem = metav1.NewTime(plans.Now.Add(-time.Second)), "exited"
			},
			"WaitingForMembers: 2 of 3 members are ready; pod orders-1 is not ready\nagain in 9s\n",
		},
		"a broken member with the current template is not restarted": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Members[1].Ready, o.Members[1].Problem = false, "crash"
			},
			"WaitingForMembers: 2 of 3 members are ready; pod orders-1 is not ready\n",
		},
		"an object of another owner does not change, and the others are created": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				*o = state.Observed{Foreign: []state.Ref{{Kind: "Service", Name: "orders"}}}
			},
			"create NetworkPolicy orders\ncreate Service orders-headless\ncreate PodDisruptionBudget orders\ncreate StatefulSet orders\n" +
				"Applying: create NetworkPolicy orders, create Service orders-headless, create PodDisruptionBudget orders, create StatefulSet orders\nagain in 10s\nSTALLED NameConflict\n",
		},
		"objects of the previous cluster delay the new one": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.StatefulSet, o.Members = nil, nil
				o.Foreign = []state.Ref{{Kind: "StatefulSet", Name: "orders", OfPreviousCluster: true}}
			},
			"WaitingForPreviousCluster: waiting until Kubernetes has deleted StatefulSet orders of the previous cluster of the same name\nagain in 2s\n",
		},
		"no members are created while the Service has another owner": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				*o = state.Observed{Foreign: []state.Ref{{Kind: "Service", Name: "orders-headless"}}}
			},
			"create NetworkPolicy orders\ncreate Service orders\ncreate PodDisruptionBudget orders\n" +
				"Applying: create NetworkPolicy orders, create Service orders, create PodDisruptionBudget orders\nagain in 10s\nSTALLED NameConflict\n",
		},
	})
}

func TestAPausedClusterOnlyReleasesItsPods(t *testing.T) {
	hold := func(c *dbv1.DatabaseCluster, o *state.Observed) {
		c.Spec.Paused = true
		o.Bystanders = []state.Bystander{{Name: "orders-9", HasFinalizer: true}}
	}
	decideEach(t, map[string]scenario{
		"alone": {hold, "release pod orders-9\nUpToDate: the cluster matches its spec\n"},
		"beside other work": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { hold(c, o); o.Service = nil },
			"release pod orders-9\nPaused: spec.paused is true; pending: create Service orders\n",
		},
		"it names a deletion, too": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Paused, c.Spec.NetworkPolicy.Mode, o.Service = true, dbv1.NetworkPolicyNone, nil
			},
			"Paused: spec.paused is true; pending: delete NetworkPolicy orders: spec.networkPolicy.mode is None, create Service orders\n",
		},
		"and labels of claims": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Paused, c.Status.Volumes = true, []dbv1.VolumeRecord{{Claim: "data-orders-0", UID: "first", Labels: dbv1.VolumeLabelsRestored}}
				o.Volumes = []state.Volume{{Claim: "data-orders-0", UID: "first", Unwatched: true}}
			},
			"Paused: spec.paused is true; pending: restore the labels of PersistentVolumeClaim data-orders-0\n",
		},
		"but not those of a claim of the user": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Paused, c.Status.Volumes = true, []dbv1.VolumeRecord{{Claim: "data-orders-0", UID: "first"}}
				o.Volumes = []state.Volume{{Claim: "data-orders-0", UID: "first", Unwatched: true}}
			},
			"UpToDate: the cluster matches its spec\n",
		},
		"but not the volumes": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				hold(c, o)
				c.Spec.Deletion.Protection, o.Volumes = true, []state.Volume{{Claim: "data-orders-0"}}
			},
			"release pod orders-9\nPaused: spec.paused is true; pending: protect PersistentVolumeClaim data-orders-0\n",
		},
	})
}

func TestObjectsCreatedWithTheFinalizerNeedNoLiveRead(t *testing.T) {
	cluster := plans.Orders()
	begin, goOn := plans.Orders(), plans.Decide(cluster, state.Observed{})
	begin.Finalizers = nil
	if first := plans.Decide(begin, state.Observed{}); first.LiveRead() || !goOn.LiveRead() {
		t.Errorf("without the finalizer %v, with it %v", first.LiveRead(), goOn.LiveRead())
	}
}

func TestAStatefulSetFromBeforeTheRecordedOneNeedsALiveRead(t *testing.T) {
	for name, of := range map[string]struct {
		change func(*dbv1.DatabaseCluster, *state.Observed)
		behind bool
	}{
		"the recorded one": {func(*dbv1.DatabaseCluster, *state.Observed) {}, false},
		"a later one":      {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.StatefulSet.Generation = 9 }, false},
		"an earlier one":   {func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Status.StatefulSet.Generation = 2 }, true},
		"another one":      {func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Status.StatefulSet.UID = "earlier" }, true},
		"none":             {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.StatefulSet = nil }, true},
		"one of another client": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Status.StatefulSet.UID, o.StatefulSet.OwnerReferences = "earlier", nil
		}, false},
		"none that has been recorded": {func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Status.StatefulSet = nil }, false},
		"an earlier one, in a deletion": {func(c *dbv1.DatabaseCluster, _ *state.Observed) {
			c.Status.StatefulSet.Generation, c.DeletionTimestamp = 2, &metav1.Time{}
		}, false},
	} {
		cluster := plans.Orders()
		observed := plans.Standing(t, cluster)
		cluster.Status.StatefulSet = &dbv1.WrittenWorkload{UID: string(observed.StatefulSet.UID), Generation: 1}
		of.change(cluster, &observed)
		if p := plans.Decide(cluster, observed); p.Behind != of.behind || of.behind && !p.LiveRead() {
			t.Errorf("%s: behind %v, live read %v", name, p.Behind, p.LiveRead())
		}
	}
}
