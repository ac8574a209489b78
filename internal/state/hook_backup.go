/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// HookBackup is the part of a deletion hook's DatabaseBackup that decisions use. It excludes the number of bytes, which would
// trigger a pass of the cluster every few seconds.
type HookBackup struct {
	Name    string
	Created metav1.Time
	// Ending is true if it is being deleted. It no longer counts, but its name is still in use.
	Ending bool
	Phase  dbv1.BackupPhase
	// Stuck is true if it waits for an action of the user.
	Stuck bool
	// Message describes its progress, what it waits for, or why it failed.
	Message string
	// Location is the location of its data.
	Location string
	// Cluster is the UID of the cluster that was backed up; "" while it is unknown.
	Cluster types.UID
	// Fence identifies the stop of the members before the backup started; "" if they may have run.
	Fence string
	// Template is the volumeClaimTemplate of the volumes that were backed up; "" for the first ones of the cluster.
	Template string
	// Elsewhere is true if it has its own spec.destination.
	Elsewhere bool
	// Members is the number of members in it; 0 while it is unknown.
	Members int32
	// Done are the ordinals of the members that have been backed up.
	Done []int32
}

// HookBackupOf returns the HookBackup of a DatabaseBackup.
func HookBackupOf(backup *dbv1.DatabaseBackup) HookBackup {
	b := HookBackup{
		Name: backup.Name, Created: backup.CreationTimestamp, Ending: backup.DeletionTimestamp != nil,
		Phase: backup.Status.Phase, Message: backup.Status.Message, Location: backup.Status.Location, Members: backup.Status.Replicas,
		Cluster: types.UID(backup.Status.ClusterUID), Fence: backup.Status.Fence, Elsewhere: backup.Spec.Destination != nil,
		Template: backup.Status.VolumeClaimTemplate,
		Stuck:    meta.IsStatusConditionTrue(backup.Status.Conditions, dbv1.ConditionStalled),
	}
	for _, stream := range backup.Status.Streams {
		b.Done = append(b.Done, stream.Ordinal)
	}
	return b
}
