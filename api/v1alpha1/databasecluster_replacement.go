/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterReplacementStatus is how a DatabaseRestore replaces the data of a cluster. The data is restored into other volumes, while the
// members run. Then the members stop, and start with these volumes. The volumes from before are retained, until the DatabaseRestore is
// deleted.
type ClusterReplacementStatus struct {
	// restoreRef is the DatabaseRestore that replaces the data, or has replaced it. It is empty after it is deleted.
	// +optional
	RestoreRef *ReplacementRestoreRef `json:"restoreRef,omitempty"`

	// stage is Restoring, Switching or Completed.
	// +optional
	// +kubebuilder:validation:Enum=Restoring;Switching;Completed
	Stage ReplacementStage `json:"stage,omitempty"`

	// reason is why the replacement needs an action of the user; empty for none. The message has the remedy.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Reason string `json:"reason,omitempty"`

	// message describes the progress, or what it waits for.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`

	// failure is why the restore into the other volumes has failed; empty if it has not. It is final: the operator does not start this
	// restore again. Another DatabaseRestore can replace the data after that in restoreRef is deleted.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Failure string `json:"failure,omitempty"`

	// volumeClaimTemplate is the name of the volumeClaimTemplate whose claims the members use: the claim of a pod is
	// VOLUMECLAIMTEMPLATE-POD.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	VolumeClaimTemplate string `json:"volumeClaimTemplate,omitempty"`

	// otherVolumeClaimTemplate is the name of the volumeClaimTemplate of the other volumes: those that are being restored, or are retained.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	OtherVolumeClaimTemplate string `json:"otherVolumeClaimTemplate,omitempty"`

	// switchedAt is when the members got these volumes. The first schedule that is not suspended then creates a backup once, because
	// the backups from before have other data.
	// +optional
	SwitchedAt *metav1.Time `json:"switchedAt,omitempty"`

	// pastRestores are the names of the last DatabaseRestores that have replaced the data, in this order. One that is created again with
	// such a name does not replace it again.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=63
	PastRestores []string `json:"pastRestores,omitempty"`

	// restore is the progress or the result of the restore into the other volumes.
	// +optional
	Restore *ClusterRestoreStatus `json:"restore,omitempty"`
}

// ReplacementRestoreRef names a DatabaseRestore.
type ReplacementRestoreRef struct {
	// name is the name of the DatabaseRestore.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// uid is the UID of the DatabaseRestore: another one of the same name replaces nothing.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	UID string `json:"uid"`
}

// ReplacementStage is how far a replacement is.
type ReplacementStage string

// Stages of a replacement.
const (
	// ReplacementRestoring: Jobs restore the data into other volumes, while the members run.
	ReplacementRestoring ReplacementStage = "Restoring"
	// ReplacementSwitching: the members stop, to start with the other volumes.
	ReplacementSwitching ReplacementStage = "Switching"
	// ReplacementCompleted: the cluster uses the volumes that the DatabaseRestore asks for.
	ReplacementCompleted ReplacementStage = "Completed"
)
