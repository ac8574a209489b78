/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Database is a database in a DatabaseCluster, beside the one that the cluster creates at its first start. The engine must have the action
// objects, and databases.
//
// +operator-sdk:csv:customresourcedefinitions:displayName="Database",order=5,resources={{DatabaseCluster,v1alpha1,""},{Event,v1,""}}
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=dbs,categories=all;dbcluster
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterRef.name`
// +kubebuilder:printcolumn:name="Name-In-Database",type=string,JSONPath=`.spec.name`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 58",message="metadata.name must have at most 58 characters"
type Database struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The name is at most 58 characters long.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the database that the cluster should have.
	// +required
	Spec DatabaseSpec `json:"spec"`

	// status is the observed state.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status DatabaseStatus `json:"status,omitzero"`
}

// DatabaseList is a list of Databases.
//
// +kubebuilder:object:root=true
type DatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Database `json:"items"`
}

// DatabaseSpec is the desired state of a Database.
//
// +kubebuilder:validation:XValidation:rule="self.clusterRef == oldSelf.clusterRef",message="spec.clusterRef cannot be changed: create another Database"
// +kubebuilder:validation:XValidation:rule="self.name == oldSelf.name",message="spec.name cannot be changed: create another Database"
type DatabaseSpec struct {
	// clusterRef names the DatabaseCluster, in the same namespace.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	ClusterRef DatabaseObjectClusterRef `json:"clusterRef"`

	// name is the name of the database in the engine, which may restrict it.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!self.matches('[[:cntrl:]]')",message="spec.name must not have control characters"
	Name string `json:"name"`

	// owner is the name of the user that owns the database: the spec.name of a DatabaseUser, or another user of the database. Default:
	// a group of the users that have the privilege owner, if the engine has groups.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="!self.matches('[[:cntrl:]]')",message="spec.owner must not have control characters"
	Owner string `json:"owner,omitempty"`

	// attributes are settings that the engine knows, for example extensions of PostgreSQL. docs/databases-and-users.md has those of the
	// built-in engines. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.matches('^[a-zA-Z][a-zA-Z0-9_-]{0,62}$'))",message="spec.attributes: a key must begin with a letter and have at most 63 letters, digits, '-' and '_'"
	Attributes map[string]DatabaseObjectAttribute `json:"attributes,omitempty"`

	DatabaseObjectPolicy `json:",inline"`
}

// DatabaseObjectAttribute is the value of a setting.
//
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:XValidation:rule="!self.matches('[[:cntrl:]]')",message="spec.attributes: a value must not have control characters"
type DatabaseObjectAttribute string

// DatabaseStatus is the observed state of a Database.
type DatabaseStatus struct {
	DatabaseObjectStatus `json:",inline"`
}
