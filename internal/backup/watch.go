/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/backup/plan"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/named"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

var ofBackups = kit.Labeled{
	Label: dbv1.LabelBackupUID, Kind: &dbv1.DatabaseBackup{}, List: func() client.ObjectList { return &dbv1.DatabaseBackupList{} },
}

func indexes() []kit.Index {
	return append(ofBackups.Indexes(),
		kit.Index{Kind: &dbv1.DatabaseBackup{}, Name: named.IndexBackups, Value: func(object client.Object) []string {
			backup, ok := object.(*dbv1.DatabaseBackup)
			if !ok {
				return nil
			}
			return []string{backup.Spec.Cluster}
		}})
}

// Controller declares the changes that start a pass for a backup.
func (r *Reconciler) Controller() kit.Controller {
	return kit.Controller{
		Name: "databasebackup", For: &dbv1.DatabaseBackup{}, When: kit.Changed(backupFacts), Indexes: indexes(),
		Watches: append(ofBackups.Watches(&r.Base), []kit.Watch{
			{Object: &dbv1.DatabaseBackup{}, When: kit.Changed(orderFacts), MapFunc: r.waiting},
			{Object: &corev1.Pod{}, When: kit.Awaited(r.waiting, kit.Changed(memberFacts)), MapFunc: r.waiting},
			{Object: &appsv1.StatefulSet{}, When: kit.Awaited(r.waiting, kit.Changed(setFacts)), MapFunc: r.waiting},
			{Object: &dbv1.DatabaseCluster{}, When: kit.Awaited(r.waiting, kit.Changed(clusterFacts)), MapFunc: r.waiting},
		}...),
	}
}

// backupFacts leave out the progress of the backup: it is written every few seconds, and no decision reads it.
func backupFacts(backup *dbv1.DatabaseBackup) any {
	status := backup.Status
	if !status.Phase.Finished() {
		status.Bytes, status.StoredBytes, status.Size, status.Rate = 0, 0, "", ""
	}
	return []any{backup.Spec, status, backup.DeletionTimestamp, backup.Finalizers, backup.Annotations[dbv1.AnnotationVerify], backup.Labels}
}

// orderFacts are the fields that other backups of the cluster read.
func orderFacts(backup *dbv1.DatabaseBackup) any {
	return []any{backup.Spec.Cluster, backup.Status.Phase, backup.Status.CompletionTime, backup.DeletionTimestamp, state.HasFinalizer(backup),
		plan.Stuck(backup)}
}

func memberFacts(pod *corev1.Pod) any { return []any{state.MemberOf(pod, 0).Facts(), pod.Labels} }

func setFacts(set *appsv1.StatefulSet) any {
	return []any{named.SetFacts(set), state.Fence(set)}
}

func clusterFacts(cluster *dbv1.DatabaseCluster) any { return named.ClusterFacts(cluster) }

// waiting finds the unfinished backups of the cluster that an object belongs to.
func (r *Reconciler) waiting(ctx context.Context, object client.Object) []reconcile.Request {
	cluster := object.GetLabels()[dbv1.LabelInstance]
	switch o := object.(type) {
	case *dbv1.DatabaseBackup:
		cluster = o.Spec.Cluster
	case *dbv1.DatabaseCluster:
		cluster = o.Name
	}
	if cluster == "" || kit.OfAnotherKind(object) {
		return nil
	}
	return r.Requests(ctx, object, &dbv1.DatabaseBackupList{}, func(o client.Object) bool {
		backup, ok := o.(*dbv1.DatabaseBackup)
		return ok && !backup.Status.Phase.Finished() && backup.UID != object.GetUID()
	}, client.MatchingFields{named.IndexBackups: cluster})
}
