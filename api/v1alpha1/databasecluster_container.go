/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// ClusterContainer overrides how the database container runs. Fields have the names and the meaning of the
// fields of a Kubernetes container, except port and dataPath.
type ClusterContainer struct {
	// command replaces the image's entrypoint. Default: the engine's, or the image's entrypoint.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command,omitempty"`

	// args replace the image's arguments. Default: the engine's, unless command is set; or the image's arguments.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=65536
	Args []string `json:"args,omitempty"`

	// env are environment variables of every member. Names that start with "DBC_" are reserved for the operator.
	// Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="self.all(e, !e.name.startsWith('DBC_'))",message="spec.container.env must not set variables whose names start with 'DBC_': these names are reserved for the operator"
	Env []corev1.EnvVar `json:"env,omitempty"`

	// envFrom sets environment variables from Secrets and ConfigMaps of this namespace. A change of their content
	// restarts the members one by one. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// imagePullPolicy controls when the kubelet pulls the image: Always, IfNotPresent or Never.
	// Default: Always for the tag "latest", otherwise IfNotPresent.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:imagePullPolicy"
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// port is the TCP port of the database, 1 to 65535. Both Services have it under the name "db".
	// Default: the engine's, or 9000.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:number"
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// dataPath is the absolute path at which the data volume is mounted. Default: the engine's, or
	// /var/lib/database.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:text"
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[^/:]+)+$') && !self.contains('/../') && !self.endsWith('/..')",message="spec.container.dataPath must be an absolute path without ':' or '..'"
	DataPath string `json:"dataPath,omitempty"`

	// volumeMounts mount volumes of spec.pod.volumes into the database container. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=16
	VolumeMounts []ClusterVolumeMount `json:"volumeMounts,omitempty"`

	// versionCommand prints the version of the database, for status.version. It runs in the image before each start of a
	// member, without Secrets, data and variables. The image must have sh. Default: the engine's, or none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	VersionCommand []string `json:"versionCommand,omitempty"`

	MemberProbes `json:",inline"`

	// securityContext overrides, field by field, the defaults of the database container:
	// allowPrivilegeEscalation false, all capabilities dropped.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
}

// MemberProbes are the probes of a container.
type MemberProbes struct {
	// startupProbe delays the other two probes until the container has started. Default: the engine's, or none.
	// +optional
	StartupProbe *corev1.Probe `json:"startupProbe,omitempty"`

	// readinessProbe decides whether a member is ready and receives connections from the Service. Default: the
	// engine's, or none; a member is then ready as soon as its container runs.
	// +optional
	ReadinessProbe *corev1.Probe `json:"readinessProbe,omitempty"`

	// livenessProbe restarts the container when it fails. It must not depend on other members. Default: the
	// engine's, or none.
	// +optional
	LivenessProbe *corev1.Probe `json:"livenessProbe,omitempty"`
}

// ClusterHelpers are the containers that the operator adds to run actions of the engine and to read the version of the database.
type ClusterHelpers struct {
	// resources are the CPU and memory of each of these containers. spec.backup.resources and the resources of a deletion
	// hook override them. Set them where a LimitRange or ResourceQuota refuses the defaults. A change restarts the members one
	// by one if the engine reports a version. Default: requests of 100m CPU and 256Mi of memory, limits like spec.resources and at
	// most 2 CPUs and 1Gi. When the operator creates a Job, it fits them to the LimitRanges of the namespace.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:resourceRequirements"
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`
}
