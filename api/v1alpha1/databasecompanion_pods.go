/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// CompanionConnectionForm is how an application gets a connection Secret.
type CompanionConnectionForm string

// The forms of a connection Secret in a pod.
const (
	// ConnectionFiles mounts each key as a file.
	ConnectionFiles CompanionConnectionForm = "Files"
	// ConnectionEnvironment sets an environment variable for each key.
	ConnectionEnvironment CompanionConnectionForm = "Environment"
	// ConnectionNone leaves the Secret out.
	ConnectionNone CompanionConnectionForm = "None"
)

// CompanionConnectionChange is the reaction to a change of the connection Secret.
type CompanionConnectionChange string

// The consequences of a change of the connection Secret.
const (
	// ConnectionRestart restarts the pods, one after another.
	ConnectionRestart CompanionConnectionChange = "Restart"
	// ConnectionReload leaves it to the application to read its files again.
	ConnectionReload CompanionConnectionChange = "Reload"
)

// CompanionConnection is how an application gets a connection Secret.
//
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="!has(self.onChange) || self.onChange != 'Reload' || !has(self.form) || self.form == 'Files'",message="spec.connection.onChange Reload needs spec.connection.form Files: an environment variable does not change while a pod runs"
type CompanionConnection struct {
	// form is Files, Environment or None. Files: each key is a file in /bindings/<cluster>, and the variable SERVICE_BINDING_ROOT is
	// /bindings, as the Service Binding specification has it. Environment: each key is a variable with the prefix and the key in upper
	// case, for example DATABASE_URI and DATABASE_CA_CRT. Default: Files.
	// +optional
	// +kubebuilder:validation:Enum=Files;Environment;None
	Form CompanionConnectionForm `json:"form,omitempty"`

	// environmentPrefix begins the names of the variables. Default: DATABASE_.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Z_][A-Z0-9_]*$')",message="spec.connection.environmentPrefix must have upper case letters, digits and '_' only, and no digit first"
	EnvironmentPrefix string `json:"environmentPrefix,omitempty"`

	// userRef names a DatabaseUser, whose Secret is used in place of that of the cluster. Such a user can have fewer rights than the owner
	// of the database. Default: the connection Secret of the cluster.
	// +optional
	UserRef *CompanionUserRef `json:"userRef,omitempty"`

	// onChange selects the reaction when a password, an address or the CA in the Secret changes. Restart: the pods restart, one after another.
	// Reload: the kubelet replaces the files, and the application reads them again. Default: Restart.
	// +optional
	// +kubebuilder:validation:Enum=Restart;Reload
	OnChange CompanionConnectionChange `json:"onChange,omitempty"`
}

// CompanionUserRef names a DatabaseUser.
type CompanionUserRef struct {
	// name is the name of the DatabaseUser.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="name must be the name of a DatabaseUser: lowercase letters, digits and '-'"
	Name string `json:"name"`
}

// CompanionService configures the Service of a companion.
//
// +kubebuilder:validation:MinProperties=1
type CompanionService struct {
	// port is the port of the Service, 1 to 65535. Default: the port of the pods.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// type is ClusterIP, NodePort or LoadBalancer. Default: ClusterIP.
	// +optional
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	Type corev1.ServiceType `json:"type,omitempty"`

	// annotations are added to the Service, for example for a load balancer. Keys that start with database.dbcluster.io/ are reserved for
	// the operator. Default: none.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('database.dbcluster.io/'))",message="spec.service.annotations must not set keys that start with 'database.dbcluster.io/': these keys are reserved for the operator"
	Annotations map[string]string `json:"annotations,omitempty"`
}

// CompanionPods describes the pods of a companion.
type CompanionPods struct {
	// resources are the CPU and memory of each pod. An autoscaler by CPU needs a request. Default: no requests, no limits.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:resourceRequirements"
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// container overrides how the container runs.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Container CompanionContainer `json:"container,omitzero"`

	// pod adds to the pods.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Pod CompanionPod `json:"pod,omitzero"`

	// scheduling selects the nodes. The pods are spread over nodes and zones where possible.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Scheduling CompanionScheduling `json:"scheduling,omitzero"`
}

// CompanionContainer overrides how the container of a companion runs.
type CompanionContainer struct {
	// command replaces the image's entrypoint. Default: the engine's, or the image's entrypoint.
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

	// env are environment variables. Names that start with "DBC_" are reserved for the operator. Default: none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:XValidation:rule="self.all(e, !e.name.startsWith('DBC_'))",message="spec.container.env must not set variables whose names start with 'DBC_': these names are reserved for the operator"
	Env []corev1.EnvVar `json:"env,omitempty"`

	// envFrom sets environment variables from Secrets and ConfigMaps of this namespace. The pods do not restart when their content
	// changes. Default: none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// imagePullPolicy controls when the kubelet pulls the image: Always, IfNotPresent or Never. Default: Always for the tag "latest",
	// otherwise IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	MemberProbes `json:",inline"`

	// securityContext overrides, field by field, the defaults of the container: allowPrivilegeEscalation false, all capabilities dropped.
	// +optional
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`
}

// CompanionPod adds to the pods of a companion.
type CompanionPod struct {
	// labels are added to the pods. Keys that start with app.kubernetes.io/ or database.dbcluster.io/ are reserved for the operator.
	// Default: none.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('app.kubernetes.io/') && !key.startsWith('database.dbcluster.io/') && key != 'pod-template-hash')",message="spec.pod.labels must not set keys that start with 'app.kubernetes.io/' or 'database.dbcluster.io/', nor 'pod-template-hash': these keys are reserved for Kubernetes and the operator"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the pods. Keys that start with database.dbcluster.io/ or scripts.database.dbcluster.io/ are reserved for
	// the operator. Default: none.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('database.dbcluster.io/') && !key.startsWith('scripts.database.dbcluster.io/'))",message="spec.pod.annotations must not set keys that start with 'database.dbcluster.io/' or 'scripts.database.dbcluster.io/': these keys are reserved for the operator"
	Annotations map[string]string `json:"annotations,omitempty"`

	// imagePullSecrets name Secrets of this namespace with the credentials of image registries. Default: none.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// securityContext overrides, field by field, the defaults of the pods: runAsNonRoot true, seccompProfile RuntimeDefault, fsGroup 65532,
	// fsGroupChangePolicy OnRootMismatch.
	// +optional
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`

	// terminationGracePeriodSeconds is the time that a pod has to stop before the kubelet kills it, in seconds, 0 to 86400. Default: the
	// engine's, or 30.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
}

// CompanionScheduling selects the nodes of a companion.
type CompanionScheduling struct {
	// nodeSelector are labels that a node must have. Default: none.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// affinity are node affinity, pod affinity and pod anti-affinity of the pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// tolerations let pods run on tainted nodes. Default: none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// topologySpreadConstraints replace the spread over nodes and zones. Default: the pods are spread where possible.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// priorityClassName is the PriorityClass of the pods. Default: the default PriorityClass.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`
}
