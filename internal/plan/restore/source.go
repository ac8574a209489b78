/*
SPDX-License-Identifier: Apache-2.0
*/

package restore

import (
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Stalled is the restore that waits for a human: a source that cannot be used, a Job that failed.
func Stalled(s *situation.Situation) *situation.Stall {
	r, left := of(s)
	if !left {
		return nil
	}
	if i := slices.IndexFunc(r.Restoration.Own, state.Volume.IsPlain); i >= 0 {
		return &situation.Stall{Reason: dbv1.ReasonVolumesRetained, Message: fmt.Sprintf(
			"PersistentVolumeClaim %s was not made for the restore that has begun, and a backup is never restored over data; delete the claim, or take spec.bootstrap out of the spec",
			r.Restoration.Own[i].Claim)}
	}
	if state.FromBackup(s.Cluster) == nil {
		return nil
	}
	text := sourceProblem(s.Cluster, s.Restore)
	switch {
	case text != "":
	case s.Image == "":
		text = "spec.bootstrap.fromBackup: the operator cannot restore, because it was started without --transfer-image, the image that holds its transfer program"
	default:
		r = r.judge()
		text = r.failure()
	}
	if text == "" {
		return r.blocked()
	}
	return &situation.Stall{Reason: dbv1.ReasonRestoreFailed, Message: text}
}

// sourceProblem says why a backup cannot be restored into this cluster; "" where nothing is known against it.
func sourceProblem(cluster *dbv1.DatabaseCluster, observed state.Restore) string {
	if name := state.FromBackup(cluster).Name; name != "" {
		if text := backupProblem(cluster, observed.Backup); text != "" {
			return text
		}
	}
	if source := state.SourceOf(cluster, observed.Backup); source != nil && state.NamesNoCredentials(source) {
		return fmt.Sprintf("spec.bootstrap.fromBackup: the backup at %s cannot be read, because its destination names no credentials: "+
			"give spec.bootstrap.fromBackup.location with credentialsSecretName or credentialSource: WorkloadIdentity", source.URL)
	}
	if len(observed.Missing) == 0 {
		return ""
	}
	missing := observed.Missing[0]
	return fmt.Sprintf("%s %s, by which the backup of spec.bootstrap.fromBackup is reached, does not exist: create it, or give spec.bootstrap.fromBackup.location with another one",
		missing.Kind, missing.Name)
}

// backupProblem says why a DatabaseBackup cannot be restored.
func backupProblem(cluster *dbv1.DatabaseCluster, backup *dbv1.DatabaseBackup) string {
	named := fmt.Sprintf("DatabaseBackup %s, which spec.bootstrap.fromBackup.name names,", state.FromBackup(cluster).Name)
	if backup == nil {
		return named + " does not exist: name one of this namespace, or give spec.bootstrap.fromBackup.location, where url is what its status.location was"
	}
	status := backup.Status
	switch {
	case backup.DeletionTimestamp != nil:
		return named + " is being deleted: name another"
	case status.Phase == dbv1.BackupFailed:
		return fmt.Sprintf("%s has failed and holds nothing: name another. It says: %s", named, status.Message)
	case !status.Phase.Finished():
		return "" // waits
	case status.Destination == nil || status.Location == "":
		return named + " does not say where its data is: name another, or give spec.bootstrap.fromBackup.location"
	case status.Engine != cluster.Spec.Engine:
		return fmt.Sprintf("%s is one of engine %q, and spec.engine is %q: set that to %q, or name another backup", named, status.Engine, cluster.Spec.Engine, status.Engine)
	case status.Replicas != cluster.Spec.Replicas:
		return fmt.Sprintf("%s is of a cluster of %d, and spec.replicas is %d: set that to %d; it can be changed once the members have started",
			named, status.Replicas, cluster.Spec.Replicas, status.Replicas)
	}
	return ""
}

// sourceText says what it waits for while the source is not known.
func sourceText(cluster *dbv1.DatabaseCluster, backup *dbv1.DatabaseBackup) string {
	if backup == nil {
		return "removing what a restore has left that is wanted no more"
	}
	phase := backup.Status.Phase
	if phase == "" {
		phase = dbv1.BackupPending
	}
	return fmt.Sprintf("waiting for DatabaseBackup %s, which spec.bootstrap.fromBackup.name names and which is %s, to be complete",
		state.FromBackup(cluster).Name, phase)
}

// HalfRestored is the stall of a volume that a member would take up and that holds only a part of a backup.
func HalfRestored(s *situation.Situation) *situation.Stall {
	claim, found := s.HalfRestored()
	if !found {
		return nil
	}
	return &situation.Stall{Reason: dbv1.ReasonVolumesRetained, Message: fmt.Sprintf(
		"PersistentVolumeClaim %s holds a part of a backup: the restore into it never came to its end; delete the claim, its member then starts with an empty volume",
		claim)}
}
