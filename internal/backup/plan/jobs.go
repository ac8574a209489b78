/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// backupJob backs up the part of a member, from a source that has its data. The last part completes the backup.
func (s situation) backupJob(ordinal, source int32, offline bool) objects.Child {
	cluster, backup, is := s.Cluster, s.backup, s.backup.Status
	call := &protocol.Backup{
		To: is.Location, ID: string(backup.UID), Part: part(ordinal, is.Replicas),
		About: protocol.About{
			protocol.AboutCluster: cluster.Name, protocol.AboutNamespace: backup.Namespace, protocol.AboutBackup: backup.Name,
			protocol.AboutEngine: is.Engine, protocol.AboutImage: is.Image,
			protocol.AboutClusterUID: naming.Lineage(is.ClusterUID, is.VolumeClaimTemplate),
		},
		Index: reuses(cluster), Reuse: s.reused(),
		Check: checkOf(s.Engine).Command, Complete: ordinal == is.Replicas-1,
		Store: jobs.Store(s.place), Compression: jobs.Compression(cluster), Command: s.Engine.Spec.Actions.Backup.Command,
	}
	return jobs.Build(cluster, jobs.Spec{
		Name:     naming.BackupJob(cluster.Name, backup.UID, ordinal),
		Kind:     backupAction,
		Labels:   naming.BackupJobLabels(backup, backupAction.Component),
		Owner:    ownedBy(backup),
		Transfer: &jobs.Transfer{Image: s.TransferImage, Call: call, At: s.place},
		Member:   &source,
		Offline:  offline,
	})
}

// part identifies the part of a backup.
func part(ordinal, members int32) protocol.Part {
	return protocol.Part{Member: int(ordinal), Members: int(members)}
}

// deletionDeadline is how long a destination may be unreachable. If the policy retains the data of complete
// backups, the deadline is shorter: the deletion leaves only an incomplete backup behind.
func (s situation) deletionDeadline() time.Duration {
	if s.backup.Spec.DeletionPolicy == dbv1.BackupDelete {
		return deletionAction.Deadline(s.Cluster)
	}
	return time.Hour
}

// deletionJob deletes the data. It runs in the image with transfer, because the database's image, the cluster and
// its objects may no longer exist. If the cluster exists, the Job uses its scheduling rules, pull secrets and resources.
//
// It runs as the user who wrote the data: on a volume no other user may delete it. It has no owner, because it must
// run during the deletion of the backup.
func (s situation) deletionJob() objects.Child {
	backup, bare := s.backup, &dbv1.DatabaseCluster{}
	bare.Namespace, bare.Name = backup.Namespace, backup.Spec.Cluster
	bare.Spec.Image = s.TransferImage
	if cluster := s.Cluster; cluster != nil {
		bare.Spec.Pod.ImagePullSecrets, bare.Spec.Backup = cluster.Spec.Pod.ImagePullSecrets, cluster.Spec.Backup
		bare.Spec.Scheduling, bare.Spec.Pod.SecurityContext = cluster.Spec.Scheduling, cluster.Spec.Pod.SecurityContext
	} else if s.Engine != nil {
		bare.Spec.Pod.SecurityContext = &corev1.PodSecurityContext{RunAsUser: s.Engine.Spec.Container.RunAsUser}
	}
	bare.Spec.ServiceAccount = s.deletionAccount()
	return jobs.Build(bare, jobs.Spec{
		Name:   naming.BackupDeletionJob(backup.Spec.Cluster, backup.UID),
		Kind:   deletionAction,
		Labels: naming.BackupJobLabels(backup, deletionAction.Component),
		Transfer: &jobs.Transfer{
			Image: s.TransferImage,
			Call:  &protocol.Delete{At: backup.Status.Location, ID: string(backup.UID), Store: jobs.Store(s.place)},
			At:    s.place,
		},
		DeadlineSeconds: int64(s.deletionDeadline().Seconds()),
	})
}

// deletionAccount is the ServiceAccount that may delete the data; empty for the default. Without the cluster, its
// ServiceAccount may not exist either, so the Job names it only if the destination needs it.
func (s situation) deletionAccount() dbv1.ClusterServiceAccount {
	switch {
	case s.Cluster != nil:
		return s.Cluster.Spec.ServiceAccount
	case s.place != nil && s.place.CredentialSource == dbv1.CredentialsWorkloadIdentity:
		return dbv1.ClusterServiceAccount{Name: s.backup.Status.ServiceAccountName}
	default:
		return dbv1.ClusterServiceAccount{}
	}
}

// verificationJob restores one member's part into a temporary copy, which it may recover, and probes it. The copy has a fraction of the
// deadline to answer: at the deadline of the Job the pod is deleted, and its result is lost.
func (s situation) verificationJob(ordinal int32) objects.Child {
	cluster, backup, is := s.Cluster, s.backup, s.backup.Status
	command, byExitCode := s.question()
	probe := &protocol.Probe{
		Timeout: max(verificationAction.Deadline(s.Cluster)/4, time.Second).Truncate(time.Second), ByExitCode: byExitCode,
		Check: checkOf(s.Engine).Command, Command: command,
	}
	restore := &protocol.Restore{
		From: is.Location, ID: string(backup.UID), Into: cluster.Spec.Container.DataPath, Part: part(ordinal, is.Replicas),
		Store: jobs.Store(s.place), Command: s.Engine.Spec.Actions.Restore.Command,
	}
	replays := s.replays(restore)
	return jobs.Build(cluster, jobs.Spec{
		Name:     naming.VerificationJob(cluster.Name, backup.UID, is.Verification.Request, ordinal),
		Kind:     verificationAction,
		Labels:   naming.BackupJobLabels(backup, verificationAction.Component),
		Owner:    ownedBy(backup),
		Transfer: &jobs.Transfer{Image: s.TransferImage, Call: probe},
		Member:   &ordinal,
		Copy:     &jobs.Copy{Restore: jobs.Transfer{Call: restore, At: s.place}, Replays: replays},
	})
}

// ownedBy is the owner reference by which an object is garbage-collected with the backup.
func ownedBy(backup *dbv1.DatabaseBackup) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(dbv1.GroupVersion.String()).
		WithKind("DatabaseBackup").
		WithName(backup.Name).
		WithUID(backup.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}
