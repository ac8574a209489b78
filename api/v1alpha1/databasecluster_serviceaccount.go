/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// ClusterServiceAccount is the ServiceAccount of the pods of a cluster: one of the user, or one that the operator creates.
//
// +kubebuilder:validation:XValidation:rule="!has(self.name) || !has(self.annotations)",message="spec.serviceAccount must not have both name and annotations: annotate your own ServiceAccount yourself, or remove the name to let the operator create one"
type ClusterServiceAccount struct {
	// name is the name of a ServiceAccount of this namespace. It belongs to you: the operator never changes it.
	// Engines with roles or state do not support it. Default: the ServiceAccount that the operator creates for annotations, or
	// for members of an engine with roles or state, otherwise "default".
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:io.kubernetes:ServiceAccount"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="spec.serviceAccount.name must be the name of a ServiceAccount of this namespace: lowercase letters, digits, '-' and '.'"
	Name string `json:"name,omitempty"`

	// annotations create a ServiceAccount with the name of the cluster and these annotations, for example
	// "eks.amazonaws.com/role-arn". The operator deletes it with the cluster. Some platforms read the annotations only
	// when a pod starts: restart the members after a change. Default: none.
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('database.dbcluster.io/'))",message="spec.serviceAccount.annotations must not set keys that start with 'database.dbcluster.io/': these keys are reserved for the operator"
	Annotations map[string]string `json:"annotations,omitempty"`
}
