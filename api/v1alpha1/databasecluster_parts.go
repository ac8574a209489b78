/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ClusterHelpers are the containers that the operator adds to run actions of the engine and to read the version of the database.
type ClusterHelpers struct {
	// resources are the CPU and memory of each of these containers. spec.backup.resources and the resources of a deletion
	// hook override them. Set them where a LimitRange or ResourceQuota refuses the defaults. A change restarts the members one
	// by one if the engine reports a version. Default: requests of 100m CPU and 256Mi of memory, limits like spec.resources and at
	// most 2 CPUs and 1Gi. When the operator creates a Job, it fits them to the LimitRanges of the namespace.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:resourceRequirements"
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`
}

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

// ClusterConfig are configuration files. The operator stores them in a ConfigMap, so all files together have at most 1 MiB.
type ClusterConfig struct {
	// mountPath is the absolute path of the directory at which the files are mounted, read-only. The mount hides
	// the image's content of that directory. Default: /etc/database.
	// +optional
	// +kubebuilder:default="/etc/database"
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[^/:]+)+$') && !self.contains('/../') && !self.endsWith('/..')",message="spec.config.mountPath must be an absolute path without ':' or '..'"
	MountPath string `json:"mountPath,omitempty"`

	// files are the contents of the files by file name, for example "postgresql.conf".
	// +required
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.size() <= 253 && name.matches('^[-._a-zA-Z0-9]+$') && name != '.' && !name.startsWith('..'))",message="spec.config.files must have names of letters, digits, '-', '_' and '.' that do not begin with '..', at most 253 characters long"
	Files map[string]string `json:"files"`
}

// ClusterUpdateType is the type of an update strategy.
type ClusterUpdateType string

const (
	// UpdateRolling means that the operator restarts members one by one.
	UpdateRolling ClusterUpdateType = "RollingUpdate"
	// UpdateOnDelete means that the user deletes pods, and Kubernetes creates them again with the change.
	UpdateOnDelete ClusterUpdateType = "OnDelete"
)

// ClusterUpdateStrategy controls how changes reach running members: first members that are broken, then from the
// highest ordinal.
type ClusterUpdateStrategy struct {
	// type is RollingUpdate or OnDelete. With RollingUpdate the operator restarts members one by one. With OnDelete
	// a member gets the change when you delete its pod. Default: RollingUpdate.
	// +optional
	// +kubebuilder:default=RollingUpdate
	// +kubebuilder:validation:Enum=RollingUpdate;OnDelete
	Type ClusterUpdateType `json:"type,omitempty"`

	// paused stops a rollout: the operator restarts no further members. A member whose pod is re-created for
	// another reason gets the change. Default: false.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// maxUnavailable is the number of members that a rollout may take down at once, 1 to 8. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=8
	MaxUnavailable int32 `json:"maxUnavailable,omitempty"`

	// minReadySeconds is the time that a member must be ready before the operator restarts the next one, in seconds,
	// 0 to 3600. Default: 10.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`
}
