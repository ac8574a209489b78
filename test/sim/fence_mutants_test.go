/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"fmt"
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

const unsaved = "is deleted, although no existing backup started after its member had stopped"

// fenceMutants are mistakes that would delete a volume with more data than its final backup.
var fenceMutants = map[string]mutant{
	"a deleted final backup counts": {
		remembersBackups(), "delete-volumes-backup-deleted", unsaved,
	},
	"a final backup of running members counts": {
		fencesNothing(), "delete-volumes-final-backup", unsaved,
	},
	"members that ran after the final backup do not invalidate it": {
		interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			err := c.Get(ctx, key, object, options...)
			if set, is := object.(*appsv1.StatefulSet); is {
				set.Generation = min(set.Generation, 1)
				set.Status.ObservedGeneration = set.Generation
			}
			return err
		}},
		"delete-volumes-scaled-by-hand", unsaved,
	},
	"the annotation of a claim has the engine of the spec": {
		interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			err := c.SubResource(sub).Patch(ctx, object, patch, options...)
			cluster, is := object.(*dbv1.DatabaseCluster)
			claim := &corev1.PersistentVolumeClaim{}
			if !is || c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: "data-orders-0"}, claim) != nil {
				return err
			}
			annotation := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, dbv1.AnnotationEngine, cluster.Spec.Engine)
			return firstOf(err, c.Patch(ctx, claim, client.RawPatch(types.MergePatchType, []byte(annotation))))
		}},
		"engine-changed-while-hibernated", `names engine "otherdb-v1"`,
	},
}

func init() { maps.Copy(dataMutants, fenceMutants) }

// remembersBackups is an operator that never re-checks a complete backup.
func remembersBackups() interceptor.Funcs {
	seen := map[string]*dbv1.DatabaseBackup{}
	return interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
		err := c.Get(ctx, key, object, options...)
		backup, is := object.(*dbv1.DatabaseBackup)
		switch {
		case !is:
		case err == nil && backup.Status.Phase == dbv1.BackupCompleted && backup.DeletionTimestamp == nil:
			seen[key.Name] = backup.DeepCopy()
		case apierrors.IsNotFound(err) && seen[key.Name] != nil:
			seen[key.Name].DeepCopyInto(backup)
			return nil
		}
		return err
	}}
}

// fencesNothing is an operator that takes the final backup while members run, as if they had stopped.
func fencesNothing() interceptor.Funcs {
	return interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
		err := c.Get(ctx, key, object, options...)
		set := &appsv1.StatefulSet{}
		if absent := c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: clusterName}, set); absent != nil {
			return err
		}
		switch o := object.(type) {
		case *dbv1.DatabaseCluster:
			if *set.Spec.Replicas > 0 {
				o.Spec.Deletion.Volumes = dbv1.VolumesRetain
			}
		case *dbv1.DatabaseBackup:
			if apierrors.IsNotFound(err) && strings.HasPrefix(key.Name, "orders-final-") && *set.Spec.Replicas == 0 {
				err = c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: "orders-final-" + firstUID}, o)
				o.Name, o.Status.Fence = key.Name, state.Fence(set)
			}
		}
		return err
	}}
}
