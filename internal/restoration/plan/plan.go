/*
SPDX-License-Identifier: Apache-2.0
*/

// Package plan decides what a pass does for a DatabaseRestore. It uses values only.
package plan

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// RestoreFacts are what a pass reads about a DatabaseRestore. An object that is nil does not exist.
type RestoreFacts struct {
	// Cluster is the DatabaseCluster that the spec names, and Engine its engine.
	Cluster *dbv1.DatabaseCluster
	Engine  *dbv1.DatabaseEngine
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
	// Ready is true if clients can use the preview.
	Ready bool
}

// For decides what to do for a restore. Kubernetes deletes the preview with it.
func For(restore *dbv1.DatabaseRestore, seen RestoreFacts) RestorePlan {
	name := naming.Preview(restore.Name)
	switch {
	case restore.DeletionTimestamp != nil:
		return because("Kubernetes deletes the preview with this object")
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

func because(text string) RestorePlan { return RestorePlan{Agenda: operation.Agenda{Why: text}} }

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

// create creates the preview once the cluster and the backup are known.
func create(restore *dbv1.DatabaseRestore, seen RestoreFacts, name string) RestorePlan {
	cluster := restore.Spec.ClusterRef.Name
	switch {
	case seen.Cluster == nil:
		return stalled(dbv1.ReasonClusterMissing, fmt.Sprintf("DatabaseCluster %s, which spec.clusterRef names, does not exist, so its settings "+
			"are unknown. Create a DatabaseCluster with spec.bootstrap.fromBackup instead", cluster))
	case seen.Cluster.DeletionTimestamp != nil: // its deletion may be that of all clusters
		return stalled(dbv1.ReasonClusterMissing, fmt.Sprintf("DatabaseCluster %s is being deleted, so the operator creates no preview of it. "+
			"Create a DatabaseCluster with spec.bootstrap.fromBackup instead", cluster))
	case seen.Cluster.Spec.Engine == "":
		return stalled(dbv1.ReasonEngineMissing, fmt.Sprintf("DatabaseCluster %s has no spec.engine, so nothing can be restored", cluster))
	case seen.Engine == nil:
		p := stalled(dbv1.ReasonEngineMissing, fmt.Sprintf("DatabaseEngine %s, which DatabaseCluster %s names, does not exist. Create it",
			seen.Cluster.Spec.Engine, cluster))
		p.RequeueAfter = situation.MissingRequeue // engines are not watched
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
