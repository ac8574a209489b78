/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaserestores,verbs=get;list;watch

// readRestores reads the DatabaseRestores that name the cluster. The one that has replaced its data is looked up live before it counts as
// deleted: otherwise, the way back would be forgotten.
func (o *observation) readRestores(ctx context.Context) []dbv1.DatabaseRestore {
	list := &dbv1.DatabaseRestoreList{}
	o.List(ctx, list, subject.IndexCluster, o.Cluster.Name)
	o.Retained = state.RetainedBy(o.Cluster, list.Items)
	now := o.Cluster.Status.Replacement
	if now == nil || now.RestoreRef == nil {
		return list.Items
	}
	held := func(r dbv1.DatabaseRestore) bool { return string(r.UID) == now.RestoreRef.UID }
	restore := &dbv1.DatabaseRestore{}
	if _, found := state.First(list.Items, held); !found && o.FindLive(ctx, now.RestoreRef.Name, restore) {
		return append(list.Items, *restore)
	}
	return list.Items
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

// clusterOfRestore finds the cluster of a DatabaseRestore.
func clusterOfRestore(_ context.Context, object client.Object) []reconcile.Request {
	var requests []reconcile.Request
	for _, name := range restored(object) {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}})
	}
	return requests
}

func restored(object client.Object) []string {
	if restore, is := object.(*dbv1.DatabaseRestore); is {
		return []string{restore.Spec.ClusterRef.Name}
	}
	return nil
}
