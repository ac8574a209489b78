/*
SPDX-License-Identifier: Apache-2.0
*/

package members_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestHowAChangeReachesTheMembers(t *testing.T) {
	decideEach(t, map[string]scenario{
		"the highest ordinal is restarted first": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 0, 1, 2) },
			"restart orders-2\nRollingOut: 3 members are outdated; restarting pod orders-2\n",
		},
		"none while a member does not serve": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 0, 1); plans.Down(o, "", 2) },
			"RollingOut: 2 members are outdated; waiting for pod orders-2 to stay ready\n",
		},
		"none while the new template breaks a member, and the plan has the cause": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0, 1)
				plans.Down(o, "image pull failed", 2)
			},
			"RollingOut: 2 members are outdated; waiting for pod orders-2, which is failing: image pull failed\n",
		},
		"none while a member is missing": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 0, 1); o.Members = o.Members[:2] },
			"RollingOut: 2 members are outdated; waiting for a missing pod\n",
		},
		"none while a member stops": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0, 1)
				o.Members[2].Terminating = true
			},
			"RollingOut: 2 members are outdated; waiting for pod orders-2 to stay ready\n",
		},
		"one that is down comes first": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 0, 1, 2); plans.Down(o, "", 0) },
			"restart orders-0\nRollingOut: 3 members are outdated; restarting pod orders-0\n",
		},
		"one that cannot start by itself is restarted whatever the others do": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0, 1)
				plans.Down(o, "image pull failed", 0)
				plans.Down(o, "", 2)
				o.Members[0].Stuck = true
			},
			"restart orders-0\nRollingOut: 2 members are outdated; restarting pod orders-0\n",
		},
		"a member that may recover by itself is not restarted while the template is untested": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 0, 1); plans.Down(o, "", 0, 2) },
			"RollingOut: 2 members are outdated; waiting for pod orders-0 to stay ready\n",
		},
		"if no member serves, none is restarted for five minutes": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 0, 1); plans.Down(o, "", 0, 1, 2) },
			"RollingOut: 2 members are outdated; waiting for pod orders-0 to stay ready\nagain in 4m0s\n",
		},
		"when nothing has served for five minutes they are restarted": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0, 1)
				plans.Down(o, "", 0, 1, 2)
				for i := range o.Members {
					o.Members[i].ReadySince = plans.Ago(6 * time.Minute)
				}
			},
			"restart orders-1\nRollingOut: 2 members are outdated; restarting pod orders-1\n",
		},
		"one that stops already is not restarted twice": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 2)
				o.Members[2].Ready, o.Members[2].Terminating = false, true
			},
			"RollingOut: 1 member is outdated; waiting for pod orders-2 to stay ready\n",
		},
		"none before the StatefulSet's controller has seen the change": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0, 1, 2)
				o.StatefulSet.Generation = 2
			},
			"WaitingForMembers: the StatefulSet controller has not observed the latest change yet\n",
		},
		"none while a member has been ready for a moment only": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0, 1)
				o.Members[2].ReadySince = plans.Ago(4 * time.Second)
			},
			"RollingOut: 2 members are outdated; waiting for pod orders-2 to stay ready\nagain in 6s\n",
		},
		"for as long as the spec asks": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0, 1)
				o.Members[2].ReadySince = plans.Ago(4 * time.Second)
				c.Spec.UpdateStrategy.MinReadySeconds = new(int32)
			},
			"restart orders-1\nRollingOut: 2 members are outdated; restarting pod orders-1\n",
		},
		"two at once when the spec allows it": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0, 1)
				plans.Down(o, "", 2)
				c.Spec.UpdateStrategy.MaxUnavailable = 2
			},
			"restart orders-1\nRollingOut: 2 members are outdated; restarting pod orders-1\n",
		},
		"none while it is paused, not even one that is down": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0, 1)
				plans.Down(o, "", 0)
				c.Spec.UpdateStrategy.Paused = true
			},
			"RolloutPaused: 2 members are outdated; spec.updateStrategy.paused is true\n",
		},
		"none with type OnDelete": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 2)
				c.Spec.UpdateStrategy.Type = dbv1.UpdateOnDelete
			},
			"WaitingForUser: 1 member is outdated; spec.updateStrategy.type is OnDelete: delete a pod to update it\n",
		},
	})
}

func TestResourcesChangeWhileMembersRun(t *testing.T) {
	lacks := func(o *state.Observed, ordinals ...int) {
		plans.Outdated(o, ordinals...)
		for _, i := range ordinals {
			o.Members[i].Template, o.Members[i].Resources = o.Template(), "others"
		}
	}
	given := func(progress state.PodResize, resources string) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			lacks(o, 1)
			o.Members[1].Resources, o.Members[1].Resize = resources, progress
		}
	}
	decideEach(t, map[string]scenario{
		"where a member lacks nothing else": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { lacks(o, 0, 1, 2) },
			"resize orders-2\nRollingOut: 3 members are outdated; resizing pod orders-2\n",
		},
		"one after the other": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				lacks(o, 0, 1)
				o.Members[2].Resize = state.PodResize{Pending: true, Message: "Deferred"}
			},
			"RollingOut: 2 members are outdated; waiting for the kubelet to resize pod orders-2 (Deferred)\n",
		},
		"but not for what is no longer wanted": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				lacks(o, 0, 1, 2)
				o.Members[1].Resize = state.PodResize{Pending: true, Message: "Deferred"}
			},
			"resize orders-1\nRollingOut: 3 members are outdated; resizing pod orders-1\n",
		},
		"that does not block another change": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				plans.Outdated(o, 0, 1, 2)
				o.Members[1].Resize = state.PodResize{Pending: true, Message: "Deferred"}
			},
			"restart orders-1\nRollingOut: 3 members are outdated; restarting pod orders-1\n",
		},
		"and the last is waited for": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Members[0].Resize = state.PodResize{Pending: true, Message: "Deferred"}
			},
			"WaitingForMembers: the kubelet is resizing pod orders-0 (Deferred)\n",
		},
		"by a restart where its node does not have them": {
			given(state.PodResize{Pending: true, Infeasible: true}, "requests  limits "),
			"restart orders-1\nRollingOut: 1 member is outdated; restarting pod orders-1\n",
		},
		"by a restart where the API server has refused them": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { lacks(o, 1); o.Members[1].Refused = "new" },
			"restart orders-1\nRollingOut: 1 member is outdated; restarting pod orders-1\n",
		},
		"where the API server has refused only previous ones": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { lacks(o, 1); o.Members[1].Refused = "previous" },
			"resize orders-1\nRollingOut: 1 member is outdated; resizing pod orders-1\n",
		},
		"where only what was asked for before is not to be had": {
			given(state.PodResize{Pending: true, Infeasible: true}, "others"),
			"resize orders-1\nRollingOut: 1 member is outdated; resizing pod orders-1\n",
		},
		"and one that the kubelet has not seen yet is waited for, too": {
			given(state.PodResize{Unseen: true}, "requests  limits "),
			"WaitingForMembers: the kubelet is resizing pod orders-1 (the kubelet has not responded yet)\n",
		},
		"by a restart where the member does not run": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { lacks(o, 1); plans.Down(o, "cannot be scheduled", 1) },
			"restart orders-1\nRollingOut: 1 member is outdated; restarting pod orders-1\n",
		},
	})
}

func TestATemplateChangesOnlyWhenItsInputsChange(t *testing.T) {
	// as another version of the operator would create it
	otherwise := func(o *state.Observed) {
		o.StatefulSet.Spec.Template.Spec.PriorityClassName = "of-another-version"
		o.StatefulSet.Spec.Template.Annotations[dbv1.AnnotationTemplate] = "of-another-version"
		reseal(o)
	}
	decideEach(t, map[string]scenario{
		"a newer operator restarts no member, and reports the pending change": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { otherwise(o) },
			"UpToDate: the cluster matches its spec\nNEWER\n",
		},
		"a field that is not in the pod template changes nothing": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				otherwise(o)
				c.Spec.UpdateStrategy.MaxUnavailable, c.Spec.Deletion.HookDeadlineSeconds, c.Spec.Storage.Size = 2, 9, resource.MustParse("1024Mi")
			},
			"UpToDate: the cluster matches its spec\nNEWER\n",
		},
		"a change of the spec does": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { otherwise(o); c.Spec.Image = "database:2" },
			"update StatefulSet orders (spec.template)\n" +
				"Applying: update StatefulSet orders (spec.template)\n",
		},
		"so does who asks for it": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				otherwise(o)
				c.Annotations = map[string]string{dbv1.AnnotationUpdate: "now"}
			},
			"update StatefulSet orders (spec.template)\n" +
				"Applying: update StatefulSet orders (spec.template)\n",
		},
		"and an edit of another client": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				otherwise(o)
				o.StatefulSet.Spec.Template.Spec.Containers[0].Image = "miner:1"
			},
			"update StatefulSet orders (spec.template.metadata.annotations.database.dbcluster.io/template)\n" +
				"Applying: update StatefulSet orders (spec.template.metadata.annotations.database.dbcluster.io/template)\n",
		},
	})
}

func TestAPodStartsOnlyAfterItsReferencesExist(t *testing.T) {
	lacks := []pods.Reference{{Kind: "Secret", Name: "password", Where: "spec.container.env[PASSWORD]"}}
	decideEach(t, map[string]scenario{
		"no StatefulSet is created": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.StatefulSet, o.Members, o.References = nil, nil, lacks
			},
			"WaitingForReference: Secret password, which spec.container.env[PASSWORD] names, does not exist\nagain in 10s\nSTALLED ReferenceMissing\n",
		},
		"no member is restarted for a change that lacks it": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Image, o.References = "database:2", lacks
				plans.Outdated(o, 1)
			},
			"WaitingForReference: Secret password, which spec.container.env[PASSWORD] names, does not exist\nagain in 10s\nSTALLED ReferenceMissing\n",
		},
		"members are still removed": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { c.Spec.Replicas, o.References = 1, lacks },
			"scale in to 2\nScaling: scaling in from 3 to 1 members, one at a time\nagain in 10s\nSTALLED ReferenceMissing\n",
		},
		"an optional reference does not block": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.References = []pods.Reference{{Kind: "Secret", Name: "password", Optional: true}}
				o.StatefulSet.Annotations[dbv1.AnnotationRenderedFrom] = "other"
			},
			"update StatefulSet orders (spec.template)\n" +
				"Applying: update StatefulSet orders (spec.template)\n",
		},
		"old files are deleted when no member uses them": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Configs = previousFiles() },
			"delete ConfigMap orders-config-previous: no member uses these files\nUpToDate: the cluster matches its spec\n",
		},
		"old files stay while a member uses them": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				o.Configs, c.Spec.UpdateStrategy.Paused = previousFiles(), true
				plans.Outdated(o, 1)
			},
			"RolloutPaused: 1 member is outdated; spec.updateStrategy.paused is true\n",
		},
	})
}

func previousFiles() []*corev1.ConfigMap {
	return []*corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "orders-config-previous"}}}
}
