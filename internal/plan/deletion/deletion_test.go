/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestTheStepsOfADeletion(t *testing.T) {
	hooks := []dbv1.DeletionHook{{Name: "one", Type: dbv1.HookCommand}, {Name: "two", Type: dbv1.HookCommand}}
	cases := map[string]struct {
		change func(*dbv1.DatabaseCluster, *state.Observed)
		want   string
	}{
		"the first hook is started": {
			func(*dbv1.DatabaseCluster, *state.Observed) {},
			"start deletion hook \"one\" as Job orders-one-0a1b2c3d\nHookRunning: starting deletion hook \"one\"\n",
		},
		"a hook that runs is waited for": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Hooks["one"] = jobs.Job{Name: "j", Pod: "p"} },
			"HookRunning: deletion hook \"one\" runs as Job j\n",
		},
		"no event reports the pod of a hook": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Hooks["one"] = jobs.Job{Name: "j"} },
			"HookRunning: deletion hook \"one\" runs as Job j\nagain in 5s\n",
		},
		"the second follows the first": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Hooks["one"] = jobs.Job{Succeeded: true} },
			"start deletion hook \"two\" as Job orders-two-0a1b2c3d\nHookRunning: starting deletion hook \"two\"\n",
		},
		"a failed hook blocks": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Hooks["one"] = jobs.Job{Name: "j", Failed: true, Failure: "no"}
			},
			"HookFailed: deletion hook \"one\" failed: no\nSTALLED HookFailed\n",
		},
		"a failed hook is ignored if the spec asks for it": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Deletion.HookFailurePolicy = dbv1.HookFailureContinue
				o.Hooks["one"] = jobs.Job{Name: "j", Failed: true, Failure: "no"}
			},
			"start deletion hook \"two\" as Job orders-two-0a1b2c3d\nHookRunning: starting deletion hook \"two\"\n",
		},
		"a Job of another owner with the hook's name blocks": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Foreign = []state.Ref{{Kind: "Job", Name: "orders-one-0a1b2c3d"}}
			},
			"HookFailed: deletion hook \"one\" cannot start: Job orders-one-0a1b2c3d was not created for this cluster, so the operator does not change it\nagain in 10s\nSTALLED NameConflict\n",
		},
		"the annotation skips the hooks": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) {
				c.Annotations = map[string]string{dbv1.AnnotationSkipDeletionHooks: "true"}
			},
			"scale in to 2\nTerminating: scaling in from 3 to 0 members, one at a time\n",
		},
		"a hook waits until its previous Job is deleted": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Hooks["one"] = jobs.Job{Name: "j", Ending: true, Succeeded: true}
			},
			"HookRunning: deletion hook \"one\" waits until its previous Job j is deleted\n",
		},
		"hooks never run again once members have begun to stop": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				*o.StatefulSet.Spec.Replicas = 2
				o.StatefulSet.Annotations[dbv1.AnnotationTerminating] = members.TerminatingMark(c)
			},
			"Terminating: pod orders-2 is terminating\n",
		},
		"a mark of another client does not count": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.StatefulSet.Annotations[dbv1.AnnotationTerminating] = "true"
			},
			"start deletion hook \"one\" as Job orders-one-0a1b2c3d\nHookRunning: starting deletion hook \"one\"\n",
		},
		"members stop after the hooks, the highest ordinal first": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Deletion.Hooks = nil },
			"scale in to 2\nTerminating: scaling in from 3 to 0 members, one at a time\n",
		},
		"the last member is waited for": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Deletion.Hooks, o.Members = nil, o.Members[:1]
				*o.StatefulSet.Spec.Replicas = 0
			},
			"Terminating: pod orders-0 is terminating\n",
		},
		"the finalizer is removed last": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Deletion.Hooks, o.Members = nil, nil
				*o.StatefulSet.Spec.Replicas = 0
			},
			"remove the finalizer\nDeleting: all members have stopped; no volumes remain\n",
		},
		"members without a StatefulSet are stopped one by one": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { c.Spec.Deletion.Hooks, o.StatefulSet = nil, nil },
			"stop orders-2\nTerminating: stopping pod orders-2, which has no StatefulSet\n",
		},
		"those that Kubernetes collects are waited for": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Deletion.Hooks, o.StatefulSet, o.Members = nil, nil, o.Members[:1]
				o.Members[0].Owner = "gone"
			},
			"Terminating: waiting for Kubernetes to stop pod orders-0, because its StatefulSet no longer exists\n",
		},
		"members of an orphaned StatefulSet still run": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Deletion.Hooks, o.StatefulSet, o.Members = nil, nil, o.Members[:1]
				o.Members[0].Owner, o.Foreign = "orphan", []state.Ref{{Kind: "StatefulSet", Name: "orders"}}
			},
			"remove the finalizer\nDeleting: 1 members still run without their StatefulSet; no volumes remain\nagain in 10s\n",
		},
		"no object is created": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { c.Spec.Deletion.Hooks, *o = nil, state.Observed{} },
			"remove the finalizer\nDeleting: all members have stopped; no volumes remain\n",
		},
		"nothing is done without our finalizer": {
			func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Finalizers = []string{"somebody.else/finalizer"} },
			"Deleting: the operator has removed its finalizer\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := plans.Orders()
			observed := plans.Standing(t, cluster)
			observed.Hooks = map[string]jobs.Job{}
			cluster.DeletionTimestamp, cluster.Spec.Deletion.Hooks = &metav1.Time{}, hooks
			c.change(cluster, &observed)
			if got := plans.Text(plans.Decide(cluster, observed)); got != c.want {
				t.Errorf("got:\n%swant:\n%s", got, c.want)
			}
		})
	}
}
