/*
SPDX-License-Identifier: Apache-2.0
*/

package members_test

import (
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestTheNetworkPolicyFollowsTheSpec(t *testing.T) {
	const idle = "UpToDate: the cluster matches its spec\n"
	const gone = "delete NetworkPolicy orders: spec.networkPolicy.mode is None\nApplying: delete NetworkPolicy orders: spec.networkPolicy.mode is None\n"
	none := func(c *dbv1.DatabaseCluster) { c.Spec.NetworkPolicy.Mode = dbv1.NetworkPolicyNone }
	decideEach(t, map[string]scenario{
		"it is created where it is missing": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.NetworkPolicy = nil },
			"create NetworkPolicy orders\nApplying: create NetworkPolicy orders\n",
		},
		"it follows a change, and no member restarts": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) {
				c.Spec.NetworkPolicy.From = []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}
			},
			"update NetworkPolicy orders (metadata.annotations.database.dbcluster.io/applied)\n" +
				"Applying: update NetworkPolicy orders (metadata.annotations.database.dbcluster.io/applied)\n",
		},
		"an unwanted one is deleted": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) { none(c) },
			gone,
		},
		"an unwanted one is deleted during a rollout, too": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				none(c)
				c.Spec.UpdateStrategy.Paused = true
				plans.Outdated(o, 1)
			},
			gone,
		},
		"an unwanted one that is terminating is not deleted again": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				none(c)
				o.NetworkPolicy.DeletionTimestamp = &metav1.Time{Time: plans.Now}
			},
			idle,
		},
		"none is created where none is wanted": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				none(c)
				o.NetworkPolicy = nil
			},
			idle,
		},
		"that of another owner does not change": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.NetworkPolicy, o.Foreign = nil, []state.Ref{{Kind: "NetworkPolicy", Name: "orders"}}
			},
			idle + "again in 10s\nSTALLED NameConflict\n",
		},
	})
}

func TestANameConflictNamesEveryRemedy(t *testing.T) {
	stall := members.NameConflict(situation.Of(plans.Orders(), state.Observed{Foreign: []state.Ref{
		{Kind: "NetworkPolicy", Name: "orders", Remedy: "set spec.networkPolicy.mode to None"},
	}}))
	const want = "Delete it, set spec.networkPolicy.mode to None, or give the cluster another name"
	if stall == nil || !strings.HasSuffix(stall.Message, want) {
		t.Errorf("got %+v", stall)
	}
	several := members.NameConflict(situation.Of(plans.Orders(), state.Observed{Foreign: []state.Ref{
		{Kind: "Service", Name: "orders"}, {Kind: "NetworkPolicy", Name: "orders", Remedy: "set spec.networkPolicy.mode to None"},
	}}))
	const wants = "Delete them (instead of NetworkPolicy orders: set spec.networkPolicy.mode to None), or give the cluster another name"
	if several == nil || !strings.HasSuffix(several.Message, wants) {
		t.Errorf("got %+v", several)
	}
}
