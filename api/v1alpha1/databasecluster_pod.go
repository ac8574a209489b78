/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// ClusterPod adds to the pods of the members. It cannot weaken the security settings of the database container.
//
// +kubebuilder:validation:XValidation:rule="!has(self.initContainers) || !has(self.sidecars) || self.initContainers.all(i, self.sidecars.all(s, s.name != i.name))",message="spec.pod.initContainers and spec.pod.sidecars must not have a name in common"
type ClusterPod struct {
	// labels are added to the pods. Keys that start with app.kubernetes.io/ or database.dbcluster.io/ are reserved
	// for the operator. Default: none.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('app.kubernetes.io/') && !key.startsWith('database.dbcluster.io/') && !key.startsWith('apps.kubernetes.io/') && key != 'controller-revision-hash' && !key.startsWith('statefulset.kubernetes.io/'))",message="spec.pod.labels must not set keys that start with 'app.kubernetes.io/', 'apps.kubernetes.io/', 'statefulset.kubernetes.io/' or 'database.dbcluster.io/', nor 'controller-revision-hash': these keys are reserved for Kubernetes and the operator"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the pods. Keys that start with database.dbcluster.io/ or
	// scripts.database.dbcluster.io/ are reserved for the operator. Default: none.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('database.dbcluster.io/') && !key.startsWith('scripts.database.dbcluster.io/'))",message="spec.pod.annotations must not set keys that start with 'database.dbcluster.io/' or 'scripts.database.dbcluster.io/': these keys are reserved for the operator"
	Annotations map[string]string `json:"annotations,omitempty"`

	// volumes are additional volumes of the pods, besides "data" and "config". Default: none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Volumes []ClusterVolume `json:"volumes,omitempty"`

	// initContainers run one after the other before the database starts. Default: none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	InitContainers []ClusterExtraContainer `json:"initContainers,omitempty"`

	// sidecars run beside the database. They start before the database and stop after it. Default: none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Sidecars []Sidecar `json:"sidecars,omitempty"`

	// imagePullSecrets name Secrets of this namespace with the credentials of image registries. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// securityContext overrides, field by field, the defaults of the pods: runAsNonRoot true, seccompProfile
	// RuntimeDefault, fsGroup 65532, fsGroupChangePolicy OnRootMismatch.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`

	// terminationGracePeriodSeconds is the time that a member has to stop before the kubelet kills it, in seconds,
	// 0 to 86400. Default: the engine's, or 120.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:number"
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
}

// ExtraContainer is an additional container of every member's pod. It runs without root privileges and without
// capabilities.
type ClusterExtraContainer struct {
	// name is the name of the container, unique in the pod. "database" and names that start with "dbc-"
	// are reserved for the operator.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && self != 'database' && !self.startsWith('dbc-')",message="the name of a container in spec.pod must be a DNS label. 'database' and names that start with 'dbc-' are reserved for the operator"
	Name string `json:"name"`

	// image is the image of the container. Default: spec.image.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]*$')",message="the image of a container in spec.pod must not contain spaces"
	Image string `json:"image,omitempty"`

	// imagePullPolicy controls when the kubelet pulls the image: Always, IfNotPresent or Never.
	// Default: Always for the tag "latest", otherwise IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// command replaces the image's entrypoint. Default: the image's entrypoint.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command,omitempty"`

	// args replace the image's arguments. Default: the image's arguments.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=65536
	Args []string `json:"args,omitempty"`

	// env are environment variables of the container. Default: none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	Env []corev1.EnvVar `json:"env,omitempty"`

	// envFrom sets environment variables from Secrets and ConfigMaps of this namespace. Default: none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// resources are the CPU and memory of the container. Default: no requests, no limits.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// volumeMounts mount volumes of the pod into the container. Default: none.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=16
	VolumeMounts []ClusterVolumeMount `json:"volumeMounts,omitempty"`

	// securityContext sets the user of the container. The operator sets all other security settings.
	// Default: the user of the pod.
	// +optional
	SecurityContext *ClusterContainerSecurityContext `json:"securityContext,omitempty"`
}

// ClusterContainerSecurityContext is the part of a container's security context that the user can set.
type ClusterContainerSecurityContext struct {
	// runAsUser is the user ID of the container, not 0. Default: the user of the pod.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser *int64 `json:"runAsUser,omitempty"`
}

// Sidecar runs beside the database. It starts before the database and stops after it.
type Sidecar struct {
	ClusterExtraContainer `json:",inline"`

	// ports are the TCP ports of the container. Default: none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Ports []SidecarPort `json:"ports,omitempty"`

	MemberProbes `json:",inline"`
}

// SidecarPort is a TCP port of a sidecar, for example of a metrics exporter.
type SidecarPort struct {
	// name is the name of the port, unique in the sidecar. "db" is reserved for the database.
	// +required
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && self != 'db'",message="spec.pod.sidecars[].ports[].name must be a DNS label other than 'db', which is reserved for the database"
	Name string `json:"name"`

	// containerPort is the number of the port, 1 to 65535.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	ContainerPort int32 `json:"containerPort"`
}
