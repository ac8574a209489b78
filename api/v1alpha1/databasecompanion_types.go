/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DatabaseCompanion runs stateless pods beside a DatabaseCluster: a pooler that the engine of the cluster describes, or any application.
// The operator creates a Deployment, a Service and a PodDisruptionBudget with the name of this object, and repairs changes by others. An
// application gets the connection Secret of the cluster.
//
// +operator-sdk:csv:customresourcedefinitions:displayName="Database Companion",order=7,resources={{DatabaseCluster,v1alpha1,""},{Deployment,v1,""},{Service,v1,""},{PodDisruptionBudget,v1,""},{Pod,v1,""},{Event,v1,""}}
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=dbx,categories=all;dbcluster
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterRef.name`
// +kubebuilder:printcolumn:name="Companion",type=string,JSONPath=`.spec.companion`
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.status.image`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$')",message="metadata.name must start with a letter and have at most 40 lowercase letters, digits and '-', because the Service has the same name"
// +kubebuilder:validation:XValidation:rule="self.metadata.name != self.spec.clusterRef.name + '-companions'",message="metadata.name must not be the name of the cluster with the suffix -companions: a Service of the cluster has that name. Choose another name"
type DatabaseCompanion struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The name is at most 40 characters long.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec names the cluster, and describes the pods.
	// +required
	Spec DatabaseCompanionSpec `json:"spec"`

	// status is the observed state of the companion.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status DatabaseCompanionStatus `json:"status,omitzero"`
}

// DatabaseCompanionList is a list of DatabaseCompanions.
//
// +kubebuilder:object:root=true
type DatabaseCompanionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []DatabaseCompanion `json:"items"`
}

// DatabaseCompanionSpec is the desired state of a DatabaseCompanion.
//
// +kubebuilder:validation:XValidation:rule="self.clusterRef == oldSelf.clusterRef",message="spec.clusterRef cannot be changed: create another DatabaseCompanion"
// +kubebuilder:validation:XValidation:rule="has(self.companion) == has(oldSelf.companion) && (!has(self.companion) || self.companion == oldSelf.companion)",message="spec.companion cannot be changed: create another DatabaseCompanion"
// +kubebuilder:validation:XValidation:rule="has(self.companion) || has(self.image) && has(self.port)",message="set spec.companion to a companion of the engine, or spec.image and spec.port for an application of your own"
// +kubebuilder:validation:XValidation:rule="has(self.companion) || !has(self.parameters)",message="spec.parameters are settings of a companion of the engine: set spec.companion, or use spec.container.env"
// +kubebuilder:validation:XValidation:rule="!has(self.companion) || !has(self.connection)",message="spec.connection is for an application of your own: spec.companion has its own credentials. Remove one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.companion) || !has(self.port)",message="spec.port is for an application of your own: the engine sets the port of spec.companion. Remove it, or set spec.service.port"
type DatabaseCompanionSpec struct {
	// clusterRef names the DatabaseCluster, in the same namespace.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	ClusterRef DatabaseObjectClusterRef `json:"clusterRef"`

	// companion is the name of an entry in spec.companions of the engine, for example pgbouncer. Default: none, for an application with
	// an image of your own.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="spec.companion must be the name of a companion of the engine: lowercase letters, digits and '-', with a letter first"
	Companion string `json:"companion,omitempty"`

	// parameters are settings of the companion, by their names in the engine. A change restarts the pods, one after another. Default: those
	// of the engine.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.size() <= 63)",message="the name of a parameter in spec.parameters has at most 63 characters"
	Parameters map[string]CompanionParameter `json:"parameters,omitempty"`

	// replicas is the number of pods, 0 to 100. An autoscaler changes it by the scale subresource: then leave it out of your manifest.
	// Default: 2.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:podCount"
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Replicas *int32 `json:"replicas,omitempty"`

	// image is the image of the pods. Default: that of the engine's companion. Required without companion.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]+$')",message="spec.image must not contain spaces"
	Image string `json:"image,omitempty"`

	// port is the TCP port on which the application listens, 1 to 65535. Required without companion, and not allowed with
	// it. Default: the port of the engine's companion. service.port is that of the Service.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:number"
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// connection configures how an application gets the connection Secret of the cluster.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Connection CompanionConnection `json:"connection,omitzero"`

	// service configures the Service.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Service CompanionService `json:"service,omitzero"`

	CompanionPods `json:",inline"`
}

// CompanionParameter is the value of a parameter.
//
// +kubebuilder:validation:MaxLength=1024
type CompanionParameter string

// DatabaseCompanionStatus is the observed state of a DatabaseCompanion.
type DatabaseCompanionStatus struct {
	// conditions are Ready, Available, Stalled and EvictionBlocked. Ready is True when all pods run the current spec and are ready.
	// Available is True when at least one pod is ready. Stalled is True when an action of the user is required. EvictionBlocked is True
	// when another PodDisruptionBudget selects the pods: no node that has one can be drained.
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

	// replicas is the number of pods.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of pods that are ready.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	ReadyReplicas int32 `json:"readyReplicas"`

	// image is the image of the pods.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=1024
	Image string `json:"image,omitempty"`

	// selector selects the pods, for the scale subresource.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Selector string `json:"selector,omitempty"`

	// deployment identifies the spec of the Deployment that the operator last wrote. It shows changes by others.
	// +optional
	Deployment *WrittenWorkload `json:"deployment,omitempty"`
}
