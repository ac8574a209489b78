/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"fmt"
	"testing"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// voters changes the number that the claims record, the number of volumes, and that of running members.
func voters(recorded, volumes, running int32) change {
	return func(_ *dbv1.DatabaseCluster, o *state.Observed) {
		plans.Volumes(o, volumes)
		o.Volumes = o.Volumes[:volumes]
		for i := range o.Volumes {
			o.Volumes[i].Voters = recorded
		}
		set(o, 0, running)
	}
}

// leaving is a claim that a user deletes.
func leaving(ordinal int) change {
	return func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Volumes[ordinal].Terminating = true }
}

// recordedOn are the records of a number of voters on the first claims.
func recordedOn(claims, number int) string {
	text := ""
	for i := range claims {
		text += fmt.Sprintf("record on PersistentVolumeClaim data-orders-%d: engine \"ledger-v1\", primary \"\", voters %d\n", i, number)
	}
	return text
}

func withoutStatefulSet(_ *dbv1.DatabaseCluster, o *state.Observed) {
	o.StatefulSet, o.Members = nil, nil
}

func TestMembersThatTheListMayHaveStartTogether(t *testing.T) {
	for name, c := range map[string]struct {
		change change
		// replicas are those of the StatefulSet, and recorded is the number that claim 0 should record.
		replicas, recorded int32
	}{
		"after hibernation":                                {voters(3, 3, 0), 3, 3},
		"also those above spec.replicas":                   {all(replicas(1), voters(3, 3, 0)), 3, 3},
		"and those of a previous cluster of the same name": {all(voters(5, 5, 0), withoutStatefulSet), 5, 5},
		"but not those that have left the list":            {voters(3, 5, 0), 3, 3},
		"nor if the cluster gets more members":             {all(replicas(5), voters(3, 5, 0)), 3, 3},
		"nor those whose claim was deleted":                {voters(5, 3, 0), 3, 5},
		"nor while the cluster hibernates":                 {all(hibernated, voters(5, 5, 0)), 0, 5},
		"without a record all that have a volume":          {voters(0, 5, 0), 5, 5},
		"also if claim 0 is lost": {
			all(voters(3, 5, 0), func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Volumes = o.Volumes[1:] }), 3, 3,
		},
		"up to a claim that is terminating":      {all(voters(5, 5, 0), leaving(1)), 1, 5},
		"and the others after it":                {all(replicas(3), voters(5, 5, 1)), 5, 5},
		"no member above spec.replicas is added": {voters(5, 5, 3), 3, 5},
		"without a record, those that run count": {voters(0, 5, 3), 3, 3},

		"claim 0 records a further member before it starts": {all(replicas(5), voters(3, 5, 3)), 3, 4},
		"which then starts":                                    {all(replicas(5), voters(4, 5, 3)), 4, 4},
		"not before the previous one is ready":                 {all(replicas(5), voters(3, 3, 3), unready(time.Hour, 2)), 3, 3},
		"not while its previous volume is terminating":         {all(replicas(5), voters(3, 5, 3), leaving(3)), 3, 3},
		"also without claim 0":                                 {all(replicas(5), voters(3, 3, 3), func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Volumes = o.Volumes[1:] }), 3, 4},
		"a record that is too low is raised":                   {voters(2, 3, 3), 3, 3},
		"the first member of a cluster starts with its record": {voters(0, 1, 0), 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := plans.Related(t, dbv1.TopologyConsensus)
			c.change(cluster, &observed)
			s := situation.Of(cluster, observed)
			if _, replicas := s.Extent(); replicas != c.replicas || s.NextVoters() != c.recorded {
				t.Errorf("%d members, and claim 0 records %d; want %d and %d", replicas, s.NextVoters(), c.replicas, c.recorded)
			}
		})
	}
}

func TestClaim0RecordsAFurtherMemberOnlyIfItMayStart(t *testing.T) {
	decideRelated(t, dbv1.TopologyConsensus, map[string]scenario{
		"before it starts": {
			all(replicas(5), voters(3, 3, 3)),
			recordedOn(3, 4) + "WaitingForMembers: 3 of 5 members are ready\n",
		},
		"not while the cluster is paused": {
			all(replicas(5), voters(3, 3, 3), func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Paused = true }),
			"Paused: spec.paused is true; pending: update StatefulSet orders (spec.replicas)\n",
		},
		"not while its name would resolve to a Service of another owner": {
			all(replicas(5), voters(3, 3, 3), func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Foreign = []state.Ref{{Kind: "Service", Name: naming.HeadlessService("orders")}}
			}),
			"WaitingForMembers: 3 of 5 members are ready\nagain in 10s\nSTALLED NameConflict\n",
		},
	})
}

func TestMembersThatDoNotRunLeaveTheListOfTheOthers(t *testing.T) {
	job := naming.MemberRemoveJob("orders", 3, "set", "1", "")
	removed := func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Jobs = []jobs.Job{plans.Task(job, true)} }
	decideRelated(t, dbv1.TopologyConsensus, map[string]scenario{
		"after a member has stopped, it is removed again": {
			voters(4, 5, 3), "create Job " + job + "\nRemovingMember: the other members remove pod orders-3 from their list\n",
		},
		"then claim 0 records that": {
			all(voters(4, 5, 3), removed),
			recordedOn(5, 3) +
				"RemovingMember: recording that pod orders-3 has left the membership\n",
		},
		"also if its claim no longer exists": {
			voters(4, 3, 3), "create Job " + job + "\nRemovingMember: the other members remove pod orders-3 from their list\n",
		},
		"not before its pod no longer exists": {
			all(voters(4, 4, 3), removed, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Members = append(o.Members, state.Member{Name: "orders-3", UID: "pod-3", Ordinal: 3, Terminating: true})
			}),
			"Scaling: pod orders-3 is terminating\n",
		},
		"not while the others have no majority of the list": {
			all(voters(5, 5, 3), unready(time.Hour, 2)),
			"RemovingMember: pod orders-4 cannot be removed: 2 of the other members are ready, but 3 are needed for a majority\n",
		},
		"not a member that starts next": {
			all(replicas(5), voters(4, 5, 3)), "update StatefulSet orders (spec.replicas)\nApplying: update StatefulSet orders (spec.replicas)\n",
		},
		"not while the cluster hibernates": {all(hibernated, voters(4, 5, 0)), "UpToDate: the cluster matches its spec\n"},
		"a cluster that wakes up with fewer members starts all of them": {
			all(replicas(1), voters(3, 3, 0)), "update StatefulSet orders (spec.replicas)\nApplying: update StatefulSet orders (spec.replicas)\n",
		},
		"then removes them one by one": {
			all(replicas(1), voters(3, 3, 3)),
			"create Job " + naming.MemberRemoveJob("orders", 2, "set", "1", "pod-2") + "\nRemovingMember: the other members remove pod orders-2 from their list\n",
		},
	})
}

// The list decides about the majority, whatever spec.replicas is.
func TestTheMajorityIsThatOfTheListAndNotOfSpecReplicas(t *testing.T) {
	outdated := func(ordinals ...int) change {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.UpdateStrategy.MaxUnavailable = 2
			plans.Outdated(o, ordinals...)
		}
	}
	rebuild := func(c *dbv1.DatabaseCluster, o *state.Observed) {
		c.Annotations = map[string]string{dbv1.AnnotationRebuild: "orders-2"}
		o.Members[2].Node = "node"
	}
	decideRelated(t, dbv1.TopologyConsensus, map[string]scenario{
		"two of three members are never down, also if five are wanted": {
			all(replicas(5), voters(3, 3, 3), outdated(0, 1), unready(time.Hour, 2)),
			"RollingOut: 2 members are outdated; waiting for pod orders-2 to stay ready\n",
		},
		"a member that the list may have counts as down": {
			all(replicas(5), voters(4, 4, 3), leaving(3), outdated(0)),
			"RollingOut: 1 member is outdated; waiting for a member that does not run, but may be in the membership\n",
		},
		"a rebuild needs a majority of those that are in it, also if five are wanted": {
			all(replicas(5), voters(3, 4, 3), leaving(3), rebuild),
			"record the request Rebuild orders-2: Accepted\nRebuilding: PersistentVolumeClaim data-orders-2 is deleted; its member then copies the data of the others\n",
		},
		"and no volume is deleted": {
			all(replicas(5), voters(4, 4, 3), leaving(3), rebuild),
			"Rebuilding: PersistentVolumeClaim data-orders-2 is deleted when enough of the other members are ready\n",
		},
	})
}

func TestTheNextClusterAdoptsTheNumberOfVoters(t *testing.T) {
	cluster, observed := plans.Related(t, dbv1.TopologyConsensus)
	voters(5, 5, 0)(cluster, &observed)
	withoutStatefulSet(cluster, &observed)
	for i := range observed.Volumes {
		observed.Volumes[i].Cluster = "previous"
	}
	adopt, _ := plans.Find[operation.Change](plans.Decide(cluster, observed), "adopt ")
	if adopted := plans.Contents(adopt); len(adopted) != 5 || adopted[0].Voters != 5 || adopted[1].Voters != 5 {
		t.Errorf("it adopts %+v", adopted)
	}
}
