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

// HookBackup is what the operator uses of the DatabaseBackup that a deletion hook made. How many bytes there are is
// not among it: that would wake the cluster every few seconds.
type HookBackup struct {
	Name    string
	Created metav1.Time
	// Ending tells that it is being deleted; it counts no more, but its name is not free yet.
	Ending bool
	Phase  dbv1.BackupPhase
	// Stuck tells that it waits for what only a human can change.
	Stuck bool
	// Message says what it waits for, what goes on, or why it failed.
	Message string
	// Location is where it is.
	Location string
	// Cluster is the UID of the cluster that was backed up; "" while that is not known.
	Cluster types.UID
	// Fence is the stop of the members before the backup started; "" where they may have run.
	Fence string
	// Elsewhere is true where the object names a destination of its own.
	Elsewhere bool
	// Members is how many members it is of; 0 while that is not known.
	Members int32
	// Done are the ordinals of the members that have been backed up.
	Done []int32
}

// HookBackupOf reads a HookBackup from its DatabaseBackup.
func HookBackupOf(backup *dbv1.DatabaseBackup) HookBackup {
	b := HookBackup{
		Name: backup.Name, Created: backup.CreationTimestamp, Ending: backup.DeletionTimestamp != nil,
		Phase: backup.Status.Phase, Message: backup.Status.Message, Location: backup.Status.Location, Members: backup.Status.Replicas,
		Cluster: types.UID(backup.Status.ClusterUID), Fence: backup.Status.Fence, Elsewhere: backup.Spec.Destination != nil,
		Stuck: meta.IsStatusConditionTrue(backup.Status.Conditions, dbv1.ConditionStalled),
	}
	for _, stream := range backup.Status.Streams {
		b.Done = append(b.Done, stream.Ordinal)
	}
	return b
}
