/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DatabaseRestore brings back the data that a DatabaseCluster had at a moment. With mode Preview, the operator creates another
// DatabaseCluster with that data, beside the cluster, which does not change. With mode Replace, the cluster itself gets the data, and
// its volumes from before are retained. With mode Undo, it gets these back. Delete this object to delete the preview, and the volumes
// that the cluster does not use.
//
// +operator-sdk:csv:customresourcedefinitions:displayName="Database Restore",order=4,resources={{DatabaseCluster,v1alpha1,""},{DatabaseBackup,v1alpha1,""},{Event,v1,""}}
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=dbr,categories=all;dbcluster
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterRef.name`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Recovered-To",type=string,JSONPath=`.status.recoveredTo`,description="The moment until which the preview has each commit, by the archive"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Backup",type=string,JSONPath=`.status.backupRef.name`,priority=1
// +kubebuilder:printcolumn:name="Preview",type=string,JSONPath=`.status.previewRef.name`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]{0,30}[a-z0-9])?$')",message="metadata.name must start with a letter and have at most 32 lowercase letters, digits and '-', because the preview is a DatabaseCluster with the suffix -preview"
type DatabaseRestore struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The name is at most 32 characters long.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec names the cluster and the data.
	// +required
	Spec DatabaseRestoreSpec `json:"spec"`

	// status is the observed state of the restore.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status DatabaseRestoreStatus `json:"status,omitzero"`
}

// DatabaseRestoreList is a list of DatabaseRestores.
//
// +kubebuilder:object:root=true
type DatabaseRestoreList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []DatabaseRestore `json:"items"`
}

// RestoreMode is what the operator does with the data.
type RestoreMode string

// Modes of a restore.
const (
	// RestorePreview means that the operator creates another DatabaseCluster with the data.
	RestorePreview RestoreMode = "Preview"
	// RestoreReplace means that the cluster gets the data. Its volumes from before are retained.
	RestoreReplace RestoreMode = "Replace"
	// RestoreUndo means that the cluster gets its volumes from before back. The volumes with the data are retained.
	RestoreUndo RestoreMode = "Undo"
)

// DatabaseRestoreSpec is the desired state of a DatabaseRestore.
//
// +kubebuilder:validation:XValidation:rule="self.clusterRef == oldSelf.clusterRef",message="spec.clusterRef cannot be changed: create another DatabaseRestore"
// +kubebuilder:validation:XValidation:rule="has(self.source) == has(oldSelf.source) && (!has(self.source) || self.source == oldSelf.source)",message="spec.source cannot be changed: create another DatabaseRestore"
// +kubebuilder:validation:XValidation:rule="(has(self.mode) ? self.mode : 'Preview') != 'Preview' || (has(oldSelf.mode) ? oldSelf.mode : 'Preview') == 'Preview'",message="spec.mode cannot become Preview again: set it to Undo, or delete this DatabaseRestore"
type DatabaseRestoreSpec struct {
	// clusterRef names the DatabaseCluster, in the same namespace. The preview has its engine, image, storage and parameters.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	ClusterRef RestoreClusterRef `json:"clusterRef"`

	// source is the data. Default: the newest complete backup of the cluster.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Source RestoreSource `json:"source,omitzero"`

	// mode is what happens with the data. Preview: the operator creates another DatabaseCluster with the data, and does not change the
	// cluster. Replace: it restores the data into new volumes while the members run, then stops the members, and starts them with these
	// volumes. Later writes than the data has are only in the volumes from before, which are retained. Undo: it stops the members again,
	// and starts them with the volumes from before. Replace and Undo can follow each other. Default: Preview.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:default=Preview
	// +kubebuilder:validation:Enum=Preview;Replace;Undo
	Mode RestoreMode `json:"mode,omitempty"`
}

// RestoreClusterRef names a DatabaseCluster.
type RestoreClusterRef struct {
	// name is the name of the DatabaseCluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="name must be the name of a DatabaseCluster: lowercase letters, digits and '-', with a letter first"
	Name string `json:"name"`
}

// RestoreBackupRef names a DatabaseBackup.
type RestoreBackupRef struct {
	// name is the name of the DatabaseBackup.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="name must be the name of a DatabaseBackup: lowercase letters, digits and '-'"
	Name string `json:"name"`
}

// RestoreSource is the data of a restore.
//
// +kubebuilder:validation:XValidation:rule="!has(self.backupRef) || !has(self.location)",message="spec.source must not have both backupRef, the name of a DatabaseBackup, and location"
// +kubebuilder:validation:XValidation:rule="!has(self.recoveryTarget) || !has(self.recoveryTarget.name) || has(self.backupRef) || has(self.location)",message="spec.source.recoveryTarget.name needs backupRef or location, of a backup before that point"
type RestoreSource struct {
	// backupRef names a DatabaseBackup in the same namespace. Default: the newest complete backup of the cluster, with
	// recoveryTarget.time the newest one that was complete before that time; without those whose last verification failed.
	// +optional
	BackupRef *RestoreBackupRef `json:"backupRef,omitempty"`

	// location is the location of a backup whose DatabaseBackup no longer exists. Its url is the status.location of that
	// DatabaseBackup.
	// +optional
	Location *BackupDestination `json:"location,omitempty"`

	// recoveryTarget is the moment after the backup, by the archive beside the backup. The engine needs the action recover.
	// status.recovery of the cluster has the times that can be recovered. Default: the data of the backup.
	// +optional
	RecoveryTarget *RecoveryTarget `json:"recoveryTarget,omitempty"`
}

// DatabaseRestoreStatus is the observed state of a DatabaseRestore.
type DatabaseRestoreStatus struct {
	// conditions are Ready and Stalled. Ready is True when the preview is ready, or the cluster has the volumes of spec.mode and is
	// available. Stalled is True when the restore needs an action of the user.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,xDescriptors="urn:alm:descriptor:io.kubernetes.conditions"
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the operator has observed.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// backupRef names the DatabaseBackup with which the restore begins. It is empty with spec.source.location.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	BackupRef *RestoreBackupRef `json:"backupRef,omitempty"`

	// previewRef names the DatabaseCluster with the data.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	PreviewRef *RestoreClusterRef `json:"previewRef,omitempty"`

	// clusterUID is the UID of the cluster whose data is replaced. It is empty with mode Preview.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=63
	ClusterUID string `json:"clusterUID,omitempty"` //nolint:tagliatelle // as Kubernetes spells it, for example podUID

	// retainedVolumeClaimTemplate is the name of the volumeClaimTemplate of the volumes that the cluster does not use. They are deleted
	// with this object: the claim of a pod is RETAINEDVOLUMECLAIMTEMPLATE-POD.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=63
	RetainedVolumeClaimTemplate string `json:"retainedVolumeClaimTemplate,omitempty"`

	// replacedAt is since when the cluster is available with the restored data; empty after mode Undo is set. If this object is deleted
	// before that, the volumes from before are retained until you decide. If the cluster is deleted, too, they stay.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	ReplacedAt *metav1.Time `json:"replacedAt,omitempty"`

	// recoveredTo is the moment until which the data has each commit, by the archive. It is empty without a recoveryTarget. For
	// recoveryTarget.name, it is the time at which the point was created.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	RecoveredTo *metav1.Time `json:"recoveredTo,omitempty"`

	// lastCommitTime is the time of the last commit in the data. It is empty without a recoveryTarget, and if the engine does not report
	// it.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	LastCommitTime *metav1.Time `json:"lastCommitTime,omitempty"`
}
