/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterRecoveryStatus is what can be recovered from the continuous archive and the backups beside it. The operator reads it from the
// destination after each backup.
type ClusterRecoveryStatus struct {
	// oldest is the earliest time that can be recovered; empty if none can.
	// +optional
	Oldest *metav1.Time `json:"oldest,omitempty"`

	// newest is the latest time that the operator saw. Later ones follow while ContinuousArchiving is True.
	// +optional
	Newest *metav1.Time `json:"newest,omitempty"`

	// ranges are the times that can be recovered, oldest first: at most the 16 newest ranges. Between two of them, log or a backup is
	// missing.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Ranges []RecoveryRange `json:"ranges,omitempty"`

	// needsBackupSince is since when the operator knows that no usable backup begins in the log that is archived now. Until there is one,
	// nothing of now can be recovered. The first schedule that is not suspended creates it once.
	// +optional
	NeedsBackupSince *metav1.Time `json:"needsBackupSince,omitempty"`

	// backups are the names of the DatabaseBackups that spec.backup.archive.windowHours needs, oldest first. No schedule deletes them, nor one
	// that was completed after checkedAt. With a window and no name, no schedule deletes any.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Backups []string `json:"backups,omitempty"`

	// unusableBackups are the names of complete DatabaseBackups with which no recovery can start, or it is unknown whether one can. For
	// example, a failover lost the log at their end, or a part of them is missing. A DatabaseRestore to a time chooses another one, if there
	// is one. The newest is first, and at most 16 are listed. A restore without the archive does not depend on it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	UnusableBackups []string `json:"unusableBackups,omitempty"`

	// location is the URL of the archive.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	Location string `json:"location"`

	// archiveBytes is the size of the archive in bytes.
	// +optional
	ArchiveBytes int64 `json:"archiveBytes,omitempty"`

	// checkedAt is when the operator began to read the destination.
	// +required
	CheckedAt metav1.Time `json:"checkedAt"`

	// message is what prevents a recovery, or the deletion of log; empty for nothing.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`
}

// RecoveryRange is a range of times that can be recovered, each of them.
type RecoveryRange struct {
	// oldest is the end of a backup.
	// +required
	Oldest metav1.Time `json:"oldest"`

	// newest is the time until which the archive has every commit.
	// +required
	Newest metav1.Time `json:"newest"`
}
