/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterStorage is the data volume of each member.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.ephemeral) && self.ephemeral && has(self.storageClassName))",message="spec.storage.storageClassName cannot be set together with spec.storage.ephemeral: an ephemeral volume has no storage class"
// +kubebuilder:validation:XValidation:rule="!(has(self.ephemeral) && self.ephemeral && has(self.volumeAttributesClassName))",message="spec.storage.volumeAttributesClassName cannot be set together with spec.storage.ephemeral: an ephemeral volume has no attributes"
// +kubebuilder:validation:XValidation:rule="has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)",message="spec.storage.storageClassName cannot be changed: volumes cannot move to another class. To change the class, restore a backup into a new cluster"
// +kubebuilder:validation:XValidation:rule="(has(self.ephemeral) && self.ephemeral) == (has(oldSelf.ephemeral) && oldSelf.ephemeral)",message="spec.storage.ephemeral cannot be changed after creation"
// +kubebuilder:validation:XValidation:rule="!(has(self.ephemeral) && self.ephemeral && (has(self.autoGrow) || has(self.usage)))",message="spec.storage.autoGrow and spec.storage.usage cannot be set together with spec.storage.ephemeral: an ephemeral volume has no claim. Remove them"
// +kubebuilder:validation:XValidation:rule="!has(self.autoGrow) || !quantity(string(self.autoGrow.limit)).isLessThan(quantity(string(self.size)))",message="spec.storage.autoGrow.limit must be at least spec.storage.size. Raise the limit"
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

	// autoGrow lets the operator raise the size of the volumes when they fill. It never changes size: status.storage has
	// the size that the operator decided. A size above that takes effect. Without autoGrow, grown volumes keep their size.
	// Default: volumes grow only with size.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	AutoGrow *ClusterAutoGrow `json:"autoGrow,omitempty"`

	// usage is Measured to measure the use of the volumes, as autoGrow does anyway. The condition DiskPressure reports
	// it. Default: the use is measured only with autoGrow.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:text"
	Usage StorageUsage `json:"usage,omitempty"`

	// whenNearlyFull selects the reaction to a nearly full volume of the primary. Its free space is less than 5% of it (at
	// most 2Gi), or less than clients write in three minutes (at most 15% of it). Protect makes transactions read-only by the action
	// protect of the engine, until the volume has that space and 5% more. Continue lets clients write until the volume is
	// full. It needs autoGrow or usage. Default: Protect.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:text"
	WhenNearlyFull NearlyFullPolicy `json:"whenNearlyFull,omitempty"`

	// ephemeral stores the data in an emptyDir of the pod instead of a persistent volume, for caches. The data is
	// deleted with the pod. It cannot be changed. Default: false.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:booleanSwitch"
	Ephemeral *bool `json:"ephemeral,omitempty"`
}

// StorageUsage is whether the use of the volumes is measured.
// +kubebuilder:validation:Enum=Measured
type StorageUsage string

// Values of StorageUsage.
const (
	// StorageUsageMeasured: the kubelet of each member reports the use of its volume.
	StorageUsageMeasured StorageUsage = "Measured"
)

// NearlyFullPolicy is what the operator does about a volume that is nearly full.
// +kubebuilder:validation:Enum=Protect;Continue
type NearlyFullPolicy string

// Values of NearlyFullPolicy.
const (
	// NearlyFullProtect: transactions become read-only.
	NearlyFullProtect NearlyFullPolicy = "Protect"
	// NearlyFullContinue: clients write until the volume is full.
	NearlyFullContinue NearlyFullPolicy = "Continue"
)

// ClusterAutoGrow is when and how far the operator raises the size of the volumes.
type ClusterAutoGrow struct {
	// atPercent is the used part of a volume in percent from 50 to 95 at which all
	// volumes of the cluster grow. Default: 80.
	// +optional
	// +kubebuilder:validation:Minimum=50
	// +kubebuilder:validation:Maximum=95
	AtPercent int32 `json:"atPercent,omitempty"`

	// byPercent is how much larger the volumes become, in percent of their size, from 5 to 200.
	// Default: 20.
	// +optional
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=200
	ByPercent int32 `json:"byPercent,omitempty"`

	// limit is the largest size to which the operator raises a volume, for example 100Gi. At the limit, the condition
	// DiskPressure asks you to act.
	// +required
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : self.matches('^([0-9]{1,18}([.][0-9]{1,3})?([KMGTPE]i|[kMGTPE]|[eE][0-9]{1,2})?|[0-9]{1,18}m)$') && quantity(self).isGreaterThan(quantity('0'))",message="spec.storage.autoGrow.limit must be a quantity greater than zero, for example 100Gi"
	Limit resource.Quantity `json:"limit"`

	// cooldownSeconds is the time in seconds, from 0 to 604800, after a growth in which no other one begins. A volume
	// that is nearly full, or that keeps the database read-only, does not wait. Storage providers often allow one growth
	// in six hours. Default: 21600.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=604800
	CooldownSeconds *int32 `json:"cooldownSeconds,omitempty"`
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

	// desired is the size that the operator requests for each volume, for example 12Gi: spec.storage.size, or growth.size if that is larger.
	// It is empty without autoGrow, unless volumes have grown.
	// +optional
	Desired *resource.Quantity `json:"desired,omitempty"`

	// growth is the last growth that the operator decided. It is kept after autoGrow is removed.
	// +optional
	Growth *ClusterStorageGrowth `json:"growth,omitempty"`

	// usage is the measured use of the fullest volume. It is rounded, so that it changes rarely.
	// +optional
	Usage *ClusterStorageUsage `json:"usage,omitempty"`

	// protection is set while transactions are read-only, because the volume of the primary is nearly full.
	// +optional
	Protection *ClusterStorageProtection `json:"protection,omitempty"`

	// unprotected is the volumeClaimTemplate of the volumes whose data had a protection removed last. The data of others may still have one.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Unprotected string `json:"unprotected,omitempty"`

	// parts is the last answer of the action measure of the engine. The action runs while a volume fills, at most every two hours for each
	// size of the volume. It is empty without autoGrow and usage, and for engines without the action.
	// +optional
	Parts *ClusterStorageParts `json:"parts,omitempty"`
}

// ClusterStorageGrowth is a decision about the size of the volumes, and the measurement that it follows from.
type ClusterStorageGrowth struct {
	// size is the size that the operator decided, for example 12Gi.
	// +required
	Size resource.Quantity `json:"size"`

	// time is the time of the decision.
	// +required
	Time metav1.Time `json:"time"`

	// cause is what filled the volume: Data, Log, TemporaryFiles or Other, whichever is the largest of parts. It is also Log while the archive
	// does not store the log. A growth does not wait for the action measure, so the cause is Unknown until the action has ended.
	// +optional
	Cause StorageCause `json:"cause,omitempty"`

	// keptFor names the slot, archive or member for which the database keeps the log, if that is the cause. A growth does not cure that.
	// So for the same slot or archive at the same position, the operator grows once.
	// +optional
	KeptFor *LogKeeper `json:"keptFor,omitempty"`

	// refused is why a volume did not get a larger size; empty if all did. Then size is the size of the smallest volume, and the operator
	// decides again after the cooldown.
	// +optional
	// +kubebuilder:validation:MaxLength=4200
	Refused string `json:"refused,omitempty"`

	// usage is the measurement that the decision follows from.
	// +required
	Usage ClusterStorageUsage `json:"usage"`
}

// StorageCause is what fills a volume.
// +kubebuilder:validation:Enum=Unknown;Data;Log;TemporaryFiles;Other
type StorageCause string

// Values of StorageCause.
const (
	// StorageCauseUnknown: the volume has data, log and temporary files, and their parts are not known.
	StorageCauseUnknown StorageCause = "Unknown"
	// StorageCauseData: most of it is data.
	StorageCauseData StorageCause = "Data"
	// StorageCauseLog: most of it is log, or the archive does not store the log, so the members keep it.
	StorageCauseLog StorageCause = "Log"
	// StorageCauseTemporaryFiles: most of it is temporary files and tables.
	StorageCauseTemporaryFiles StorageCause = "TemporaryFiles"
	// StorageCauseOther: most of it is files that the database does not know.
	StorageCauseOther StorageCause = "Other"
)

// ClusterStorageUsage is a measurement of a volume by its kubelet.
type ClusterStorageUsage struct {
	// claim is the claim of the volume.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Claim string `json:"claim"`

	// usedPercent is the used part of the file system, or of its inodes if more of these are used.
	// +required
	UsedPercent int32 `json:"usedPercent"`

	// capacityBytes is the size of the file system in bytes, which is less than that of the claim.
	// +required
	CapacityBytes int64 `json:"capacityBytes"`

	// time is when the kubelet measured it.
	// +required
	Time metav1.Time `json:"time"`
}

// ClusterStorageProtection is the protection of a database whose volume is nearly full.
type ClusterStorageProtection struct {
	// state is Protecting until the action protect has made transactions read-only, and then Protected. It is Renewing while the action
	// runs again, because another pod is the primary. It is Lifting until the action has undone that, and the volume is measured again.
	// +required
	State ProtectionState `json:"state"`

	// since is when the state began.
	// +required
	Since metav1.Time `json:"since"`

	// pod is the UID of the pod of the primary when the state began. Another primary may not have what the action has changed, so the
	// action runs again.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	Pod string `json:"pod,omitempty"`

	// usage is the measurement that the protection follows from. usedPercent is 0 if there is none: the volumes were in use before this
	// object. Their data may be protected, so the action removes that.
	// +required
	Usage ClusterStorageUsage `json:"usage"`

	// capacity is the capacity of the claim at that time, for example 10Gi.
	// +required
	Capacity resource.Quantity `json:"capacity"`

	// reserve is the free space below which the volume was nearly full, for example 512Mi. It is 5% of the volume, at most 2Gi. If clients
	// write more than that in three minutes, it is what they write, at most 15% of the volume. The protection ends once the volume has that
	// and 5% more, at most 2Gi more. The writes count for five minutes: then a burst may have ended.
	// +optional
	Reserve *resource.Quantity `json:"reserve,omitempty"`
}

// ProtectionState is the progress of a protection.
// +kubebuilder:validation:Enum=Protecting;Protected;Renewing;Lifting
type ProtectionState string

// Values of ProtectionState.
const (
	// ProtectionProtecting: the action runs.
	ProtectionProtecting ProtectionState = "Protecting"
	// ProtectionProtected: transactions are read-only.
	ProtectionProtected ProtectionState = "Protected"
	// ProtectionRenewing: transactions are read-only unless another primary lacks that, and the action runs again.
	ProtectionRenewing ProtectionState = "Renewing"
	// ProtectionLifting: the action runs that undoes it, or has succeeded and the volume is not measured since.
	ProtectionLifting ProtectionState = "Lifting"
)
