/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// ClusterStorage is the data volume of each member.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.ephemeral) && self.ephemeral && has(self.storageClassName))",message="spec.storage.storageClassName cannot be set together with spec.storage.ephemeral: an ephemeral volume has no storage class"
// +kubebuilder:validation:XValidation:rule="!(has(self.ephemeral) && self.ephemeral && has(self.volumeAttributesClassName))",message="spec.storage.volumeAttributesClassName cannot be set together with spec.storage.ephemeral: an ephemeral volume has no attributes"
// +kubebuilder:validation:XValidation:rule="has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)",message="spec.storage.storageClassName cannot be changed: volumes cannot move to another class. To change the class, restore a backup into a new cluster"
// +kubebuilder:validation:XValidation:rule="(has(self.ephemeral) && self.ephemeral) == (has(oldSelf.ephemeral) && oldSelf.ephemeral)",message="spec.storage.ephemeral cannot be changed after creation"
type ClusterStorage struct {
	// size is the capacity of each member's volume, for example 10Gi. You can raise it while the members run, where
	// the StorageClass allows expansion. You cannot lower it, except to undo a growth that is not done yet.
	// For ephemeral storage it is the size limit.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:text"
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : self.matches('^([0-9]{1,18}([.][0-9]{1,3})?([KMGTPE]i|[kMGTPE]|[eE][0-9]{1,2})?|[0-9]{1,18}m)$') && quantity(self).isGreaterThan(quantity('0'))",message="spec.storage.size must be a quantity greater than zero, for example 10Gi"
	Size resource.Quantity `json:"size"`

	// storageClassName is the StorageClass of the volumes. It cannot be changed.
	// Default: the default StorageClass.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:io.kubernetes:StorageClass"
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$')",message="spec.storage.storageClassName must be the name of a StorageClass: lowercase letters, digits, '-' and '.'"
	StorageClassName *string `json:"storageClassName,omitempty"`

	// volumeAttributesClassName is the VolumeAttributesClass of the volumes, for example with more IOPS. A change
	// modifies the volumes while the members run, if the CSI driver supports it. If you remove the name, existing
	// volumes keep their attributes, and new volumes get those of the StorageClass. It needs an API server that serves
	// VolumeAttributesClasses, as Kubernetes 1.34 and newer do. Default: the attributes of the StorageClass.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:text"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="spec.storage.volumeAttributesClassName must be the name of a VolumeAttributesClass: lowercase letters, digits, '-' and '.'"
	VolumeAttributesClassName string `json:"volumeAttributesClassName,omitempty"`

	// ephemeral stores the data in an emptyDir of the pod instead of a persistent volume, for caches. The data is
	// deleted with the pod. It cannot be changed. Default: false.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:booleanSwitch"
	Ephemeral *bool `json:"ephemeral,omitempty"`
}

// VolumeRecord identifies the claim with the data of a member.
type VolumeRecord struct {
	// claim is the name of the claim.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Claim string `json:"claim"`

	// uid is the UID of the claim. A claim of the same name with another UID does not have the data.
	// +required
	// +kubebuilder:validation:MaxLength=36
	UID string `json:"uid"`

	// labels is Restored if the claim had the labels of the cluster: the operator restores them.
	// +optional
	Labels VolumeLabels `json:"labels,omitempty"`
}

// VolumeLabels is what the operator does about labels that a claim has lost.
// +kubebuilder:validation:Enum=Restored
type VolumeLabels string

// Values of VolumeLabels.
const (
	// VolumeLabelsRestored: the operator restores them.
	VolumeLabelsRestored VolumeLabels = "Restored"
)

// ClusterStorageStatus is the size of the volumes.
type ClusterStorageStatus struct {
	// requested is the largest size in the specs of the claims, for example 10Gi.
	// +required
	Requested resource.Quantity `json:"requested"`

	// capacity is the size of the smallest volume, for example 10Gi. It is empty while no claim is bound.
	// +optional
	Capacity *resource.Quantity `json:"capacity,omitempty"`
}
