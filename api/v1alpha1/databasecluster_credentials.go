/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterCredentials are the user names and passwords of a database.
//
// +kubebuilder:validation:XValidation:rule="!has(self.secretName) || !has(self.rotation) || !has(self.rotation.period)",message="spec.credentials.rotation.period cannot be set together with secretName: the operator never changes a Secret of yours"
type ClusterCredentials struct {
	// secretName is the name of a Secret in this namespace. Members and engine actions find its keys as files in
	// /dbc/secrets. The engine lists the keys that it needs. A change of the name restarts the members one by one.
	// Default: the name of the cluster and "-credentials", a Secret that the operator creates with generated
	// passwords, if the engine supports it.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:io.kubernetes:Secret"
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="spec.credentials.secretName must be the name of a Secret of this namespace: lowercase letters, digits, '-' and '.'"
	SecretName string `json:"secretName,omitempty"`

	// rotation controls how generated passwords are replaced. To replace them once, set the annotation
	// database.dbcluster.io/rotate-credentials to a new value. Default: only by that annotation.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Rotation ClusterCredentialsRotation `json:"rotation,omitzero"`
}

// ClusterCredentialsRotation controls how generated passwords are replaced.
//
// +kubebuilder:validation:XValidation:rule="!has(self.period) || !has(self.overlap) || duration(self.overlap) < duration(self.period)",message="spec.credentials.rotation.overlap must be less than spec.credentials.rotation.period"
type ClusterCredentialsRotation struct {
	// period is the age at which the operator replaces the passwords, at least 1h, for example 2160h. Default: never.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}([.][0-9]{1,9})?h)?([0-9]{1,6}([.][0-9]{1,9})?m)?([0-9]{1,6}([.][0-9]{1,9})?s)?$') && self != '' && duration(self) >= duration('1h')",message="spec.credentials.rotation.period must be a duration of at least an hour in hours, minutes and seconds, for example 2160h"
	Period *metav1.Duration `json:"period,omitempty"`

	// overlap is how long the database also accepts the previous passwords, if the engine can, at least 3m and less than
	// period, for example 24h. Within this time, clients have to read the Secret again. Default: 10m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}([.][0-9]{1,9})?h)?([0-9]{1,6}([.][0-9]{1,9})?m)?([0-9]{1,6}([.][0-9]{1,9})?s)?$') && self != '' && duration(self) >= duration('3m')",message="spec.credentials.rotation.overlap must be a duration of at least three minutes in hours, minutes and seconds, for example 10m"
	Overlap *metav1.Duration `json:"overlap,omitempty"`
}

// ClusterBinding names the connection Secret.
type ClusterBinding struct {
	// name is the name of the Secret, in the namespace of the cluster.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// resourceVersion is that of the Secret, as the operator last read it. It changes when the Secret changes.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// ClusterCredentialsStatus is the state of generated passwords.
type ClusterCredentialsStatus struct {
	// lastRotationRequest is the value of the annotation database.dbcluster.io/rotate-credentials that the last finished
	// rotation executed, or "period" if the passwords were old. The previous passwords may still be accepted.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	LastRotationRequest string `json:"lastRotationRequest,omitempty"`

	// lastRotationTime is when clients got the current passwords.
	// +optional
	LastRotationTime *metav1.Time `json:"lastRotationTime,omitempty"`
}
