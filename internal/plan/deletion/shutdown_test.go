/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// ends marks the member with the highest ordinal as terminating, with the finalizer.
func ends(o *state.Observed, end state.End) *state.Member {
	*o.StatefulSet.Spec.Replicas = 2
	m := &o.Members[2]
	m.HasFinalizer, m.Terminating, m.StopBy, m.End = true, true, metav1.NewTime(plans.Now.Add(-time.Minute)), end
	return m
}

func recordEnds(c *dbv1.DatabaseCluster, phase dbv1.HookPhase, stopped ...dbv1.StoppedMember) {
	c.Status.Hooks = []dbv1.HookStatus{{Name: "stop", Phase: phase, Stopped: stopped}}
}

func exit(pod string, code int32) dbv1.StoppedMember {
	return dbv1.StoppedMember{Pod: pod, ExitCode: &code}
}

func TestAShutdownRecordsHowEveryMemberEnds(t *testing.T) {
	hooks := []dbv1.HookType{dbv1.HookShutdown}
	known := func(code int32) state.End { return state.End{Reached: true, Known: true, Code: code} }
	const stopping = "Terminating: pod orders-2 is terminating\n"
	decideDooms(t, map[string]doom{
		"a pod gets the finalizer before it is stopped": {
			hooks, func(*dbv1.DatabaseCluster, *state.Observed) {},
			"add the finalizer to pod orders-2\nTerminating: adding the finalizer to pod orders-2, to record the exit code of its database\nstop Running\n",
		},
		"then it is stopped": {
			hooks, func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Members[2].HasFinalizer = true },
			"scale in to 2\nTerminating: scaling in from 3 to 0 members, one at a time\nstop Running\n",
		},
		"its end is waited for": {
			hooks, func(_ *dbv1.DatabaseCluster, o *state.Observed) { ends(o, state.End{}) },
			stopping + "again in 9m0s\nstop Running\n",
		},
		"its exit code is recorded before it is deleted": {
			hooks, func(_ *dbv1.DatabaseCluster, o *state.Observed) { ends(o, known(0)) },
			stopping + "stop Running orders-2=0\n",
		},
		"then it is released": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				recordEnds(c, dbv1.HookRunning, exit("orders-2", 0))
				ends(o, known(0))
			},
			"release pod orders-2\n" + stopping + "stop Running orders-2=0\n",
		},
		"a member of that name that ended otherwise since is recorded again": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				recordEnds(c, dbv1.HookRunning, exit("orders-2", 1))
				ends(o, known(0))
			},
			stopping + "stop Running orders-2=0\n",
		},
		"the next follows": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				recordEnds(c, dbv1.HookRunning, exit("orders-2", 0))
				ends(o, known(0))
				o.Members = o.Members[:2]
			},
			"add the finalizer to pod orders-1\nTerminating: adding the finalizer to pod orders-1, to record the exit code of its database\nstop Running orders-2=0\n",
		},
		"one that never ran has no code": {
			hooks, func(_ *dbv1.DatabaseCluster, o *state.Observed) { ends(o, state.End{Reached: true, Never: true}) },
			stopping + "stop Running orders-2=?\n",
		},
		"a pod without a StatefulSet gets the finalizer, too": {
			hooks, func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.StatefulSet = nil },
			"add the finalizer to pod orders-2\nTerminating: adding the finalizer to pod orders-2, to record the exit code of its database\nstop Running\n",
		},
		"pods that are terminating already do not get it": {
			hooks, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				for i := range o.Members {
					o.Members[i].Terminating = true
				}
			},
			"scale in to 2\nTerminating: scaling in from 3 to 0 members, one at a time\nstop Running\n",
		},
		"pods that were deleted before are reported, without a failure": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				recordEnds(c, dbv1.HookRunning, exit("orders-2", 0))
				*o.StatefulSet.Spec.Replicas, o.Members = 0, nil
			},
			"remove the finalizer\nDeleting: all members have stopped; no volumes remain\nstop Succeeded orders-2=0 orders-1=? orders-0=?\n",
		},
		"a hibernated cluster has no member to report": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Hibernated, o.Members = true, nil
				*o.StatefulSet.Spec.Replicas = 0
			},
			"remove the finalizer\nDeleting: all members have stopped; no volumes remain\nstop Succeeded\n",
		},
		"a cluster without members has none, either": {
			hooks, func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.StatefulSet, o.Members = nil, nil },
			"remove the finalizer\nDeleting: all members have stopped; no volumes remain\nstop Succeeded\n",
		},
		"an unclean end is ignored if the spec asks for it": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				goOn(c)
				recordEnds(c, dbv1.HookFailed, exit("orders-2", 1))
				ends(o, known(1))
				o.Members = o.Members[:2]
			},
			"add the finalizer to pod orders-1\nTerminating: adding the finalizer to pod orders-1, to record the exit code of its database\nstop Failed orders-2=1\n",
		},
		"a pod without exit code is released if the spec asks for it": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				goOn(c)
				recordEnds(c, dbv1.HookFailed, dbv1.StoppedMember{Pod: "orders-2"})
				ends(o, state.End{}).StopBy = metav1.NewTime(plans.Now.Add(-time.Hour))
			},
			"release pod orders-2\n" + stopping + "stop Failed orders-2=?\n",
		},
		"the annotation releases pods, and members stop without the finalizer": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				skip(c)
				ends(o, state.End{})
			},
			"release pod orders-2\n" + stopping + "stop Skipped\n",
		},
		"the exit code of pods without finalizer is unknown, and the hook stays skipped": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				skip(c)
				c.Spec.Deletion.Volumes = dbv1.VolumesDelete
				recordEnds(c, dbv1.HookSkipped, exit("orders-2", 0))
				*o.StatefulSet.Spec.Replicas, o.Members = 0, nil
			},
			"remove the finalizer\nDeleting: all members have stopped; no volumes remain\nstop Skipped orders-2=0 orders-1=? orders-0=?\n",
		},
		"pods of others that have our finalizer are released": {
			nil, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Bystanders = []state.Bystander{{Name: "orders-7", Cluster: "earlier", HasFinalizer: true}}
			},
			"release pod orders-7\nscale in to 2\nTerminating: scaling in from 3 to 0 members, one at a time\n",
		},
		"without our finalizer on the cluster no pod gets one": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Finalizers = nil
				ends(o, state.End{})
			},
			"release pod orders-2\nDeleting: the operator has removed its finalizer\n",
		},
	})
}

func TestAMemberThatDidNotShutDownCleanlyBlocksTheDeletion(t *testing.T) {
	for want, change := range map[string]func(*dbv1.DatabaseCluster, *state.Observed){
		"the database in pod orders-2 exited with code 1. ": func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			ends(o, state.End{Reached: true, Known: true, Code: 1})
		},
		"the database in pod orders-2 exited with code 137: it was killed, because it exceeded spec.pod.terminationGracePeriodSeconds (120 s) or ran out of memory. ": func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			ends(o, state.End{Reached: true, Known: true, Code: 137})
		},
		"the exit code of the database in pod orders-2 is unknown. ": func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			ends(o, state.End{}).StopBy = metav1.NewTime(plans.Now.Add(-600 * time.Second))
		},
		"the exit code of the database in pod orders-2 is unknown": func(_ *dbv1.DatabaseCluster, o *state.Observed) { ends(o, state.End{Reached: true}) },
	} {
		t.Run(want, func(t *testing.T) {
			cluster, observed := doomed(t, dbv1.HookShutdown)
			change(cluster, &observed)
			p := plans.Decide(cluster, observed)
			if p.Stalled == nil || plans.Disrupts(p) || !strings.Contains(p.Stalled.Message, want) || !strings.HasSuffix(p.Stalled.Message, skipNote) {
				t.Errorf("%s", report(p))
			}
			goOn(cluster)
			if p := plans.Decide(cluster, observed); p.Stalled != nil || p.Hooks[0].Phase != dbv1.HookFailed || len(p.Hooks[0].Stopped) != 1 {
				t.Errorf("with hookFailurePolicy Continue: %s", report(p))
			}
		})
	}
}

func TestAShutdownReportsMembersThatStillRun(t *testing.T) {
	cluster, observed := doomed(t, dbv1.HookShutdown)
	observed.StatefulSet, observed.Foreign = nil, []state.Ref{{Kind: "StatefulSet", Name: "orders"}}
	for i := range observed.Members {
		observed.Members[i].Owner = "orphan"
	}
	hook := plans.Decide(cluster, observed).Hooks[0]
	if hook.Phase != dbv1.HookSucceeded || hook.Message != "3 members still run without their StatefulSet" {
		t.Errorf("%+v", hook)
	}
}
