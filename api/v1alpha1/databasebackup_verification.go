/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BackupVerificationPhase is the phase of a verification.
type BackupVerificationPhase string

// Phases of a verification.
const (
	// VerificationRunning: the operator restores or checks the copy.
	VerificationRunning BackupVerificationPhase = "Running"
	// VerificationSucceeded: the restored copy passed the check.
	VerificationSucceeded BackupVerificationPhase = "Succeeded"
	// VerificationFailed: the restore failed, or the copy did not pass the check.
	VerificationFailed BackupVerificationPhase = "Failed"
)

// BackupVerification is a verification of a backup: a restore into a temporary copy, and a check of the copy.
type BackupVerification struct {
	// request is the value of the annotation database.dbcluster.io/verify that requested the verification.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Request string `json:"request,omitempty"`

	// phase is Running, Succeeded or Failed.
	// +optional
	// +kubebuilder:validation:Enum=Running;Succeeded;Failed
	Phase BackupVerificationPhase `json:"phase,omitempty"`

	// message describes the result of the check, or why the verification failed.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`

	// startTime is the time at which the verification started.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is the time at which the verification finished.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// recovery is the recovery of the copy to a moment after the backup. It is empty unless spec.backup.verification.recover
	// of the DatabaseCluster asked for one.
	// +optional
	Recovery *VerifiedRecovery `json:"recovery,omitempty"`

	// streams are the restored copies, one for each member.
	// +optional
	// +listType=map
	// +listMapKey=ordinal
	// +kubebuilder:validation:MaxItems=16
	Streams []VerifiedStream `json:"streams,omitempty"`
}

// VerifiedStream is the restored copy of the data of one member.
type VerifiedStream struct {
	// ordinal is the number of the member, from 0.
	// +required
	Ordinal int32 `json:"ordinal"`

	// facts are facts about the data of the copy, from the engine's check action.
	// +optional
	// +kubebuilder:validation:MaxProperties=20
	Facts map[string]FactValue `json:"facts,omitempty"`
}

// VerifiedRecovery is the recovery of a restored copy by the archive of the cluster.
type VerifiedRecovery struct {
	// target is Newest, the end of the archive, or Random, a moment before it. It is empty if nothing was recovered.
	// +optional
	// +kubebuilder:validation:Enum=Newest;Random
	Target VerificationRecovery `json:"target,omitempty"`

	// message is why nothing was recovered, or why not to a random moment.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`

	// time is the random moment: the copy gets each commit until then, and no later one.
	// +optional
	Time *metav1.Time `json:"time,omitempty"`

	// recoveredTo is the moment until which the copy has each commit. It is empty until the recovery has succeeded.
	// +optional
	RecoveredTo *metav1.Time `json:"recoveredTo,omitempty"`

	// lastCommitTime is the time of the last commit in the copy. It is empty if the engine does not report it.
	// +optional
	LastCommitTime *metav1.Time `json:"lastCommitTime,omitempty"`

	// recoveredSeconds is the time between the end of the backup and recoveredTo, in seconds.
	// +optional
	RecoveredSeconds int64 `json:"recoveredSeconds,omitempty"`

	// restoreSeconds is how long the restore of the backup took, in seconds.
	// +optional
	RestoreSeconds int64 `json:"restoreSeconds,omitempty"`

	// recoverySeconds is how long the recovery took after the restore, in seconds.
	// +optional
	RecoverySeconds int64 `json:"recoverySeconds,omitempty"`

	// lagSeconds is the time from recoveredTo to the start of the restore, in seconds, of a recovery to the end of the archive. A
	// loss of all volumes at that time would have lost the commits in between.
	// +optional
	LagSeconds *int64 `json:"lagSeconds,omitempty"`
}
