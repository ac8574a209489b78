/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterStorageParts is what the action measure has found on the volume of a member.
type ClusterStorageParts struct {
	// claim is the claim of the volume.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Claim string `json:"claim"`

	// capacityBytes is the size of the file system in bytes when the action began.
	// +required
	CapacityBytes int64 `json:"capacityBytes"`

	// time is when the action ended.
	// +required
	Time metav1.Time `json:"time"`

	// dataBytes is the size of the data in bytes.
	// +optional
	DataBytes int64 `json:"dataBytes,omitempty"`

	// logBytes is the size of the log in bytes: write-ahead log, or a log for replication.
	// +optional
	LogBytes int64 `json:"logBytes,omitempty"`

	// temporaryBytes is the size of temporary files and tables in bytes.
	// +optional
	TemporaryBytes int64 `json:"temporaryBytes,omitempty"`

	// otherBytes is the size of everything else in bytes: the used space that the kubelet measured, without these parts.
	// +optional
	OtherBytes int64 `json:"otherBytes,omitempty"`

	// keptFor names the slot, archive or member for which the database keeps log that it would otherwise delete. It is empty if the log
	// has its usual size.
	// +optional
	KeptFor *LogKeeper `json:"keptFor,omitempty"`
}

// LogKeeper names the slot, archive or member for which a database keeps log.
type LogKeeper struct {
	// type is Slot for a replication slot that its client does not read, and Archive for an archive that does not store the log.
	// It is Member for a member that does not receive the log.
	// +required
	Type LogKeeperType `json:"type"`

	// name is the name of the slot or of the member. It is empty for an archive.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// from is the position at which the kept log begins, as the database writes it. It changes when the slot, the archive or the member
	// has read log.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	From string `json:"from,omitempty"`
}

// LogKeeperType is the kind of a LogKeeper.
// +kubebuilder:validation:Enum=Slot;Archive;Member
type LogKeeperType string

// Values of LogKeeperType.
const (
	// KeptForSlot: a client has a replication slot, and does not read the log.
	KeptForSlot LogKeeperType = "Slot"
	// KeptForArchive: the archive does not store the log.
	KeptForArchive LogKeeperType = "Archive"
	// KeptForMember: a member does not receive the log, for example because it is down.
	KeptForMember LogKeeperType = "Member"
)
