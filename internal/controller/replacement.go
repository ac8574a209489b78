/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaserestores,verbs=get;list;watch

// readRestores reads the DatabaseRestores that name the cluster from the cache, so a cluster without one costs no request. The one that
// replaces its data is read live in a live pass, and before it counts as deleted: otherwise, the way back would be forgotten.
func (o *observation) readRestores(ctx context.Context) []dbv1.DatabaseRestore {
	list := &dbv1.DatabaseRestoreList{}
	if err := o.Others.List(ctx, list, o.Others.By(o.Cluster.Namespace, subject.IndexCluster, o.Cluster.Name)...); err != nil {
		o.Err = fmt.Errorf("list the DatabaseRestores of the cluster: %w", err)
		return nil
	}
	o.Retained = state.RetainedBy(o.Cluster, list.Items)
	name, now := "", o.Cluster.Status.Replacement
	switch candidate := state.ReplacementOf(o.Cluster, list.Items); {
	case candidate != nil && !o.live:
		return list.Items
	case candidate != nil:
		name = candidate.Restore.Name
	case now != nil && now.RestoreRef != nil:
		name = now.RestoreRef.Name
	default:
		return list.Items
	}
	restores := slices.DeleteFunc(list.Items, func(r dbv1.DatabaseRestore) bool { return r.Name == name })
	if restore := (&dbv1.DatabaseRestore{}); o.FindLive(ctx, name, restore) {
		restores = append(restores, *restore)
	}
	return restores
}

// readReplacement reads which DatabaseRestore replaces the data of the cluster, and the volumes that get it.
func (o *observation) readReplacement(ctx context.Context, r *Reconciler, restores []dbv1.DatabaseRestore) {
	o.Replacement = state.ReplacementOf(o.Cluster, restores)
	if o.Replacement == nil || o.Err != nil {
		return
	}
	next := &observation{live: o.live, ClusterReading: o.ClusterReading}
	next.Cluster = o.Replacement.Cluster(o.Cluster)
	next.Observed = state.Observed{At: o.At, Engine: o.Engine}
	next.readVolumes(ctx)
	next.readRestore(ctx, r)
	o.Err, o.Image = next.Err, next.Image
	o.Replacement.Volumes, o.Replacement.Filling, o.Replacement.Conflicts = next.Volumes, next.Restore, next.Foreign
}

// replacementFacts are those that state.ReplacementOf reads.
func replacementFacts(restore *dbv1.DatabaseRestore) any {
	return []any{restore.Spec, restore.Status.BackupRef, restore.Status.ClusterUID, restore.Finalizers, restore.DeletionTimestamp}
}

// restored is the name of the cluster of a DatabaseRestore.
func restored(object client.Object) []string {
	if restore, is := object.(*dbv1.DatabaseRestore); is {
		return []string{restore.Spec.ClusterRef.Name}
	}
	return nil
}
