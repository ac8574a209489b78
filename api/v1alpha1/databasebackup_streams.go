/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// BackupStream is what one member gave.
type BackupStream struct {
	// ordinal is the member's number, from 0.
	// +required
	Ordinal int32 `json:"ordinal"`

	// bytes is how much the member gave, in bytes before compression.
	// +optional
	Bytes int64 `json:"bytes,omitempty"`

	// storedBytes is how much was written to the destination, in bytes.
	// +optional
	StoredBytes int64 `json:"storedBytes,omitempty"`

	// sha256 is the checksum of what the member gave, in hexadecimal digits.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	SHA256 string `json:"sha256,omitempty"`

	// facts are what the engine's action check reported about the data. A verification compares the restored copy
	// with those that the engine lists.
	// +optional
	// +kubebuilder:validation:MaxProperties=20
	Facts map[string]FactValue `json:"facts,omitempty"`

	// checkMessage says why facts are missing: how the engine's action check failed. The backup is complete all
	// the same.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	CheckMessage string `json:"checkMessage,omitempty"`
}

// FactValue is a string, a number or a boolean that an engine's action check printed, as text.
//
// +kubebuilder:validation:MaxLength=1024
type FactValue string

// VerifiedStream is the restored copy of what one member gave.
type VerifiedStream struct {
	// ordinal is the member's number, from 0.
	// +required
	Ordinal int32 `json:"ordinal"`

	// facts are what the engine's action check reported about the data of the copy.
	// +optional
	// +kubebuilder:validation:MaxProperties=20
	Facts map[string]FactValue `json:"facts,omitempty"`
}
