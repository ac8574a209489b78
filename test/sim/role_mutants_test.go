/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"bytes"
	"context"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// roleMutants are mistakes with members that have one database.
var roleMutants = map[string]mutant{
	"the operator labels the next primary itself": {
		besideJob("-handover-", func(ctx context.Context, c client.WithWatch) error {
			pod := &corev1.Pod{}
			err := c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: "orders-1"}, pod)
			return firstOf(err, c.Patch(ctx, pod, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"role":"primary"}}}`))))
		}),
		"pair-rollout-0", "are primaries at the same time",
	},
	"the agreement is deleted while members run": {
		besideJob("-handover-", func(ctx context.Context, c client.WithWatch) error {
			return removed(ctx, c, &corev1.ConfigMap{}, "orders-leader")
		}),
		"pair-rollout-0", "the agreement is deleted while pod orders-0 runs",
	},
	"the primary is restarted as if it were a replica": {
		seenPods(swapRoles),
		"pair-rollout-0", "the primary orders-0 is disturbed before a hand-over",
	},
	"a deletion does not wait for a hand-over": {
		seenJobs(dbv1.ComponentHandOver, func(job *batchv1.Job) {
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: job.CreationTimestamp}}
		}),
		"pair-delete-during-hand-over", "is disturbed during a hand-over",
	},
	"all stop from the highest ordinal down": {
		interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if set, is := object.(*appsv1.StatefulSet); is {
				set.Spec.Ordinals = nil
			}
			return c.Patch(ctx, object, patch, options...)
		}},
		"pair-hibernate-replica-returns", "acknowledged rows are lost, because the database continues with pod orders-0",
	},
	"a primary that is one of two counts as the only one": {
		seenPods(func(_ *dbv1.DatabaseCluster, pods []corev1.Pod) {
			if len(pods) == 3 && pods[0].Labels[world.RoleLabel] == world.PrimaryRole && pods[1].Labels[world.RoleLabel] == world.PrimaryRole {
				pods[1].Labels[world.RoleLabel] = world.ReplicaRole
			}
		}),
		"pair-split-brain", "although there are two primaries",
	},
	"a primary counts as ready although its probe fails": {
		seenPods(func(_ *dbv1.DatabaseCluster, members []corev1.Pod) {
			for i := range members {
				for j := range members[i].Status.Conditions {
					if members[i].Labels[world.RoleLabel] == world.PrimaryRole {
						members[i].Status.Conditions[j].Status = corev1.ConditionTrue
					}
				}
			}
		}),
		"pair-full", "Available is True, but no client can write",
	},
	"two voters are restarted in one pass":   {mutants["two members are deleted in one pass"].mistake, "voters-rollout", "voters are left"},
	"two replicas are restarted in one pass": {mutants["two members are deleted in one pass"].mistake, "pair-rollout-2", "of 3 members are down"},
	"the first data are created again":       {createsDataAgain(), "pair-scale", "but the cluster already had members"},
	"a voter is removed although too few respond": {
		seenPods(func(c *dbv1.DatabaseCluster, members []corev1.Pod) {
			for i := range members {
				for j := range members[i].Status.Conditions {
					if c.Spec.Replicas == 1 {
						members[i].Status.Conditions[j].Status = corev1.ConditionTrue
					}
				}
			}
		}),
		"voters-scale-in-without-majority", "is removed from the voters: then 1 of 2 respond",
	},
	"a member counts as removed when the Job has started": {
		seenJobs(dbv1.ComponentMemberRemove, func(job *batchv1.Job) {
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: job.CreationTimestamp}}
			job.Status.CompletionTime = &job.CreationTimestamp
		}),
		"voters-scale", "pod orders-4 stops for good, but is a voter",
	},
	"an agreement of a previous cluster counts": {
		interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			err := c.List(ctx, list, options...)
			if configs, is := list.(*corev1.ConfigMapList); is {
				for i := range configs.Items {
					configs.Items[i].Labels[dbv1.LabelClusterUID] = uidOfFirst
				}
			}
			return err
		}},
		"pair-stale-agreement", "starts with the agreement of another cluster",
	},
	"rights are not deleted": {
		interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if kind := world.KindOf(object); kind == "RoleBinding" || kind == "ConfigMap" {
				return nil
			}
			return c.Delete(ctx, object, options...)
		}},
		"pair-delete-volumes", "orders stay after the cluster",
	},
	"the record of the last primary is wrong": {
		interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			text, err := patch.Data(object)
			world.Must(err)
			text = bytes.ReplaceAll(text, []byte(`/primary":"orders-1"`), []byte(`/primary":"orders-0"`))
			return c.Patch(ctx, object, client.RawPatch(patch.Type(), text), options...)
		}},
		"pair-delete-without-the-first", "acknowledged rows are lost",
	},
	"the volume of the primary is rebuilt": {
		seenPods(swapRoles),
		"pair-rebuild-primary", "but the other members do not serve without it",
	},
	"the claim of a member that did not ask for it is rebuilt": {
		interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if world.KindOf(object) == "PersistentVolumeClaim" {
				return removed(ctx, c, &corev1.PersistentVolumeClaim{}, "data-orders-1")
			}
			return c.Delete(ctx, object, options...)
		}},
		"voters-rebuild", "claim data-orders-1 is deleted",
	},
}

func init() { maps.Copy(dataMutants, roleMutants) }

// uidOfFirst is the UID of the first cluster.
const uidOfFirst = firstUID + "-0000-4000-8000-000000000000"

// seenPods is an operator that sees other members than there are.
func seenPods(change func(cluster *dbv1.DatabaseCluster, members []corev1.Pod)) interceptor.Funcs {
	return interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		err, cluster := c.List(ctx, list, options...), &dbv1.DatabaseCluster{}
		err = firstOf(err, c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: clusterName}, cluster))
		if pods, is := list.(*corev1.PodList); is {
			members := slices.DeleteFunc(slices.Clone(pods.Items), func(pod corev1.Pod) bool { return !world.IsMember(&pod) })
			others := slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return world.IsMember(&pod) })
			change(cluster, members)
			pods.Items = slices.Concat(members, others)
		}
		return err
	}}
}

// swapRoles exchanges the roles of the first and the last of three members.
func swapRoles(_ *dbv1.DatabaseCluster, members []corev1.Pod) {
	if len(members) == 3 {
		first, last := members[0].Labels, members[2].Labels
		first[world.RoleLabel], last[world.RoleLabel] = last[world.RoleLabel], first[world.RoleLabel]
	}
}

// seenJobs is an operator that sees other Jobs of a kind than there are.
func seenJobs(component string, change func(*batchv1.Job)) interceptor.Funcs {
	return interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		err := c.List(ctx, list, options...)
		if jobs, is := list.(*batchv1.JobList); is {
			for i := range jobs.Items {
				if jobs.Items[i].Labels[dbv1.LabelComponent] == component {
					change(&jobs.Items[i])
				}
			}
		}
		return err
	}}
}

// createsDataAgain is an operator that runs the Job of the first data for member 3, too, when that member is added.
func createsDataAgain() interceptor.Funcs {
	var initialize *batchv1.Job
	return interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
		if job, is := object.(*batchv1.Job); is && isJob(object, "-initialize-") {
			initialize = job.DeepCopy()
			initialize.Name = "orders-initialize-again-3"
			for _, v := range initialize.Spec.Template.Spec.Volumes {
				if v.PersistentVolumeClaim != nil {
					v.PersistentVolumeClaim.ClaimName = "data-orders-3"
				}
			}
		}
		return c.Create(ctx, object, options...)
	}, Apply: func(ctx context.Context, c client.WithWatch, configuration runtime.ApplyConfiguration, options ...client.ApplyOption) error {
		err := c.Apply(ctx, configuration, options...)
		if replicas, _, _ := unstructured.NestedFieldNoCopy(world.Applied(configuration).Object, "spec", "replicas"); replicas == int64(5) {
			return firstOf(err, c.Create(ctx, initialize.DeepCopy()))
		}
		return err
	}}
}
