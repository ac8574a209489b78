/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BackupStream is the part of a backup with the data of one member.
type BackupStream struct {
	// ordinal is the number of the member, from 0.
	// +required
	Ordinal int32 `json:"ordinal"`

	// bytes is the size of the stream before compression, in bytes.
	// +optional
	Bytes int64 `json:"bytes,omitempty"`

	// storedBytes is the size of what this backup stored of the stream at the destination, in bytes.
	// +optional
	StoredBytes int64 `json:"storedBytes,omitempty"`

	// completionTime is the time at which the stream ended, by the clock of its pod. No earlier moment can be recovered from it.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// sha256 is the SHA-256 checksum of the uncompressed stream, in hexadecimal digits.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	SHA256 string `json:"sha256,omitempty"`

	// volumeUID is the UID of the claim with the data, of a member that has data of its own. A backup of another volume never
	// replaces this one. It is empty for members that have one database together, and if it is unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	VolumeUID string `json:"volumeUID,omitempty"` //nolint:tagliatelle // as Kubernetes spells it, for example podUID

	// identity identifies the database, by the fact that the engine names in spec.actions.check.identity. A backup of
	// another database never replaces this one. It is empty if the engine names no fact, or check did not report it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Identity string `json:"identity,omitempty"`

	// facts are facts about the data, from the engine's check action. A verification compares those that the engine
	// lists with the facts of the restored copy.
	// +optional
	// +kubebuilder:validation:MaxProperties=20
	Facts map[string]FactValue `json:"facts,omitempty"`

	// checkMessage is why facts are missing: the error of the engine's check action. The backup is complete without
	// them.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	CheckMessage string `json:"checkMessage,omitempty"`
}

// FactValue is a string, a number or a boolean from an engine's check action, as text.
//
// +kubebuilder:validation:MaxLength=1024
type FactValue string
