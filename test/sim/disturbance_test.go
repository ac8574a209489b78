/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"maps"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// disturbanceSequences test actions that must not disturb members at the same time, or without a primary.
var disturbanceSequences = []world.Story{
	world.Tell("pair-resize-with-restart", createPair(world.PairEngine), set("the CPU is set to 2", cpu("2")), world.LeadsNot("orders-0")),
	world.Tell("pair-scale-in-during-failover", createPair(world.PairEngine), soon(1, world.Freeze("orders-0")), scale(2), world.Thaw("orders-0"), world.LeadsNot("orders-0")),
	world.Tell("pair-scale-in-of-a-primary-that-is-down",
		createPair(world.PairEngine), handOverTo("orders-2"), soon(1, world.Freeze("orders-2")), soon(1, scale(2)), world.Thaw("orders-2"), world.Leads("orders-0"),
	),
	world.Tell("pair-scale-in-of-a-lost-primary", createPair(world.SyncEngine), handOverTo("orders-2"), soon(1, world.Freeze("orders-2")), scale(2), world.Leads("orders-0")),
	world.Tell("pair-hibernate-during-failover", createPair(world.SyncEngine), soon(1, world.Freeze("orders-0")), hibernate(true), hibernate(false), world.Leads("orders-1")),
	world.Tell("pair-hibernate-without-a-primary",
		createPair(world.PairEngine), soon(1, together(world.Freeze("orders-0"), world.Freeze("orders-1"), world.Freeze("orders-2"))), hibernate(true), hibernate(false), world.Leads("orders-0"),
	),
	world.Tell("pair-scale-in-during-configuration",
		createPair(world.TuneEngine), world.GoesWrong(configureHangs), soon(5, parameter("2")), soon(5, scale(2)), world.Mended("hook"), world.Uses(`{"work_mem":"2"}`),
	),
	world.Tell("pair-scale-in-refused",
		createPair(world.TuneEngine), handOverTo("orders-2"), parameter(world.Strict), scale(1), world.Leads("orders-2"), scale(2), world.Leads("orders-0"), world.Uses(`{"work_mem":"strict"}`),
	),
	world.Tell("pair-parameters-during-hand-over",
		createPair(world.TuneEngine), world.GoesWrong(handOverHangs), soon(4, handOverTo("orders-2")), soon(4, parameter("2")), world.Mended("hook"), world.Leads("orders-2"), world.Uses(`{"work_mem":"2"}`),
	),
	world.Tell("pair-configuration-by-hand",
		createPair(world.TuneEngine), parameter("2"), world.ByHand(), world.Uses(`{"work_mem":"2"}`), world.ByHand(), world.Uses(`{"work_mem":"2"}`), handOverTo("orders-2"), world.Leads("orders-2"),
	),
	world.Tell("pair-hand-over-lost",
		createPair(world.PairEngine), world.GoesWrong(handOverHangs), soon(5, handOverTo("orders-2")), world.NodeSilent("-handover-"), world.At(time.Hour), world.Mended("hook"), world.RemoveNode("-handover-"), world.Leads("orders-0"),
	),
	world.Tell("pair-delete-while-a-hand-over-is-lost",
		createPair(world.PairEngine), world.Freeze("orders-0"), world.GoesWrong(handOverHangs), soon(8, remove()), world.NodeSilent("-handover-"), world.At(time.Hour),
		world.RemoveNode("-handover-"),
	),
	world.Tell("pair-delete-members-without-a-statefulset",
		createPair(world.PairEngine), handOverTo("orders-1"), world.Away(true), deleteStatefulSet(metav1.DeletePropagationOrphan), remove(), world.Away(false),
	),
	world.Tell("pair-scale-changes-its-mind",
		createPair(world.SyncEngine), scale(5), handOverTo("orders-4"), soon(9, scale(2)), soon(9, scale(4)), scale(3), world.Leads("orders-0"),
	),
	world.Tell("pair-scale-in-while-others-are-down",
		createPair(world.PairEngine), scale(5), together(world.Freeze("orders-1"), world.Freeze("orders-2")), scale(4), together(world.Thaw("orders-1"), world.Thaw("orders-2")),
	),
}

var (
	configureHangs = world.Trouble{Verb: "hook", About: "configure", Hangs: true, Times: -1}
	handOverHangs  = world.Trouble{Verb: "hook", About: "handOver", Hangs: true, Times: -1}
)

// disturbanceMutants are mistakes about disturbances.
var disturbanceMutants = map[string]mutant{
	"a member restarts at once if its resources cannot be changed in place": {
		interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			err := c.SubResource(sub).Patch(ctx, object, patch, options...)
			if sub != "resize" || err == nil {
				return err
			}
			pod := &corev1.Pod{}
			err = c.Get(ctx, client.ObjectKeyFromObject(object), pod)
			return firstOf(err, c.Delete(ctx, pod, client.Preconditions{UID: new(pod.UID), ResourceVersion: new(pod.ResourceVersion)}))
		}},
		"pair-resize-with-restart", "the primary orders-0 is disturbed before a hand-over",
	},
	"a primary that is down counts as ready in a scale-in": {
		seenPods(ready), "pair-scale-in-during-failover", "pod orders-2 stops while there is no primary",
	},
	"a primary that is down counts as ready in a hibernation": {
		seenPods(ready), "pair-hibernate-during-failover", "pod orders-2 stops while there is no primary",
	},
	"members that are down count as ready in a scale-in": {
		seenPods(ready), "pair-scale-in-while-others-are-down", "pod orders-4 is disturbed: then 2 of 4 members are down",
	},
	"a primary that is down counts as a replica": {
		seenPods(func(_ *dbv1.DatabaseCluster, pods []corev1.Pod) {
			if len(pods) == 3 && !world.IsReady(&pods[2]) {
				pods[0].Labels[world.RoleLabel], pods[2].Labels[world.RoleLabel] = world.PrimaryRole, world.ReplicaRole
			}
		}),
		"pair-scale-in-of-a-primary-that-is-down", "pod orders-2 stops while there is no primary",
	},
	"a configuration counts when its Job has started": {
		seenJobs(dbv1.ComponentConfigure, completed), "pair-scale-in-during-configuration", "although Job orders-configure-",
	},
	"a configuration that was refused counts": {
		seenJobs(dbv1.ComponentConfigure, func(job *batchv1.Job) {
			if world.JobIs(job, batchv1.JobFailed) {
				completed(job)
			}
		}),
		"pair-scale-in-refused", "is removed before the database has accepted 1 members",
	},
	"the configuration that the members keep is not looked at": {
		interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			err := c.Get(ctx, key, object, options...)
			if config, is := object.(*corev1.ConfigMap); is {
				config.Annotations = maps.Clone(config.Annotations)
				delete(config.Annotations, world.KeptKey)
			}
			return err
		}},
		"pair-configuration-by-hand", "the members use the configuration of another client",
	},
	"a hand-over that runs counts as failed": {
		seenJobs(dbv1.ComponentHandOver, func(job *batchv1.Job) {
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: job.CreationTimestamp}}
		}),
		"pair-parameters-during-hand-over", "although Job orders-handover-",
	},
}

func init() { maps.Copy(dataMutants, disturbanceMutants) }

// ready shows all members as ready.
func ready(_ *dbv1.DatabaseCluster, members []corev1.Pod) {
	for i := range members {
		for j := range members[i].Status.Conditions {
			if c := &members[i].Status.Conditions[j]; c.Type == corev1.PodReady {
				c.Status = corev1.ConditionTrue
			}
		}
	}
}

// completed shows a Job as complete, whatever its state is.
func completed(job *batchv1.Job) {
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: job.CreationTimestamp}}
	job.Status.CompletionTime = new(metav1.NewTime(job.CreationTimestamp.Time))
}
