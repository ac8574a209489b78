/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"bytes"
	"context"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// dataMutants are mistakes that would lose data.
var dataMutants = map[string]mutant{
	"the cluster is deleted when its hook has started": {
		besideJob("-flush-", func(ctx context.Context, c client.WithWatch) error {
			return removeFinalizer(ctx, c, &dbv1.DatabaseCluster{}, clusterName)
		}),
		"delete-volumes", "the finalizer is removed",
	},
	"volumes are deleted when the hook has started": {
		besideJob("-flush-", func(ctx context.Context, c client.WithWatch) error {
			return removed(ctx, c, &corev1.PersistentVolumeClaim{}, "data-orders-0")
		}),
		"delete-volumes", "claim data-orders-0 is deleted",
	},
	"volumes are deleted without preconditions": {
		interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if world.KindOf(object) == "PersistentVolumeClaim" {
				return c.Delete(ctx, object)
			}
			return c.Delete(ctx, object, options...)
		}},
		"delete-volumes", "PersistentVolumeClaim data-orders-0 is deleted without its UID",
	},
	"a backup mounts the volume of a running member": {
		otherJob("-backup-", func(job map[string]any) {
			volumes, _, _ := unstructured.NestedSlice(job, "spec", "template", "spec", "volumes")
			volumes = append(volumes, map[string]any{"name": "data", "persistentVolumeClaim": map[string]any{"claimName": "data-orders-0"}})
			world.Must(unstructured.SetNestedSlice(job, volumes, "spec", "template", "spec", "volumes"))
		}),
		"backup", "use claim data-orders-0 at the same time",
	},
	"a backup does not wait for the previous one": {
		interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			err := c.List(ctx, list, options...)
			if backups, is := list.(*dbv1.DatabaseBackupList); is {
				backups.Items = nil
			}
			return err
		}},
		"backup-two-at-once", "backup Jobs run at the same time",
	},
	"a backup is complete when its Job has started": {
		interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			text, err := patch.Data(object)
			world.Must(err)
			text = bytes.ReplaceAll(text, []byte(`"phase":"Running"`), []byte(`"phase":"Completed"`))
			return c.SubResource(sub).Patch(ctx, object, client.RawPatch(patch.Type(), text), options...)
		}},
		"backup", "is complete, but not in the bucket",
	},
	"retention deletes the newest, too": {
		interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			err := c.Delete(ctx, object, options...)
			backups := &dbv1.DatabaseBackupList{}
			if world.KindOf(object) != "DatabaseBackup" {
				return err
			}
			err = firstOf(err, c.List(ctx, backups))
			for _, b := range backups.Items {
				err = firstOf(err, removed(ctx, c, &dbv1.DatabaseBackup{}, b.Name))
			}
			return err
		}},
		"schedule", "although it is the newest complete one",
	},
	"a backup is deleted when the deletion of its data has started": {
		besideJob("-unbackup-", func(ctx context.Context, c client.WithWatch) error {
			return removeFinalizer(ctx, c, &dbv1.DatabaseBackup{}, "first")
		}),
		"backup-deleted", "is deleted, but its data remains",
	},
	"a volume counts as restored when its Job has started": {
		interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			err := c.List(ctx, list, options...)
			if jobs, is := list.(*batchv1.JobList); is {
				for i := range jobs.Items {
					jobs.Items[i].Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
				}
			}
			return err
		}},
		"restore", "counts as restored, but no Job has filled it",
	},
	"an unanswered search counts as an empty folder": {
		interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			err := c.List(ctx, list, options...)
			if pods, is := list.(*corev1.PodList); is {
				emptyAnswers(pods)
			}
			return err
		}},
		"newest", "the cluster starts empty, but the bucket has s3://backups/prod/shop/orders/new",
	},
	"the pod of a verification has the labels of a member": {
		otherJob("-verify-", func(job map[string]any) {
			world.Must(unstructured.SetNestedField(job, dbv1.ComponentDatabase, "spec", "template", "metadata", "labels", dbv1.LabelComponent))
		}),
		"verify", "has the labels of a member",
	},
	"facts about the data are not recorded": {forgetful, "verify-loses-data", "counts as verified, but its restores lose data"},
	"the finalizer of a pod is never removed": {
		interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if _, is := object.(*corev1.Pod); is && object.GetDeletionTimestamp() != nil {
				return nil
			}
			return c.Patch(ctx, object, patch, options...)
		}},
		"delete-shutdown", "pod orders-1 stays because of the finalizers " + dbv1.Finalizer,
	},
	"the finalizer of a pod is removed before the status has its exit code": {
		interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			if pod := (&corev1.Pod{}); c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: "orders-1"}, pod) == nil && world.HasEnded(pod) {
				pod.Finalizers = []string{}
				if err := c.Update(ctx, pod); err != nil {
					return err
				}
			}
			return c.SubResource(sub).Patch(ctx, object, patch, options...)
		}},
		"delete-shutdown-killed", "the finalizer is removed",
	},
}

// besideJob is an operator with an additional call when it creates a Job.
func besideJob(part string, do func(context.Context, client.WithWatch) error) interceptor.Funcs {
	return interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
		err := c.Create(ctx, object, options...)
		if isJob(object, part) {
			return firstOf(err, do(ctx, c))
		}
		return err
	}}
}

// otherJob is an operator that creates a Job with changes.
func otherJob(part string, change func(map[string]any)) interceptor.Funcs {
	return interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
		if isJob(object, part) {
			rewrite(object, change)
		}
		return c.Create(ctx, object, options...)
	}}
}

func isJob(object client.Object, part string) bool {
	_, is := object.(*batchv1.Job)
	return is && strings.Contains(object.GetName(), part)
}

// removeFinalizer removes the operator's finalizer.
func removeFinalizer(ctx context.Context, c client.WithWatch, object client.Object, name string) error {
	if err := c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: name}, object); err != nil {
		return err
	}
	return c.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
}

// removed deletes an object with valid preconditions.
func removed(ctx context.Context, c client.WithWatch, object client.Object, name string) error {
	if err := c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: name}, object); err != nil {
		return err
	}
	return c.Delete(ctx, object, client.Preconditions{UID: new(object.GetUID()), ResourceVersion: new(object.GetResourceVersion())})
}

// emptyAnswers gives the pods of a search the result of an empty folder.
func emptyAnswers(pods *corev1.PodList) {
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Labels[dbv1.LabelComponent] != dbv1.ComponentSearch || len(pod.Status.ContainerStatuses) == 0 {
			continue
		}
		statuses := slices.Clone(pod.Status.ContainerStatuses)
		if ended := statuses[0].State.Terminated; ended != nil {
			now := *ended
			now.Message = `{"found":{}}`
			statuses[0].State.Terminated = &now
		}
		pod.Status.ContainerStatuses = statuses
	}
}
