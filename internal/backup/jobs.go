/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// backupJob backs up one member; the last one completes the backup.
func backupJob(backup *dbv1.DatabaseBackup, observed Observed, ordinal int32, offline bool) resources.Child {
	cluster, s, at := observed.Cluster, backup.Status, place(backup, observed.Cluster)
	call := &protocol.Backup{
		To: s.Location, ID: string(backup.UID), Part: part(ordinal, s.Members),
		About: protocol.About{
			protocol.AboutCluster: cluster.Name, protocol.AboutNamespace: backup.Namespace, protocol.AboutBackup: backup.Name,
			protocol.AboutEngine: s.Engine, protocol.AboutImage: s.Image, protocol.AboutClusterUID: s.ClusterUID,
		},
		Check: checkCommand(observed.Engine), Complete: ordinal == s.Members-1,
		Store: resources.Store(at), Command: observed.Engine.Spec.Actions.Backup.Command,
	}
	return resources.ActionJob(cluster, withResources(cluster, resources.Action{
		Name:            naming.BackupJob(cluster.Name, backup.UID, ordinal),
		Labels:          naming.BackupJobLabels(backup, dbv1.ComponentBackup),
		Owner:           ownedBy(backup),
		Transfer:        &resources.Transfer{Image: observed.TransferImage, Call: call, At: at},
		Member:          &ordinal,
		Offline:         offline,
		DeadlineSeconds: int64(deadline(cluster).Seconds()),
	}))
}

// withResources gives the Job what the spec says of backups.
func withResources(cluster *dbv1.DatabaseCluster, action resources.Action) resources.Action {
	if cluster.Spec.Backup != nil {
		action.Resources = cluster.Spec.Backup.Resources
	}
	return action
}

// part says which part of a backup is meant.
func part(ordinal, members int32) protocol.Part {
	return protocol.Part{Member: int(ordinal), Members: int(members)}
}

// deletionDeadline is how long a destination may be out of reach: a week before a human has to act, an hour where the
// backup goes without its data being wanted gone, which leaves what is of no use.
func deletionDeadline(backup *dbv1.DatabaseBackup) int64 {
	if backup.Spec.DeletionPolicy == dbv1.BackupDelete {
		return 7 * 24 * 60 * 60
	}
	return 60 * 60
}

// deletionJob deletes the data. It runs in the image that holds transfer: the database's may be gone, as the cluster
// and what it names. Of a cluster that is still there it takes what lets pods run where they have to. It runs as the
// user who wrote the data: on a volume nobody else may delete it. Nothing owns the Job: it has to run while the backup
// goes.
func deletionJob(backup *dbv1.DatabaseBackup, observed Observed) resources.Child {
	bare := &dbv1.DatabaseCluster{}
	bare.Namespace, bare.Name = backup.Namespace, backup.Spec.Cluster
	bare.Spec.Image = observed.TransferImage
	if cluster := observed.Cluster; cluster != nil {
		bare.Spec.ImagePullSecrets = cluster.Spec.ImagePullSecrets
		bare.Spec.Scheduling, bare.Spec.PodSecurityContext = cluster.Spec.Scheduling, cluster.Spec.PodSecurityContext
	} else if observed.Engine != nil {
		bare.Spec.PodSecurityContext = &corev1.PodSecurityContext{RunAsUser: observed.Engine.Spec.Container.RunAsUser}
	}
	at := place(backup, observed.Cluster)
	return resources.ActionJob(bare, resources.Action{
		Name:   naming.BackupDeletionJob(backup.Spec.Cluster, backup.UID),
		Labels: naming.BackupJobLabels(backup, dbv1.ComponentBackupDeletion),
		Transfer: &resources.Transfer{
			Image: observed.TransferImage,
			Call:  &protocol.Delete{At: backup.Status.Location, ID: string(backup.UID), Store: resources.Store(at)},
			At:    at,
		},
		DeadlineSeconds: deletionDeadline(backup),
	})
}

// proofRetries are few: each attempt that failed keeps its volume until the verification has ended.
const proofRetries int32 = 2

// verificationJob restores one member's part into a throw-away copy and asks it. The copy has a part of the time to
// answer: at the deadline of the Job the pod goes, and with it what it could have said.
func verificationJob(backup *dbv1.DatabaseBackup, observed Observed, ordinal int32) resources.Child {
	cluster, s, retries, at := observed.Cluster, backup.Status, proofRetries, place(backup, observed.Cluster)
	limit := proofDeadline(cluster)
	command, byExitCode := question(observed)
	probe := &protocol.Probe{
		Timeout: max(limit/4, time.Second).Truncate(time.Second), ByExitCode: byExitCode, Check: checkCommand(observed.Engine), Command: command,
	}
	restore := &protocol.Restore{
		From: s.Location, ID: string(backup.UID), Into: cluster.Spec.DataPath, Part: part(ordinal, s.Members),
		Store: resources.Store(at), Command: observed.Engine.Spec.Actions.Restore.Command,
	}
	return resources.ActionJob(cluster, withResources(cluster, resources.Action{
		Name:            naming.VerificationJob(cluster.Name, backup.UID, s.Verification.Request, ordinal),
		Labels:          naming.BackupJobLabels(backup, dbv1.ComponentVerification),
		Owner:           ownedBy(backup),
		Transfer:        &resources.Transfer{Image: observed.TransferImage, Call: probe},
		Member:          &ordinal,
		Copy:            &resources.Copy{Restore: resources.Transfer{Call: restore, At: at}},
		Retries:         &retries,
		DeadlineSeconds: int64(limit.Seconds()),
	}))
}

// ownedBy makes an object go when the backup goes.
func ownedBy(backup *dbv1.DatabaseBackup) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(dbv1.GroupVersion.String()).
		WithKind("DatabaseBackup").
		WithName(backup.Name).
		WithUID(backup.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}
