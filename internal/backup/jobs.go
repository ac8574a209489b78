/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// backupJob backs up one member; the last one completes the backup.
func backupJob(backup *dbv1.DatabaseBackup, observed Observed, ordinal int32, offline bool) resources.Child {
	cluster, s := observed.Cluster, backup.Status
	arguments := append([]string{"backup", "--to", s.Location, "--id", string(backup.UID)}, member(ordinal, s.Members)...)
	for _, about := range [][2]string{
		{"cluster", cluster.Name}, {"namespace", backup.Namespace}, {"backup", backup.Name},
		{"engine", s.Engine}, {"image", s.Image}, {"clusterUID", s.ClusterUID},
	} {
		arguments = append(arguments, "--about", about[0]+"="+about[1])
	}
	arguments = append(arguments, checkFlags(observed.Engine)...)
	if ordinal == s.Members-1 {
		arguments = append(arguments, "--complete")
	}
	return resources.ActionJob(cluster, withResources(cluster, resources.Action{
		Name:            naming.BackupJob(cluster.Name, backup.UID, ordinal),
		Labels:          naming.BackupJobLabels(backup, dbv1.ComponentBackup),
		Owner:           ownedBy(backup),
		Command:         observed.Engine.Spec.Actions.Backup.Command,
		Transfer:        &resources.Transfer{Image: observed.TransferImage, Arguments: arguments, At: place(backup, cluster)},
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

// member says which part of a backup is meant.
func member(ordinal, members int32) []string {
	return []string{"--member", strconv.Itoa(int(ordinal)), "--members", strconv.Itoa(int(members))}
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
	return resources.ActionJob(bare, resources.Action{
		Name:   naming.BackupDeletionJob(backup.Spec.Cluster, backup.UID),
		Labels: naming.BackupJobLabels(backup, dbv1.ComponentBackupDeletion),
		Transfer: &resources.Transfer{
			Image:     observed.TransferImage,
			Arguments: []string{"delete", "--at", backup.Status.Location, "--id", string(backup.UID)},
			At:        place(backup, observed.Cluster),
		},
		DeadlineSeconds: deletionDeadline(backup),
	})
}

// proofRetries are few: each attempt that failed keeps its volume until the verification has ended.
const proofRetries int32 = 2

// verificationJob restores one member's part into a throw-away copy and asks it. The copy has a part of the time to
// answer: at the deadline of the Job the pod goes, and with it what it could have said.
func verificationJob(backup *dbv1.DatabaseBackup, observed Observed, ordinal int32) resources.Child {
	cluster, s, retries := observed.Cluster, backup.Status, proofRetries
	seconds := int64(proofDeadline(cluster).Seconds())
	restore := append([]string{"restore", "--from", s.Location, "--into", cluster.Spec.DataPath, "--id", string(backup.UID)}, member(ordinal, s.Members)...)
	command, more := question(observed)
	more = append(more, checkFlags(observed.Engine)...)
	return resources.ActionJob(cluster, withResources(cluster, resources.Action{
		Name:    naming.VerificationJob(cluster.Name, backup.UID, s.Verification.Request, ordinal),
		Labels:  naming.BackupJobLabels(backup, dbv1.ComponentVerification),
		Owner:   ownedBy(backup),
		Command: command,
		Transfer: &resources.Transfer{
			Image: observed.TransferImage, Arguments: append([]string{"probe", "--timeout", fmt.Sprintf("%ds", max(seconds/4, 1))}, more...),
		},
		Member: &ordinal,
		Copy: &resources.Copy{
			Restore: resources.Transfer{Arguments: restore, At: place(backup, cluster)},
			Command: observed.Engine.Spec.Actions.Restore.Command,
		},
		Retries:         &retries,
		DeadlineSeconds: seconds,
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
