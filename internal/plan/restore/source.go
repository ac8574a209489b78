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

// Stalled is the stall of a restore that cannot continue until the user acts: an unusable source, or a failed Job.
func Stalled(s *situation.Situation) *situation.Stall {
	if text := Failure(s); text != "" {
		return &situation.Stall{Reason: dbv1.ReasonRestoreFailed, Message: fmt.Sprintf("%s. That is final: create another DatabaseRestore, and "+
			"delete DatabaseRestore %s", text, s.Cluster.Status.Replacement.RestoreRef.Name)}
	}
	r, left := of(s)
	if !left {
		return nil
	}
	if i := slices.IndexFunc(r.Restoration.Own, state.Volume.IsPlain); i >= 0 {
		return &situation.Stall{Reason: dbv1.ReasonVolumeConflict, Message: fmt.Sprintf(
			"PersistentVolumeClaim %s was not created for this restore, and the operator never restores over existing data. Delete the claim, or "+
				"remove spec.bootstrap",
			r.Restoration.Own[i].Claim)}
	}
	if state.FromBackup(s.Cluster) == nil && !r.Initializes {
		return nil
	}
	text, reason := "", dbv1.ReasonInitializeFailed
	if !r.Initializes {
		text, reason = r.sourceProblem(), dbv1.ReasonRestoreFailed
	}
	switch {
	case text != "":
	case s.Image == "":
		text = r.asked() + "the operator cannot fill volumes, because its flag --transfer-image is not set. Set it to the image that contains " +
			"the transfer program"
	case r.Search != nil:
		return r.searchStall()
	default:
		r = r.judge()
		text = r.failure()
	}
	if text == "" {
		return r.blocked()
	}
	return &situation.Stall{Reason: reason, Message: text}
}

// asked is the field that asks for a restore, for messages.
func (r restore) asked() string {
	if r.Initializes {
		return "spec.engine: "
	}
	return state.SourceField(r.Cluster, "") + ": "
}

// sourceProblem returns why a backup cannot be restored into this cluster; "" if no problem is known.
func (r restore) sourceProblem() string {
	cluster, observed := r.Cluster, r.Restore
	if name := state.FromBackup(cluster).Name; name != "" {
		if text := r.backupProblem(observed.Backup); text != "" {
			return text
		}
	}
	if text := r.newestProblem(); text != "" {
		return text
	}
	if source := state.ReadsFrom(cluster, observed.Backup); source != nil && state.NamesNoCredentials(source) {
		return fmt.Sprintf("%s: the backup at %s cannot be read, because its destination names no credentials. "+
			"Set %s with credentialsSecretName or with credentialSource: WorkloadIdentity", state.SourceField(cluster, ""), source.URL,
			r.destination())
	}
	if len(observed.Missing) == 0 {
		return ""
	}
	missing := observed.Missing[0]
	return fmt.Sprintf("%s %s, which the backup in %s needs, does not exist. Create it, or set %s to use another one",
		missing.Kind, missing.Name, state.SourceField(cluster, ""), r.destination())
}

// destination is the field with the access to the backup.
func (r restore) destination() string {
	if state.SearchedFolder(r.Cluster) != nil {
		return state.SourceField(r.Cluster, ".newest.destination")
	}
	return state.SourceField(r.Cluster, ".location")
}

// backupProblem returns why a DatabaseBackup cannot be restored.
func (r restore) backupProblem(backup *dbv1.DatabaseBackup) string {
	named := fmt.Sprintf("DatabaseBackup %s, which %s names,", state.FromBackup(r.Cluster).Name,
		state.SourceField(r.Cluster, ".name"))
	if backup == nil {
		return named + " does not exist. Name a DatabaseBackup of this namespace. If only its files are left, set " +
			state.SourceField(r.Cluster, ".location") + " instead, with their location as url"
	}
	status := backup.Status
	switch {
	case backup.DeletionTimestamp != nil:
		return named + " is terminating. Name another backup"
	case status.Phase == dbv1.BackupFailed:
		return fmt.Sprintf("%s failed and contains no data. Name another backup. Cause of the failure: %s", named, status.Message)
	case !status.Phase.Finished():
		return "" // waits
	case status.Destination == nil || status.Location == "":
		return named + " does not record the location of its data. Name another backup, or set " + state.SourceField(r.Cluster, ".location")
	}
	return r.unsuitable(named, status)
}

// unsuitable returns why a backup is incompatible with the cluster.
func (r restore) unsuitable(named string, status dbv1.DatabaseBackupStatus) string {
	cluster := r.Cluster
	another := status.Engine != cluster.Spec.Engine
	switch {
	case another && !r.readsBackupsOf(status.Engine):
		return fmt.Sprintf("%s is a backup of engine %q, but spec.engine is %q. Set spec.engine to %q, or name another backup", named,
			status.Engine, cluster.Spec.Engine, status.Engine)
	case another && r.Related() && status.Replicas > 1:
		return fmt.Sprintf(
			"%s has %d databases, one of each member of engine %q, and the members of spec.engine %q have one together. Name another backup",
			named, status.Replicas, status.Engine, cluster.Spec.Engine)
	case !r.Related() && status.Replicas != cluster.Spec.Replicas:
		return fmt.Sprintf(
			"%s has data of %d members, but spec.replicas is %d. Set spec.replicas to %d; you can change it after the members have started",
			named, status.Replicas, cluster.Spec.Replicas, status.Replicas)
	}
	return ""
}

// readsBackupsOf reports whether the engine of the cluster declares that it restores backups of another one.
func (r restore) readsBackupsOf(name string) bool {
	return r.Engine != nil && slices.Contains(r.Engine.Spec.RestoresFrom, name)
}

// sourceText describes the wait while the source is unknown.
func sourceText(cluster *dbv1.DatabaseCluster, backup *dbv1.DatabaseBackup) string {
	if backup == nil {
		return "deleting the objects of a restore that the spec no longer asks for"
	}
	phase := backup.Status.Phase
	if phase == "" {
		phase = dbv1.BackupPending
	}
	return fmt.Sprintf("waiting for DatabaseBackup %s, which %s names, to complete; its phase is %s", state.FromBackup(cluster).Name,
		state.SourceField(cluster, ".name"), phase)
}

// HalfRestored is the stall of a volume that a member would use and that contains only part of a backup.
func HalfRestored(s *situation.Situation) *situation.Stall {
	claim, found := s.HalfRestored()
	if !found {
		return nil
	}
	return &situation.Stall{Reason: dbv1.ReasonVolumeConflict, Message: fmt.Sprintf(
		"PersistentVolumeClaim %s contains only part of its first data: its restore or its creation did not finish. Delete the claim; its "+
			"member then starts with an empty volume",
		claim)}
}
