/*
SPDX-License-Identifier: Apache-2.0
*/

// Package restoration observes, acts and reports for a DatabaseRestore. Its subpackage plan decides what to do.
package restoration

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/execute"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/named"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/restoration/plan"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Reconciler reconciles DatabaseRestores. It keeps no state between passes.
type Reconciler struct{ kit.Base }

type pass = kit.Pass[*dbv1.DatabaseRestore, plan.RestoreFacts, plan.RestorePlan]

var _ kit.Executor[*dbv1.DatabaseRestore, plan.RestoreFacts, plan.RestorePlan] = &Reconciler{}

// Reconcile runs one pass: observe, decide, act, report.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return kit.Reconcile(ctx, &r.Base, r, request.NamespacedName)
}

// Controller declares the changes that start a pass for a restore.
func (r *Reconciler) Controller() kit.Controller {
	return kit.Controller{
		Name: "databaserestore", For: &dbv1.DatabaseRestore{}, When: kit.Changed(restoreFacts),
		Watches: []kit.Watch{
			{Object: &dbv1.DatabaseCluster{}, When: kit.Changed(previewFacts)},
			{Object: &dbv1.DatabaseCluster{}, When: kit.Changed(clusterFacts), MapFunc: r.waiting},
			{Object: &dbv1.DatabaseBackup{}, When: kit.Changed(backupFacts), MapFunc: r.waiting},
		},
	}
}

func restoreFacts(o *dbv1.DatabaseRestore) any {
	return []any{o.Spec, o.Status, o.Finalizers, o.DeletionTimestamp}
}

func previewFacts(o *dbv1.DatabaseCluster) any {
	return []any{o.Spec.Bootstrap, o.Status.Conditions, o.Status.Restore, o.DeletionTimestamp, o.OwnerReferences}
}

func clusterFacts(o *dbv1.DatabaseCluster) any {
	return []any{o.UID, o.Spec, o.DeletionTimestamp, o.Status.Replacement, o.Status.Conditions}
}

func backupFacts(o *dbv1.DatabaseBackup) any {
	status := o.Status
	status.Bytes, status.StoredBytes, status.Size, status.Rate, status.Message = 0, 0, "", "", "" // of a backup that runs
	return []any{status, o.DeletionTimestamp}
}

// waiting finds the restores of a cluster that depend on it: they have no preview yet, or replace its data.
func (r *Reconciler) waiting(ctx context.Context, object client.Object) []reconcile.Request {
	cluster := object.GetName()
	if backup, is := object.(*dbv1.DatabaseBackup); is {
		cluster = backup.Spec.Cluster
	}
	return r.Requests(ctx, object, &dbv1.DatabaseRestoreList{}, func(o client.Object) bool {
		restore, is := o.(*dbv1.DatabaseRestore)
		return is && restore.Spec.ClusterRef.Name == cluster &&
			(restore.Status.PreviewRef == nil || restore.Spec.Mode != dbv1.RestorePreview)
	})
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaserestores;databaseclusters;databasebackups,verbs=get;list;watch

// Observe reads the facts for the next operation of a restore.
func (r *Reconciler) Observe(ctx context.Context, restore *dbv1.DatabaseRestore, from kit.Reading) (plan.RestoreFacts, error) {
	seen, preview, cluster := plan.RestoreFacts{}, &dbv1.DatabaseCluster{}, &dbv1.DatabaseCluster{}
	if from.Find(ctx, naming.Preview(restore.Name), preview) {
		seen.Preview = preview
	}
	if seen.Preview != nil && restore.Spec.Mode == dbv1.RestorePreview {
		return seen, from.Err
	}
	if restore.DeletionTimestamp != nil {
		readClaims(ctx, &from, restore.Spec.ClusterRef.Name, &seen)
	}
	if from.Find(ctx, restore.Spec.ClusterRef.Name, cluster) {
		seen.Cluster, seen.Engine = withVolumes(ctx, &from, cluster), named.Engine(ctx, &from, cluster.Spec.Engine)
		backups := &dbv1.DatabaseBackupList{}
		from.List(ctx, backups, named.IndexBackups, cluster.Name)
		seen.Backups = backups.Items
	}
	return seen, from.Err
}

// readClaims reads the claims of the members of a cluster, and the pods that may use them.
func readClaims(ctx context.Context, from *kit.Reading, cluster string, seen *plan.RestoreFacts) {
	claims, pods := &corev1.PersistentVolumeClaimList{}, &corev1.PodList{}
	from.List(ctx, claims, subject.IndexCluster, cluster, client.MatchingLabels(naming.Selector(cluster)))
	from.List(ctx, pods, subject.IndexCluster, cluster, client.MatchingLabels{dbv1.LabelInstance: cluster})
	seen.Claims, seen.Pods = claims.Items, pods.Items
}

// withVolumes is the cluster with the volumes of its StatefulSet.
func withVolumes(ctx context.Context, from *kit.Reading, cluster *dbv1.DatabaseCluster) *dbv1.DatabaseCluster {
	set := &appsv1.StatefulSet{}
	if !from.Find(ctx, naming.StatefulSet(cluster.Name), set) || !metav1.IsControlledBy(set, cluster) {
		return cluster
	}
	return state.Observed{StatefulSet: set}.WithVolumes(cluster)
}

// Decide returns what to do.
func (r *Reconciler) Decide(restore *dbv1.DatabaseRestore, seen plan.RestoreFacts) plan.RestorePlan {
	return plan.For(restore, seen)
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseclusters,verbs=create
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaserestores,verbs=patch
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=delete
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaserestores/finalizers,verbs=update

// Execute executes one operation of the plan.
func (r *Reconciler) Execute(ctx context.Context, p *pass, o operation.Operation) ([]kit.Event, error) {
	return execute.Hands{Base: r.Base, Object: p.Object, Purpose: p.Plan.Why}.Execute(ctx, o)
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaserestores/status,verbs=patch

// Report returns the restore with its status after a pass.
func (r *Reconciler) Report(p pass) (*dbv1.DatabaseRestore, []kit.Event) {
	after := p.Object.DeepCopy()
	after.Status = plan.StatusOf(p.Object, p.Facts, p.Plan, p.Err, metav1.NewTime(r.Clock.Now()))
	return after, kit.Transitions(transitions, p.Object.Status.Conditions, after.Status.Conditions)
}

// transitions are the conditions whose changes are events.
var transitions = []operation.Transition{
	{Condition: dbv1.ConditionReady, Status: metav1.ConditionTrue, Type: corev1.EventTypeNormal, Action: "Report"},
	{Condition: dbv1.ConditionStalled, Status: metav1.ConditionTrue, Type: corev1.EventTypeWarning, Action: "Report"},
}
