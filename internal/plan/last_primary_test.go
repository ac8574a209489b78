/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"cmp"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// labeled changes the roles of the members, but not the record. The members in unready are not ready.
func labeled(o *state.Observed, roles []string, unready ...int) {
	before := o.Volumes[0].Primary
	plans.Roles(o, roles...)
	for _, i := range unready {
		o.Members[i].Ready = false
	}
	o.Volumes[0].Primary = before
}

func TestClaim0RecordsTheHolderOfTheLock(t *testing.T) {
	lock := func(holder, term string) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Volumes[0].Term, o.AgreementsRead, o.Agreements = "4", true, plans.Agreed()
			o.Agreements[0].Holder, o.Agreements[0].Term = holder, term
		}
	}
	with := func(first, then func(*dbv1.DatabaseCluster, *state.Observed)) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) { first(c, o); then(c, o) }
	}
	for name, c := range map[string]struct {
		change func(*dbv1.DatabaseCluster, *state.Observed)
		want   string
	}{
		"an idle cluster records nothing":        {func(*dbv1.DatabaseCluster, *state.Observed) {}, ""},
		"nor does one whose lock did not change": {lock("orders-0", "4"), ""},
		"a failover":                             {lock("orders-1", "5"), "orders-1 5"},
		"a primary that lost and got it":         {lock("orders-0", "5"), "orders-0 5"},
		"a failover while the cluster is paused": {with(lock("orders-1", "5"), func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Paused = true }), "orders-1 5"},
		"a failover before a foreground deletion": {with(lock("orders-1", "5"), func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.DeletionTimestamp, o.StatefulSet = &metav1.Time{Time: plans.Now}, nil
		}), "orders-1 5"},
		"a failover while members stop, from one that still runs": {with(lock("orders-1", "5"), func(c *dbv1.DatabaseCluster, _ *state.Observed) {
			c.DeletionTimestamp = &metav1.Time{Time: plans.Now}
		}), "orders-1 5"},
		"no member after a failover from one that has stopped": {with(lock("orders-1", "5"), func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.DeletionTimestamp, o.Members[0].Terminating = &metav1.Time{Time: plans.Now}, true
		}), " 5"},
		"nor after another one": {with(lock("orders-1", "6"), func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.DeletionTimestamp, o.Volumes[0].Primary, o.Volumes[0].Term = &metav1.Time{Time: plans.Now}, "", "5"
		}), " 6"},
		"and that stays": {with(lock("orders-1", "5"), func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.DeletionTimestamp, o.Volumes[0].Primary, o.Volumes[0].Term = &metav1.Time{Time: plans.Now}, "", "5"
		}), ""},
		"until members run again": {with(lock("orders-1", "5"), func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Volumes[0].Primary, o.Volumes[0].Term = "", "5"
		}), "orders-1 5"},
		"not the label of a pod": {with(lock("orders-1", "5"), func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			labeled(o, []string{"replica", "replica", "primary"})
		}), "orders-1 5"},
		"a free lock keeps the record": {lock("", "5"), ""},
		"the lock of a previous cluster does not count": {with(lock("orders-1", "5"), func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Agreements[0].Cluster = "previous"
		}), ""},
		"a claim of another owner is not changed": {with(lock("orders-1", "5"), func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Volumes[0].Managed = false }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := plans.Related(t, dbv1.TopologyPrimaryReplica)
			c.change(cluster, &observed)
			p := plans.Decide(cluster, observed)
			got := ""
			if change, recorded := plans.Recorded(p); len(recorded) > 0 {
				got = recorded[0].Primary + " " + recorded[0].Term
				if len(recorded) != 1 || change.Patches[0].After.GetName() != "data-orders-0" || !p.LiveRead() {
					t.Errorf("%s, after a live read: %v", plans.Text(p), p.LiveRead())
				}
			}
			if got != c.want {
				t.Errorf("it records %q, want %q", got, c.want)
			}
		})
	}
}

func TestWithoutALockClaim0RecordsAMemberOnlyWhileNoOtherCanAcceptAWrite(t *testing.T) {
	stopping := func(replicas int32) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.DeletionTimestamp = &metav1.Time{Time: plans.Now}
			set(o, 0, replicas)
		}
	}
	left := func(ago time.Duration, term string) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			stopping(2)(c, o)
			o.Volumes[0].Term = cmp.Or(term, state.ExtentOf(o.StatefulSet).Term())
			o.Uptime = state.Uptime{Process: "mine", Running: time.Hour}
			o.Volumes[0].NeededSince = state.Uptime{Process: "mine", Running: time.Hour - ago}.String()
		}
	}
	for name, c := range map[string]struct {
		topology dbv1.EngineTopology
		recorded string
		change   func(*dbv1.DatabaseCluster, *state.Observed)
		want     string
		term     string
	}{
		"not while three run":                       {dbv1.TopologyPrimaryReplica, "orders-0", func(*dbv1.DatabaseCluster, *state.Observed) {}, "", ""},
		"nor two":                                   {dbv1.TopologyPrimaryReplica, "orders-0", stopping(2), "", ""},
		"a primary that runs alone":                 {dbv1.TopologyPrimaryReplica, "", stopping(1), "orders-0", ""},
		"not one that is not ready":                 {dbv1.TopologyPrimaryReplica, "", func(c *dbv1.DatabaseCluster, o *state.Observed) { stopping(1)(c, o); o.Members[0].Ready = false }, "", ""},
		"not before the others start":               {dbv1.TopologyPrimaryReplica, "orders-0", func(_ *dbv1.DatabaseCluster, o *state.Observed) { set(o, 0, 1) }, "", ""},
		"it stays when all have stopped":            {dbv1.TopologyPrimaryReplica, "orders-0", stopping(0), "orders-0", ""},
		"of three voters none":                      {dbv1.TopologyConsensus, "", stopping(3), "", ""},
		"of two of three voters none at once":       {dbv1.TopologyConsensus, "", stopping(2), "", ""},
		"the first when their readiness is newer":   {dbv1.TopologyConsensus, "", left(90*time.Second, ""), "orders-0", ""},
		"it stays if the next stop did not succeed": {dbv1.TopologyConsensus, "orders-0", left(90*time.Second, ""), "orders-0", ""},
		"none while it may be older":                {dbv1.TopologyConsensus, "", left(59*time.Second, ""), "", ""},
		"it stays in another process": {dbv1.TopologyConsensus, "orders-0", func(c *dbv1.DatabaseCluster, o *state.Observed) {
			left(90*time.Second, "")(c, o)
			o.Uptime.Process = "next"
		}, "orders-0", ""},
		"none by the record of another process": {dbv1.TopologyConsensus, "", func(c *dbv1.DatabaseCluster, o *state.Observed) {
			left(90*time.Second, "")(c, o)
			o.Uptime.Process = "next"
		}, "", ""},
		"none while the probe of a member may show it as ready": {dbv1.TopologyConsensus, "", func(c *dbv1.DatabaseCluster, o *state.Observed) {
			left(90*time.Second, "")(c, o)
			o.Members[1].UnreadyAfter = 31 * time.Second
		}, "", ""},
		"none without a readiness probe": {dbv1.TopologyConsensus, "", func(c *dbv1.DatabaseCluster, o *state.Observed) {
			left(time.Hour-time.Second, "")(c, o)
			o.Members[1].UnreadyAfter = state.Never
		}, "", ""},
		"none after another stop":                 {dbv1.TopologyConsensus, "", left(time.Hour, "set/2"), "", ""},
		"not if one of the two is not ready":      {dbv1.TopologyConsensus, "", func(c *dbv1.DatabaseCluster, o *state.Observed) { stopping(2)(c, o); o.Members[1].Ready = false }, "", ""},
		"a minority changes nothing":              {dbv1.TopologyConsensus, "orders-0", stopping(1), "orders-0", ""},
		"not while two of three run and may more": {dbv1.TopologyConsensus, "", func(_ *dbv1.DatabaseCluster, o *state.Observed) { set(o, 0, 2) }, "", ""},
		"voters that start again have none":       {dbv1.TopologyConsensus, "orders-0", func(_ *dbv1.DatabaseCluster, o *state.Observed) { set(o, 0, 0) }, "", ""},
		"hibernated voters keep it": {dbv1.TopologyConsensus, "orders-0", func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.Hibernated = true
			set(o, 0, 0)
		}, "orders-0", ""},
		"not if the StatefulSet was scaled twice since": {dbv1.TopologyPrimaryReplica, "orders-0", func(c *dbv1.DatabaseCluster, o *state.Observed) {
			stopping(0)(c, o)
			o.StatefulSet.Generation = 8
		}, "", "set/6"},
		"a single voter has everything": {dbv1.TopologyConsensus, "", func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.Replicas = 1
			set(o, 0, 1)
			for i := range o.Volumes {
				o.Volumes[i].Voters = 1
			}
		}, "orders-0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := plans.Related(t, c.topology)
			if observed.Engine.Spec.State != nil {
				observed.Engine.Spec.State.Lock = nil
			}
			c.change(cluster, &observed)
			observed.Volumes[0].Primary = c.recorded
			if c.recorded != "" {
				observed.Volumes[0].Term = cmp.Or(c.term, state.ExtentOf(observed.StatefulSet).Term())
			}
			got := c.recorded
			if _, recorded := plans.Recorded(plans.Decide(cluster, observed)); len(recorded) > 0 {
				got = recorded[0].Primary
			}
			if got != c.want {
				t.Errorf("claim 0 records %q, want %q", got, c.want)
			}
		})
	}
}

func TestNoVoterStartsWhileClaim0RecordsThatOneHasEverything(t *testing.T) {
	cluster, observed := plans.Related(t, dbv1.TopologyConsensus)
	set(&observed, 0, 0)
	observed.Volumes[0].Primary = "orders-0"
	if _, replicas := situation.Of(cluster, observed).Extent(); replicas != 0 {
		t.Errorf("%d members start", replicas)
	}
	observed.Volumes[0].Primary = ""
	if _, replicas := situation.Of(cluster, observed).Extent(); replicas != 3 {
		t.Errorf("%d members start", replicas)
	}
}

// set is the StatefulSet of the cluster with these members.
func set(o *state.Observed, start, replicas int32) {
	o.StatefulSet.Spec.Replicas = &replicas
	o.StatefulSet.Spec.Ordinals = nil
	if start > 0 {
		o.StatefulSet.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: start}
	}
	o.StatefulSet.Annotations[dbv1.AnnotationStoredSpec] = objects.StoredSpecHash(o.StatefulSet)
	o.Members = state.Only(o.Members, func(m state.Member) bool { return o.Has(m.Ordinal) })
}

// extent is the lowest ordinal and the number of members.
type extent struct{ start, replicas int32 }

func TestTheLastPrimaryStartsBeforeTheOthers(t *testing.T) {
	after := func(primary string) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Volumes[0].Primary, o.StatefulSet, o.Members = primary, nil, nil
		}
	}
	// starting is a cluster whose last primary, member 2, starts alone.
	starting := func(change func(*dbv1.DatabaseCluster, *state.Observed)) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			set(o, 2, 1)
			o.Volumes[0].Primary = "orders-2"
			o.Members[0].Labels, o.Members[0].Created = nil, plans.Ago(time.Minute)
			change(c, o)
		}
	}
	// left is a cluster of which member 0 has stopped, before the primary, member 2.
	left := func(change func(*dbv1.DatabaseCluster, *state.Observed)) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			set(o, 1, 2)
			plans.Roles(o, "replica", "primary")
			change(c, o)
		}
	}
	for name, c := range map[string]struct {
		change func(*dbv1.DatabaseCluster, *state.Observed)
		want   extent
	}{
		"after a deletion":                    {after("orders-2"), extent{2, 1}},
		"member 0 if it was the last primary": {after("orders-0"), extent{0, 1}},
		"all without a record":                {after(""), extent{0, 3}},
		"all if the claim does not exist":     {after("orders-3"), extent{0, 3}},
		"all if the record names no member":   {after("ledger-2"), extent{0, 3}},
		"all if another member had the lock since": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			after("orders-2")(c, o)
			o.Volumes[0].Term, o.Agreements = "4", plans.Agreed()
			o.Agreements[0].Term = "5"
		}, extent{0, 3}},
		"the holder of the lock, whatever is recorded": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			after("orders-2")(c, o)
			o.Volumes[0].Term, o.Agreements = "4", plans.Agreed()
			o.Agreements[0].Holder, o.Agreements[0].Term = "orders-1", "5"
		}, extent{1, 1}},
		"all with a volume, also if the cluster needs fewer members": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			after("")(c, o)
			c.Spec.Replicas = 1
		}, extent{0, 3}},
		"all if the claim with the record is lost": {func(c *dbv1.DatabaseCluster, o *state.Observed) { after("")(c, o); o.Volumes = o.Volumes[1:] }, extent{0, 3}},
		"after hibernation":                        {func(_ *dbv1.DatabaseCluster, o *state.Observed) { set(o, 0, 0); o.Volumes[0].Primary = "orders-1" }, extent{1, 1}},
		"not while the cluster hibernates": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.Hibernated = true
			set(o, 0, 0)
			o.Volumes[0].Primary = "orders-1"
		}, extent{0, 0}},
		"members that a previous cluster left without a controller go on": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			after("orders-2")(c, o)
			for ordinal := range int32(3) {
				o.Bystanders = append(o.Bystanders, state.Bystander{Name: naming.Member("orders", ordinal), Component: dbv1.ComponentDatabase, Cluster: "previous", Orphan: true})
			}
		}, extent{0, 3}},
		"another member that runs does not run alone": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			set(o, 0, 1)
			o.Members[0].Labels, o.Volumes[0].Primary, o.Members[0].Created = nil, "orders-2", plans.Ago(time.Minute)
		}, extent{0, 3}},
		"nor do three": {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Volumes[0].Primary = "orders-2" }, extent{0, 3}},

		"the others wait for it":   {starting(func(*dbv1.DatabaseCluster, *state.Observed) {}), extent{2, 1}},
		"not if it is unknown now": {starting(func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Volumes[0].Primary = "" }), extent{0, 3}},
		"until it is the primary":  {starting(func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Roles(o, "primary") }), extent{0, 3}},
		"or cannot start for five minutes": {starting(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members[0].Ready, o.Members[0].Created = false, plans.Ago(5*time.Minute)
		}), extent{0, 3}},
		"since it was ready, alone": {starting(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members[0].Ready, o.Members[0].Created, o.Members[0].ReadySince = false, plans.Ago(time.Hour), plans.Ago(4*time.Minute)
		}), extent{2, 1}},
		"or has lost its volume": {starting(func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Volumes = o.Volumes[:2] }), extent{0, 3}},
		"a claim that is terminating keeps the others away, but not it": {starting(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			plans.Roles(o, "primary")
			o.Volumes[1].Terminating = true
		}), extent{2, 1}},
		"it stays until it has handed over, also if the cluster has fewer members now": {starting(func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.Replicas = 1
			plans.Roles(o, "primary")
		}), extent{0, 3}},
		"it hibernates alone": {starting(func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.Hibernated = true
			plans.Roles(o, "primary")
		}), extent{2, 1}},
		"members that hibernate keep their first one":    {left(func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Hibernated = true }), extent{1, 2}},
		"all run again if the hibernation is taken back": {left(func(*dbv1.DatabaseCluster, *state.Observed) {}), extent{0, 3}},
		"also if the cluster has fewer members now":      {left(func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Replicas = 1 }), extent{0, 3}},
		"not before the others can start":                {left(func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Volumes[0].Terminating = true }), extent{1, 2}},
		"a cluster that has stopped begins with member 0 again": {starting(func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.Hibernated = true
			set(o, 2, 0)
		}), extent{0, 0}},
		"the previous pod of the member may be terminating": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			set(o, 0, 1)
			o.Members[0].Terminating, o.Members[0].StopBy = true, metav1.NewTime(plans.Now.Add(time.Minute))
		}, extent{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := plans.Related(t, dbv1.TopologyPrimaryReplica)
			c.change(cluster, &observed)
			s := situation.Of(cluster, observed)
			if start, replicas := s.Extent(); (extent{start, replicas}) != c.want {
				t.Errorf("members from %d: %d, want %v", start, replicas, c.want)
			}
			if want := c.want == (extent{0, s.Wanted}); s.Complete() != want {
				t.Errorf("complete: %v, want %v", s.Complete(), want)
			}
		})
	}
}

func TestMembersStopAndStartAroundTheLastPrimary(t *testing.T) {
	starting := func(change func(*dbv1.DatabaseCluster, *state.Observed)) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			set(o, 2, 1)
			labeled(o, []string{""})
			o.Volumes[0].Primary = "orders-2"
			o.Members[0].Created = plans.Ago(time.Minute)
			change(c, o)
		}
	}
	decideRelated(t, dbv1.TopologyPrimaryReplica, map[string]scenario{
		"the message says who starts alone": {
			starting(func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Members[0].Ready = false }),
			"WaitingForMembers: pod orders-2 starts before the others, because it was the last primary; 0 of 3 members are ready; pod orders-2 is not ready\nagain in 4m0s\n",
		},
		"it is missing like any other": {
			starting(func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Members = nil }),
			"WaitingForMembers: pod orders-2 starts before the others, because it was the last primary; " +
				"0 of 3 members are ready; pod orders-2 does not exist; if this persists, see the events of the StatefulSet\n",
		},
		"it does not leave before the others have started": {
			starting(func(c *dbv1.DatabaseCluster, o *state.Observed) { c.Spec.Replicas, o.Members[0].Ready = 1, false }),
			"WaitingForMembers: pod orders-2 starts before the others, because it was the last primary; 0 of 1 members are ready; pod orders-2 is not ready\nagain in 4m0s\n",
		},
		"its volume has to fit, also if the cluster does not need that member later": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				fresh(c, o)
				c.Spec.Replicas = 1
				o.Volumes = []state.Volume{filled(0), filled(1), filled(2)}
				for i := range o.Volumes {
					o.Volumes[i].Cluster = "previous"
				}
				o.Volumes[0].Primary, o.Volumes[1].Engine, o.Volumes[2].Engine = "orders-2", "other-v1", "other-v1"
			},
			"AdoptingVolumes: PersistentVolumeClaim data-orders-1 of the previous cluster of the same name contains data of engine \"other-v1\", but spec.engine is \"ledger-v1\". " +
				"Delete the claim, or change spec.engine or the cluster's name. If the claim records the wrong engine, correct its annotation database.dbcluster.io/engine\nSTALLED VolumeConflict\n",
		},
		"then the others start": {
			starting(func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Roles(o, "primary") }),
			"update StatefulSet orders (spec.ordinals.start)\nApplying: update StatefulSet orders (spec.ordinals.start)\n",
		},
		"a deletion stops it": {
			starting(func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.DeletionTimestamp = &metav1.Time{Time: plans.Now} }),
			"scale in to 0\nTerminating: scaling in from 1 to 0 members, one at a time\nagain in 4m0s\n",
		},
		"a deletion with a Shutdown hook records its end": {
			starting(func(c *dbv1.DatabaseCluster, _ *state.Observed) {
				c.DeletionTimestamp = &metav1.Time{Time: plans.Now}
				c.Spec.Deletion.Hooks = []dbv1.DeletionHook{{Name: "stop", Type: dbv1.HookShutdown}}
			}),
			"add the finalizer to pod orders-2\nTerminating: adding the finalizer to pod orders-2, to record the exit code of its database\nagain in 4m0s\n",
		},
		"it is stopped before the cluster is deleted": {
			starting(func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.DeletionTimestamp = &metav1.Time{Time: plans.Now}
				terminating := o.Members
				set(o, 2, 0)
				o.Members = terminating
				o.Members[0].Terminating = true
			}),
			"Terminating: pod orders-2 is terminating\n",
		},
		"the StatefulSet of other claims is re-created later": {
			starting(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.StatefulSet.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests = nil
				o.Members[0].Ready = false
			}),
			"WaitingForMembers: pod orders-2 starts before the others, because it was the last primary; 0 of 3 members are ready; pod orders-2 is not ready\nagain in 4m0s\n",
		},
		"a member above the wanted ones hands over before it leaves": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Replicas = 1
				plans.Roles(o, "replica", "replica", "primary")
			},
			"create Job " + naming.HandOverJob("orders", "pod-2") + "\nHandingOver: pod orders-2 hands over to another member\n",
		},
	})
}

// Members that lose their rights can no longer hold their lock.
func TestTheRightsOfMembersStayUntilAllHaveStopped(t *testing.T) {
	deleted := func(change func(*state.Observed)) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.DeletionTimestamp = &metav1.Time{Time: plans.Now}
			o.AgreementsRead, o.Agreements, o.StatefulSet = true, plans.Agreed(), nil
			for i := range o.Members {
				o.Members[i].Owner = "set"
			}
			change(o)
		}
	}
	const retained = "retained: PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1, PersistentVolumeClaim data-orders-2\n"
	decideRelated(t, dbv1.TopologyPrimaryReplica, map[string]scenario{
		"a foreground deletion stops them": {
			deleted(func(o *state.Observed) { o.Members[2].Terminating = true }),
			"Terminating: pod orders-2 is terminating\n",
		},
		"also the last one": {
			deleted(func(o *state.Observed) { o.Members = o.Members[:1]; o.Members[0].Terminating = true }),
			"Terminating: pod orders-0 is terminating\n",
		},
		"then the rights are deleted": {
			deleted(func(o *state.Observed) { o.Members = nil }),
			"delete RoleBinding orders: its cluster is deleted\ndelete Role orders: its cluster is deleted\n" +
				"delete ServiceAccount orders: its cluster is deleted\nremove the finalizer\nDeleting: all members have stopped; " + retained,
		},
		"without volumes the agreement is deleted, too": {
			deleted(func(o *state.Observed) { o.Members, o.Volumes = nil, nil }),
			"delete ConfigMap orders-leader: no volume remains\ndelete RoleBinding orders: its cluster is deleted\ndelete Role orders: its cluster is deleted\n" +
				"delete ServiceAccount orders: its cluster is deleted\nremove the finalizer\nDeleting: all members have stopped; no volumes remain\n",
		},
		"those of an orphaned StatefulSet keep their rights": {
			deleted(func(o *state.Observed) { o.Foreign = []state.Ref{{Kind: "StatefulSet", Name: "orders"}} }),
			"remove the finalizer\nDeleting: 3 members still run without their StatefulSet; " + retained + "again in 10s\n",
		},
	})
}

// Nothing would end a wait for a record that cannot be written.
func TestVotersStayUntilTheirReadinessIsNewerIfThatCanBeRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*state.Observed)
		waits  bool
	}{
		"claim 0 can have the record":           {func(*state.Observed) {}, true},
		"claim 0 is being deleted":              {func(o *state.Observed) { o.Volumes[0].Terminating = true }, false},
		"claim 0 does not exist":                {func(o *state.Observed) { o.Volumes = o.Volumes[1:] }, false},
		"a member has no readiness probe":       {func(o *state.Observed) { o.Members[1].UnreadyAfter = state.Never }, false},
		"a member is not ready, which is worse": {func(o *state.Observed) { o.Members[1].Ready = false }, false},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := plans.Related(t, dbv1.TopologyConsensus)
			cluster.DeletionTimestamp = &metav1.Time{Time: plans.Now}
			observed.StatefulSet.Spec.Replicas, observed.Members = new(int32(2)), observed.Members[:2]
			c.change(&observed)
			left, why, waits := situation.Of(cluster, observed).Unsettled()
			if waits != c.waits || waits != (left == time.Minute) || waits != (why != "") {
				t.Errorf("waits %t for %v: %q", waits, left, why)
			}
		})
	}
}
