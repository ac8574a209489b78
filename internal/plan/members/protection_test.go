/*
SPDX-License-Identifier: Apache-2.0
*/

package members_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// claimed adds a claim for each member, and the retained claim of a removed member.
func claimed(c *dbv1.DatabaseCluster, o *state.Observed, protected bool) {
	for ordinal := range c.Spec.Replicas + 1 {
		v := state.Volume{Claim: "data-orders-" + string('0'+ordinal), Ordinal: ordinal, Protected: protected}
		v.Requested, v.Capacity = c.Spec.Storage.Size, c.Spec.Storage.Size
		o.Volumes = append(o.Volumes, v)
	}
}

func protect(c *dbv1.DatabaseCluster) { c.Spec.Deletion.Protection = true }

func remove(c *dbv1.DatabaseCluster) { c.DeletionTimestamp = &metav1.Time{Time: plans.Now} }

func TestTheProtectionOfClaimsMatchesTheSpec(t *testing.T) {
	const all = "protect PersistentVolumeClaim data-orders-0\nprotect PersistentVolumeClaim data-orders-1\n" +
		"protect PersistentVolumeClaim data-orders-2\nprotect PersistentVolumeClaim data-orders-3\n"
	decideEach(t, map[string]scenario{
		"all of them, those of members that are no more, too": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { protect(c); claimed(c, o, false) },
			all + "Applying: protect PersistentVolumeClaim data-orders-0, protect PersistentVolumeClaim data-orders-1, " +
				"protect PersistentVolumeClaim data-orders-2, protect PersistentVolumeClaim data-orders-3\n",
		},
		"nothing when they are": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { protect(c); claimed(c, o, true) },
			"UpToDate: the cluster matches its spec\n",
		},
		"no longer when protection is taken back": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				claimed(c, o, false)
				o.Volumes[1].Protected = true
			},
			"remove the protection of PersistentVolumeClaim data-orders-1\nApplying: remove the protection of PersistentVolumeClaim data-orders-1\n",
		},
		"not one that is on its way out": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				protect(c)
				claimed(c, o, true)
				o.Volumes[3].Protected, o.Volumes[3].Terminating = false, true
			},
			"UpToDate: the cluster matches its spec\n",
		},
		"whatever state the members are in, and nothing waits for it": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				protect(c)
				claimed(c, o, true)
				o.Volumes[0].Protected = false
				o.Members[2].Ready, o.Members[2].Problem = false, "image broken"
				plans.Outdated(o, 2)
			},
			"protect PersistentVolumeClaim data-orders-0\nrestart orders-2\n" +
				"RollingOut: 1 member is outdated; restarting pod orders-2\n",
		},
		"not while the cluster is paused": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				protect(c)
				claimed(c, o, true)
				o.Volumes[0].Protected, c.Spec.Paused = false, true
			},
			"Paused: spec.paused is true; pending: protect PersistentVolumeClaim data-orders-0\n",
		},
	})
}

func TestADeletionWaitsForProtectionToEnd(t *testing.T) {
	decideEach(t, map[string]scenario{
		"a protected cluster that the API server let be deleted keeps its members": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { protect(c); remove(c); claimed(c, o, true) },
			"Protected: spec.deletion.protection is true\nSTALLED Protected\n",
		},
		"and its claims become protected": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				protect(c)
				remove(c)
				claimed(c, o, true)
				o.Volumes[0].Protected = false
			},
			"protect PersistentVolumeClaim data-orders-0\nProtected: spec.deletion.protection is true\nSTALLED Protected\n",
		},
		"claims are set free before anything else": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				remove(c)
				claimed(c, o, false)
				o.Volumes[2].Protected = true
			},
			"remove the protection of PersistentVolumeClaim data-orders-2\nDeleting: remove the protection of PersistentVolumeClaim data-orders-2\n",
		},
		"then the deletion continues": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { remove(c); claimed(c, o, false) },
			"scale in to 2\nTerminating: scaling in from 3 to 0 members, one at a time\n",
		},
	})
}

func TestAStaleCacheRemovesNoProtection(t *testing.T) {
	c := plans.Orders()
	o := plans.Standing(t, c)
	claimed(c, &o, true)
	if p := plans.Decide(c, o); !p.LiveRead() {
		t.Errorf("the API server itself is not asked before claims lose their protection: %s", plans.Text(p))
	}
}
