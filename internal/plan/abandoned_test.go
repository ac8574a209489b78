/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestANewStatefulSetWaitsForMembersOfADeletedOne(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(m *state.Member)
		creates bool
		want    extent
		message string
	}{
		"members that Kubernetes is about to stop": {
			func(*state.Member) {}, false, extent{0, 3}, "waiting for Kubernetes to stop pod orders-0, because its StatefulSet no longer exists",
		},
		"one of them": {
			func(m *state.Member) { m.Terminating = m.Ordinal < 2 }, false, extent{0, 3},
			"waiting for Kubernetes to stop pod orders-2, because its StatefulSet no longer exists",
		},
		"then the last primary starts alone": {
			func(m *state.Member) { m.Terminating, m.StopBy = true, plans.Ago(0) }, true, extent{1, 1}, "create StatefulSet orders",
		},
		"members without an owner go on": {func(m *state.Member) { m.Owner = "" }, true, extent{0, 3}, "create StatefulSet orders"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := plans.Related(t, dbv1.TopologyPrimaryReplica)
			observed.StatefulSet, observed.Volumes[0].Primary = nil, "orders-1"
			for i := range observed.Members {
				observed.Members[i].Owner, observed.Members[i].Labels = "deleted", nil
				c.change(&observed.Members[i])
			}
			p := plans.Decide(cluster, observed)
			if _, creates := operation.Find[operation.Apply](p.Operations); creates != c.creates || p.Message != c.message {
				t.Errorf("created: %v, %q; want %v, %q", creates, p.Message, c.creates, c.message)
			}
			if start, replicas := situation.Of(cluster, observed).Extent(); (extent{start, replicas}) != c.want {
				t.Errorf("members from %d: %d, want %v", start, replicas, c.want)
			}
		})
	}
}
