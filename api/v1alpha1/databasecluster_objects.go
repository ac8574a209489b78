/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterObjectsStatus is the result of a run of the engine's action objects.
type ClusterObjectsStatus struct {
	// jobUID is the UID of the Job.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	JobUID string `json:"jobUID,omitempty"` //nolint:tagliatelle // as Kubernetes spells it, for example podUID

	// occasion is why it ran: a failover, for example, is another one. It begins with the name of the volumeClaimTemplate in use.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Occasion string `json:"occasion,omitempty"`

	// checkedAt is when the Job ended.
	// +optional
	CheckedAt metav1.Time `json:"checkedAt,omitzero"`

	// message is why the run failed as a whole; empty if it did not.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`

	// waiting is why no Job runs now, or does not get all databases and users; empty if none is needed.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Waiting string `json:"waiting,omitempty"`

	// results has a letter for each object of the Job, in the order of its annotation database.dbcluster.io/objects. The letter is . if
	// the database has it as declared, and c if this Job has created it. It is d if another client has changed it, e if it exists already, r
	// if the engine refuses it, and f if it failed.
	// +optional
	// +kubebuilder:validation:MaxLength=1000
	Results string `json:"results,omitempty"`

	// answers are about the objects that are not as declared, or were changed: as many as the Job can report.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Answers []ClusterObjectAnswer `json:"answers,omitempty"`
}

// ClusterObjectAnswer is what the action has answered about an object.
type ClusterObjectAnswer struct {
	// id is the identifier of the object: its UID.
	// +required
	// +kubebuilder:validation:MaxLength=63
	ID string `json:"id"`

	// result is Done, Created, Drifted, Exists, Refused or Failed.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Result string `json:"result"`

	// message is what was changed, or the cause.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}
