/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// EngineCheck is the action that reports facts about the data, so that a restored copy can be compared with what
// was backed up. It runs before a backup, after it, and in the copy of a verification; DBC_CHECK is "before",
// "after" or "copy".
type EngineCheck struct {
	// command prints one flat JSON object with at most 20 facts and 1024 bytes: strings, numbers and booleans.
	// It must not change anything. Exit code 40 means that it cannot say anything now.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command"`

	// facts are those that are compared. The others are only shown.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	Facts []EngineFact `json:"facts,omitempty"`
}

// EngineFact is a fact that is compared in verifications.
type EngineFact struct {
	// name is the key of the fact in what check prints: a letter, then letters, digits, '_' and '-', at most 63
	// characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z][-_A-Za-z0-9]*$`
	Name string `json:"name"`

	// compare says how the copy is compared. Equal: its value must be the one that check printed after the
	// backup; the fact is not compared if check printed another one before the backup. AtLeast: its number must
	// not be lower than the one that check printed before the backup.
	// +required
	// +kubebuilder:validation:Enum=Equal;AtLeast
	Compare FactComparison `json:"compare"`
}

// FactComparison says how a fact of a restored copy is compared with what was recorded.
type FactComparison string

const (
	// CompareEqual says that the copy must have the same value.
	CompareEqual FactComparison = "Equal"
	// CompareAtLeast says that the copy must not have a lower number.
	CompareAtLeast FactComparison = "AtLeast"
)
