/*
SPDX-License-Identifier: Apache-2.0
*/

// Package plan decides what a pass does for a DatabaseRestore. It uses values only.
package plan

import (
	"fmt"

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
	case !Owns(restore, seen.Preview):
		return stalled(dbv1.ReasonNameConflict, fmt.Sprintf(
			"DatabaseCluster %s exists but does not belong to this DatabaseRestore: delete it, or create a DatabaseRestore with another name", name))
	case seen.Preview.DeletionTimestamp != nil:
		return because(fmt.Sprintf("DatabaseCluster %s is being deleted; then the operator creates it again", name))
	default:
		return report(restore, seen.Preview)
	}
}

// Owns reports whether a DatabaseCluster is the preview of a restore.
func Owns(restore *dbv1.DatabaseRestore, cluster *dbv1.DatabaseCluster) bool {
	for _, owner := range cluster.OwnerReferences {
		if owner.UID == restore.UID && owner.Controller != nil && *owner.Controller {
			return true
		}
	}
	return false
}

func because(text string) RestorePlan { return RestorePlan{Agenda: operation.Agenda{Why: text}} }

func stalled(reason, text string) RestorePlan {
	p := because(text)
	p.Stalled = &situation.Stall{Reason: reason, Message: text}
	return p
}

// create creates the preview once the cluster and the backup are known.
func create(restore *dbv1.DatabaseRestore, seen RestoreFacts, name string) RestorePlan {
	named := restore.Spec.ClusterRef.Name
	switch {
	case seen.Cluster == nil:
		return stalled(dbv1.ReasonClusterMissing, fmt.Sprintf("DatabaseCluster %s, which spec.clusterRef names, does not exist, so its settings are unknown. "+
			"Create a DatabaseCluster with spec.bootstrap.fromBackup instead", named))
	case seen.Engine == nil:
		p := stalled(dbv1.ReasonEngineMissing, fmt.Sprintf("DatabaseEngine %q, which DatabaseCluster %s names in spec.engine, does not exist. Create it",
			seen.Cluster.Spec.Engine, named))
		p.RequeueAfter = situation.MissingRequeue // engines are not watched
		return p
	}
	source, problem := sourceOf(restore, seen)
	if problem != "" {
		return stalled(dbv1.ReasonBackupMissing, problem)
	}
	preview := Preview(restore, seen.Cluster, source, members(source, seen))
	p := because(fmt.Sprintf("creating DatabaseCluster %s with %s", name, describe(source)))
	p.Operations = operation.List{operation.Create{
		Work: operation.Work{Is: operation.Properties{LiveRead: true}, Text: "create " + preview.String(),
			Event: operation.Normal("PreviewCreated", "CreatePreview", "")},
		Objects: []objects.Child{preview},
	}}
	return p
}

// members is how many members the preview needs: one has all data of members with one database.
func members(source dbv1.BackupSource, seen RestoreFacts) int32 {
	if engine.Related(seen.Engine) {
		return 1
	}
	named, found := state.First(seen.Backups, func(b dbv1.DatabaseBackup) bool { return b.Name == source.Name })
	if found && named.Status.Replicas > 0 {
		return named.Status.Replicas
	}
	return seen.Cluster.Spec.Replicas
}

// describe is the source of the data, for messages.
func describe(source dbv1.BackupSource) string {
	text := ""
	switch {
	case source.Name != "":
		text = "DatabaseBackup " + source.Name
	case source.Location != nil:
		text = "the backup at " + source.Location.URL
	}
	switch target := source.RecoveryTarget; {
	case target == nil:
		return "the data of " + text
	case target.Time == "":
		return "the data at the end of the archive, from " + text
	default:
		return fmt.Sprintf("the data of %s, from %s", target.Time, text)
	}
}
