/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// Config are files for every member. They are kept in a ConfigMap, so all of them together may have 1 MiB.
type Config struct {
	// path is the absolute path of the directory with the files, read-only. What the image has there is
	// hidden. Default: /etc/database.
	// +optional
	// +kubebuilder:default="/etc/database"
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[^/:]+)+$') && !self.contains('/../') && !self.endsWith('/..')",message="spec.config.path must be an absolute path without ':' or '..'"
	Path string `json:"path,omitempty"`

	// files are the contents by the name of the file, for example "postgresql.conf".
	// +required
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.size() <= 253 && name.matches('^[-._a-zA-Z0-9]+$') && name != '.' && !name.startsWith('..'))",message="spec.config.files must have names of letters, digits, '-', '_' and '.' that do not begin with '..', at most 253 characters long"
	Files map[string]string `json:"files"`
}

// PodTemplate adds to the members' pods.
//
// +kubebuilder:validation:XValidation:rule="!has(self.initContainers) || !has(self.sidecars) || self.initContainers.all(i, self.sidecars.all(s, s.name != i.name))",message="spec.template.initContainers and spec.template.sidecars must not share a name"
type PodTemplate struct {
	// labels are set on the pods. Keys of the operator's, app.kubernetes.io/... and database.dbcluster.io/..., cannot be.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('app.kubernetes.io/') && !key.startsWith('database.dbcluster.io/') && !key.startsWith('apps.kubernetes.io/') && key != 'controller-revision-hash' && !key.startsWith('statefulset.kubernetes.io/'))",message="spec.template.labels must not set keys that start with 'app.kubernetes.io/', 'apps.kubernetes.io/', 'statefulset.kubernetes.io/' or 'database.dbcluster.io/', nor 'controller-revision-hash': Kubernetes or the operator sets those"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are set on the pods. Keys of the operator's, database.dbcluster.io/... and
	// scripts.database.dbcluster.io/..., cannot be.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('database.dbcluster.io/') && !key.startsWith('scripts.database.dbcluster.io/'))",message="spec.template.annotations must not set keys that start with 'database.dbcluster.io/' or 'scripts.database.dbcluster.io/': the operator sets those"
	Annotations map[string]string `json:"annotations,omitempty"`

	// volumes are those that the pods have besides "data" and "config".
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Volumes []Volume `json:"volumes,omitempty"`

	// volumeMounts put these volumes into the database container.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=16
	VolumeMounts []VolumeMount `json:"volumeMounts,omitempty"`

	// initContainers run one after the other before the database starts.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	InitContainers []Container `json:"initContainers,omitempty"`

	// sidecars run beside the database: they start before it and stop after it.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Sidecars []Sidecar `json:"sidecars,omitempty"`
}

// Volume is a volume of every member's pod.
//
// +kubebuilder:validation:XValidation:rule="(has(self.configMap) ? 1 : 0) + (has(self.secret) ? 1 : 0) + (has(self.emptyDir) ? 1 : 0) == 1",message="spec.template.volumes[] must have exactly one of configMap, secret and emptyDir"
type Volume struct {
	// name is what volumeMounts call the volume; not "data" or "config", which the operator makes.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && !(self in ['data', 'config']) && !self.startsWith('dbc-')",message="spec.template.volumes[].name must be a DNS label other than 'data' and 'config' that does not start with 'dbc-': those are the operator's"
	Name string `json:"name"`

	// configMap is a ConfigMap of this namespace. A change of its content restarts the members one by one.
	// +optional
	ConfigMap *corev1.ConfigMapVolumeSource `json:"configMap,omitempty"`

	// secret is a Secret of this namespace. A change of its content restarts the members one by one.
	// +optional
	Secret *corev1.SecretVolumeSource `json:"secret,omitempty"`

	// emptyDir is an empty directory that goes with the pod.
	// +optional
	EmptyDir *corev1.EmptyDirVolumeSource `json:"emptyDir,omitempty"`
}

// VolumeMount puts a volume into a container.
type VolumeMount struct {
	// name is that of the volume: one of spec.template.volumes, "data" or, with spec.config, "config".
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// mountPath is where the container finds it.
	// +required
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[^/:]+)+$') && !self.contains('/../') && !self.endsWith('/..')",message="a mountPath in spec.template must be an absolute path without ':' or '..', and must not end in '/'"
	MountPath string `json:"mountPath"`

	// subPath is the part of the volume to mount. Default: all of it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	SubPath string `json:"subPath,omitempty"`

	// readOnly mounts it so. Default: false.
	// +optional
	ReadOnly bool `json:"readOnly,omitempty"`
}

// Container runs in every member's pod. It cannot become root by itself nor get capabilities: those
// settings are the operator's.
type Container struct {
	// name is the container's own, unique in the pod; not "database", which is the operator's.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && self != 'database'",message="the name of a container in spec.template must be a DNS label other than 'database', which is the operator's"
	Name string `json:"name"`

	// image is what the container runs. Default: the cluster's.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^\S*$`
	Image string `json:"image,omitempty"`

	// imagePullPolicy says when the kubelet pulls the image: Always, IfNotPresent or Never.
	// Default: Always for the tag "latest", otherwise IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// command replaces the image's entrypoint. Default: the image's own.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command,omitempty"`

	// args replace the image's arguments. Default: the image's own.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=65536
	Args []string `json:"args,omitempty"`

	// env are environment variables of the container.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	Env []corev1.EnvVar `json:"env,omitempty"`

	// envFrom takes environment variables from Secrets and ConfigMaps of this namespace.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// resources are the CPU and memory that the container requests and may use.
	// Default: none requested, no limit.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// volumeMounts put volumes of the pod into the container.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=16
	VolumeMounts []VolumeMount `json:"volumeMounts,omitempty"`

	// runAsUser is the numeric user that the container runs as, not 0. Default: the pod's.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser *int64 `json:"runAsUser,omitempty"`
}

// Sidecar runs beside the database: it starts before it and stops after it.
type Sidecar struct {
	Container `json:",inline"`

	// ports that the container listens on.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Ports []SidecarPort `json:"ports,omitempty"`

	// probes tell Kubernetes when the sidecar has started, is ready, is alive. Default: none.
	// +optional
	Probes Probes `json:"probes,omitzero"`
}

// SidecarPort is a TCP port of a sidecar, for example the one of a metrics exporter.
type SidecarPort struct {
	// name is the port's own, unique in the sidecar; not "db", which is the database's.
	// +required
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && self != 'db'",message="spec.template.sidecars[].ports[].name must be a DNS label other than 'db', which is the database's"
	Name string `json:"name"`

	// port is the number, 1 to 65535.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}
