/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DatabaseObjectClusterRef names a DatabaseCluster.
type DatabaseObjectClusterRef struct {
	// name is the name of the DatabaseCluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="name must be the name of a DatabaseCluster: lowercase letters, digits and '-', with a letter first"
	Name string `json:"name"`
}

// DatabaseObjectPolicy is what a Database and a DatabaseUser have in common: what the operator may do.
type DatabaseObjectPolicy struct {
	// existing is what happens if the database has an object of this name that this resource did not create. Refuse: it stays as it is, and
	// Ready is False. Adopt: this resource takes it over. Accounts of the engine and superusers are never taken over. Default: Refuse.
	// +optional
	// +kubebuilder:default=Refuse
	// +kubebuilder:validation:Enum=Refuse;Adopt
	Existing ExistingPolicy `json:"existing,omitempty"`

	// drift is what happens when another client has changed in the database what this resource declares. Repair: the operator changes it
	// back, and creates an object again that is missing: a database is empty then. Report: Ready becomes False with the difference. The
	// operator looks every hour, after a failover or a restore, and when the annotation database.dbcluster.io/refresh of the cluster
	// changes. Default: Repair.
	// +optional
	// +kubebuilder:default=Repair
	// +kubebuilder:validation:Enum=Repair;Report
	Drift DriftPolicy `json:"drift,omitempty"`

	// reclaimPolicy is what happens in the database when this resource is deleted. Retain: nothing. Delete: the object is deleted, if this
	// resource created or adopted it. Default: Retain.
	// +optional
	// +kubebuilder:default=Retain
	// +kubebuilder:validation:Enum=Retain;Delete
	ReclaimPolicy ReclaimPolicy `json:"reclaimPolicy,omitempty"`
}

// ExistingPolicy is what happens with an object that exists.
type ExistingPolicy string

// The policies for an object that exists.
const (
	// ExistingRefuse leaves it as it is.
	ExistingRefuse ExistingPolicy = "Refuse"
	// ExistingAdopt takes it over.
	ExistingAdopt ExistingPolicy = "Adopt"
)

// DriftPolicy is what happens with changes by other clients.
type DriftPolicy string

// The policies for changes by other clients.
const (
	// DriftRepair changes them back.
	DriftRepair DriftPolicy = "Repair"
	// DriftReport only reports them.
	DriftReport DriftPolicy = "Report"
)

// ReclaimPolicy is what happens in the database after the deletion of a resource.
type ReclaimPolicy string

// The policies for the deletion of a resource.
const (
	// ReclaimRetain changes nothing there.
	ReclaimRetain ReclaimPolicy = "Retain"
	// ReclaimDelete deletes the object there.
	ReclaimDelete ReclaimPolicy = "Delete"
)

// DatabaseObjectStatus is the observed state of a Database or a DatabaseUser.
type DatabaseObjectStatus struct {
	// conditions are Ready and Stalled. Ready is True when the last run of the engine's action objects has found or made everything as
	// spec has it. Stalled is True when an action of the user is required.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,xDescriptors="urn:alm:descriptor:io.kubernetes.conditions"
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the operator has observed.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// version identifies the spec and the password that are in force, or that the action has refused. It is empty before that.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Version string `json:"version,omitempty"`

	// applied identifies the spec and the password that the database had last, as declared. With spec.drift Report, the operator changes
	// nothing of these in the database.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Applied string `json:"applied,omitempty"`

	// clusterUID is the UID of the cluster whose database has the object.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ClusterUID string `json:"clusterUID,omitempty"` //nolint:tagliatelle // as Kubernetes spells it, for example podUID
}
