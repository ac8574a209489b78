/*
SPDX-License-Identifier: Apache-2.0
*/

// Package plan decides what a pass does for a DatabaseRestore. It uses values only.
package plan

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// RestoreFacts are what a pass reads about a DatabaseRestore. An object that is nil does not exist.
type RestoreFacts struct {
	// Cluster is the DatabaseCluster that the spec names, and Engine its engine.
	Cluster *dbv1.DatabaseCluster
	Engine  *dbv1.DatabaseEngine
	// Claims are the claims of the members of a cluster of that name, and Pods its pods, in a deletion.
	Claims []corev1.PersistentVolumeClaim
	Pods   []corev1.Pod
	// Preview is the DatabaseCluster with the name of the preview.
	Preview *dbv1.DatabaseCluster
	// Backups are the DatabaseBackups of the cluster.
	Backups []dbv1.DatabaseBackup
}

// RestorePlan is what a pass does for a DatabaseRestore.
type RestorePlan struct {
	operation.Agenda
	// Stalled is the problem that the user must correct; nil for none.
	Stalled *situation.Stall
	// Ready is true if clients can use the preview, or the cluster with the volumes that the spec asks for.
	Ready bool
	// Reason is the one of the condition Ready, unless the restore is stalled.
	Reason string
	// Backup is the one with which the restore begins; nil if that is unknown.
	Backup *dbv1.RestoreBackupRef
	// ClusterUID is the UID of the cluster whose data is about to be replaced; "" if that is unknown.
	ClusterUID string
}

// For decides what to do for a restore. Kubernetes deletes the preview with it.
func For(restore *dbv1.DatabaseRestore, seen RestoreFacts) RestorePlan {
	name := naming.Preview(restore.Name)
	switch {
	case restore.DeletionTimestamp != nil:
		return remove(restore, seen)
	case restore.Spec.Mode == dbv1.RestoreReplace || restore.Spec.Mode == dbv1.RestoreUndo:
		return replace(restore, seen)
	case seen.Preview == nil:
		return create(restore, seen, name)
	case seen.Preview.DeletionTimestamp != nil:
		return because(fmt.Sprintf("DatabaseCluster %s is being deleted; then the operator creates it again", name)).soon()
	case !metav1.IsControlledBy(seen.Preview, restore):
		return stalled(dbv1.ReasonNameConflict, fmt.Sprintf(
			"DatabaseCluster %s exists but does not belong to this DatabaseRestore: delete it, or create a DatabaseRestore with another name",
			name)).soon()
	default:
		return report(restore, seen.Preview)
	}
}

func because(text string) RestorePlan {
	return RestorePlan{Agenda: operation.Agenda{Why: text}, Reason: dbv1.ReasonRestoring}
}

func stalled(reason, text string) RestorePlan {
	p := because(text)
	p.Stalled = &situation.Stall{Reason: reason, Message: text}
	return p
}

// soon requeues after a delay: no watch shows a cluster of another owner.
func (p RestorePlan) soon() RestorePlan {
	p.RequeueAfter = situation.MissingRequeue
	return p
}

// lacking is why the cluster cannot be restored; the second result is false if it can.
func lacking(restore *dbv1.DatabaseRestore, seen RestoreFacts) (RestorePlan, bool) {
	cluster := restore.Spec.ClusterRef.Name
	switch {
	case seen.Cluster == nil:
		return stalled(dbv1.ReasonClusterMissing, fmt.Sprintf("DatabaseCluster %s, which spec.clusterRef names, does not exist, so its settings "+
			"are unknown. Create a DatabaseCluster with spec.bootstrap.fromBackup instead", cluster)), true
	case seen.Cluster.DeletionTimestamp != nil: // its deletion may be that of all clusters
		return stalled(dbv1.ReasonClusterMissing, fmt.Sprintf("DatabaseCluster %s is being deleted, so the operator restores nothing for it. "+
			"Create a DatabaseCluster with spec.bootstrap.fromBackup instead", cluster)), true
	case seen.Cluster.Spec.Engine == "":
		return stalled(dbv1.ReasonEngineMissing, fmt.Sprintf("DatabaseCluster %s has no spec.engine, so nothing can be restored", cluster)), true
	case seen.Engine == nil:
		p := stalled(dbv1.ReasonEngineMissing, fmt.Sprintf("DatabaseEngine %s, which DatabaseCluster %s names, does not exist. Create it",
			seen.Cluster.Spec.Engine, cluster))
		p.RequeueAfter = situation.MissingRequeue // engines are not watched
		return p, true
	}
	if restore.Spec.Mode == dbv1.RestoreUndo {
		return RestorePlan{}, false
	}
	return unreachable(restore, seen)
}

// unreachable is why the target can never be recovered; the second result is false if it may.
func unreachable(restore *dbv1.DatabaseRestore, seen RestoreFacts) (RestorePlan, bool) {
	target := restore.Spec.Source.RecoveryTarget
	if cause := engine.Unreachable(target, seen.Engine); cause != "" {
		return stalled(dbv1.ReasonFieldUnsupported, fmt.Sprintf("spec.source.recoveryTarget: %s. Create another DatabaseRestore", cause)), true
	}
	if heldBy(restore, seen) == nil && ahead(restore, state.Until(target)) {
		return stalled(dbv1.ReasonRestoreFailed, fmt.Sprintf("spec.source.recoveryTarget.time %s is after the creation of this DatabaseRestore, "+
			"so the cluster had no data of then. Create another DatabaseRestore with a past time", target.Time)), true
	}
	return RestorePlan{}, false
}

// clocks is by how much that of a database may be ahead of that of the API server.
const clocks = time.Minute

// ahead reports whether a time was in the future when the restore was asked for. It must not replace data when the time has come.
func ahead(restore *dbv1.DatabaseRestore, at time.Time) bool {
	created := restore.CreationTimestamp
	return !created.IsZero() && at.After(created.Add(clocks))
}

// create creates the preview once the cluster and the backup are known.
func create(restore *dbv1.DatabaseRestore, seen RestoreFacts, name string) RestorePlan {
	if p, lacks := lacking(restore, seen); lacks {
		return p
	}
	from, problem := sourceOf(restore, seen)
	if problem != "" {
		return stalled(dbv1.ReasonBackupMissing, problem)
	}
	preview := previewOf(restore, seen, from)
	p := because(fmt.Sprintf("creating DatabaseCluster %s with %s", name, describe(from.BackupSource)))
	p.Operations = operation.List{operation.Create{
		Work: operation.Work{
			Is: operation.Properties{LiveRead: true}, Text: "create " + preview.String(),
			Event: operation.Normal("PreviewCreated", "CreatePreview", ""),
		},
		Objects: []objects.Child{preview},
	}}
	return p
}
