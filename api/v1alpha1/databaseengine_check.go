/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// EngineCheck is the action that prints facts about the data, so that a verification can compare a restored copy with
// the original. It runs before a backup, after a backup, and in the copy of a verification. DBC_CHECK is "before",
// "after" or "copy".
type EngineCheck struct {
	// command prints one flat JSON object of strings, numbers and booleans, with at most 20 facts and 1024 bytes. It
	// must not change anything. Exit code 40 means that no facts are available now.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command"`

	// facts are the facts that a verification compares. Other facts are only recorded. Default: none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	Facts []EngineFact `json:"facts,omitempty"`

	// identity is the name of the fact that identifies the database, for example the system identifier of PostgreSQL. The
	// value must be another one after the database was created again, and must never change otherwise. Retention never
	// counts a backup against older ones with another value. Default: none; only the UIDs of claims identify the data of
	// members.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z][-_A-Za-z0-9]*$`
	Identity string `json:"identity,omitempty"`
}

// EngineFact is a fact that verifications compare.
type EngineFact struct {
	// name is the key of the fact in the output of check: a letter, then letters, digits, '_' and '-', at most 63
	// characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z][-_A-Za-z0-9]*$')",message="the name of a fact must be a letter, then letters, digits, '_' and '-'"
	Name string `json:"name"`

	// compare is Equal or AtLeast. Equal: the value of the copy must be the value after the backup. A verification
	// ignores the fact if the values before and after the backup differ. AtLeast: the number of the copy must not be
	// lower than the number before the backup.
	// +required
	// +kubebuilder:validation:Enum=Equal;AtLeast
	Compare EngineFactComparison `json:"compare"`
}

// EngineFactComparison is how a verification compares a fact of a restored copy with the recorded fact.
type EngineFactComparison string

const (
	// CompareEqual means that the copy must have the same value.
	CompareEqual EngineFactComparison = "Equal"
	// CompareAtLeast means that the copy must not have a lower number.
	CompareAtLeast EngineFactComparison = "AtLeast"
)
