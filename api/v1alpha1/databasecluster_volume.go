/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// Volume is an additional volume of every member's pod.
//
// +kubebuilder:validation:XValidation:rule="(has(self.configMap) ? 1 : 0) + (has(self.secret) ? 1 : 0) + (has(self.emptyDir) ? 1 : 0) + (has(self.projected) ? 1 : 0) + (has(self.csi) ? 1 : 0) == 1",message="spec.pod.volumes[] must have exactly one of configMap, secret, emptyDir, projected and csi"
type ClusterVolume struct {
	// name is the name of the volume. "data" and "config" are reserved for the operator.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && !(self in ['data', 'config']) && !self.startsWith('dbc-')",message="spec.pod.volumes[].name must be a DNS label other than 'data' and 'config' that does not start with 'dbc-': these names are reserved for the operator"
	Name string `json:"name"`

	// configMap is a ConfigMap of this namespace. A change of its content restarts the members one by one.
	// +optional
	ConfigMap *corev1.ConfigMapVolumeSource `json:"configMap,omitempty"`

	// secret is a Secret of this namespace. A change of its content restarts the members one by one.
	// +optional
	Secret *corev1.SecretVolumeSource `json:"secret,omitempty"`

	// emptyDir is an empty directory that is deleted with the pod.
	// +optional
	EmptyDir *corev1.EmptyDirVolumeSource `json:"emptyDir,omitempty"`

	// projected combines several sources in one directory.
	// +optional
	Projected *ClusterProjectedVolume `json:"projected,omitempty"`

	// csi is an ephemeral volume of a CSI driver, for example of a secrets store. It is deleted with the pod.
	// +optional
	CSI *ClusterCSIVolume `json:"csi,omitempty"`
}

// ClusterProjectedVolume combines several sources in one directory.
type ClusterProjectedVolume struct {
	// sources are the sources of the files.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Sources []ClusterVolumeProjection `json:"sources"`

	// defaultMode is the mode of the files, 0 to 511 (octal 0777). Default: 420 (octal 0644).
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=511
	DefaultMode *int32 `json:"defaultMode,omitempty"`
}

// VolumeProjection is one source of a projected volume.
//
// +kubebuilder:validation:XValidation:rule="(has(self.configMap) ? 1 : 0) + (has(self.secret) ? 1 : 0) + (has(self.downwardAPI) ? 1 : 0) + (has(self.serviceAccountToken) ? 1 : 0) + (has(self.clusterTrustBundle) ? 1 : 0) == 1",message="spec.pod.volumes[].projected.sources[] must have exactly one of configMap, secret, downwardAPI, serviceAccountToken and clusterTrustBundle"
type ClusterVolumeProjection struct {
	// configMap is a ConfigMap of this namespace. A change of its content restarts the members one by one.
	// +optional
	ConfigMap *corev1.ConfigMapProjection `json:"configMap,omitempty"`

	// secret is a Secret of this namespace. A change of its content restarts the members one by one.
	// +optional
	Secret *corev1.SecretProjection `json:"secret,omitempty"`

	// downwardAPI are fields of the pod.
	// +optional
	DownwardAPI *corev1.DownwardAPIProjection `json:"downwardAPI,omitempty"` //nolint:tagliatelle // as Kubernetes spells it

	// serviceAccountToken is a token of spec.serviceAccount for an audience, which the kubelet renews.
	// +optional
	ServiceAccountToken *ClusterTokenProjection `json:"serviceAccountToken,omitempty"`

	// clusterTrustBundle are certificate authorities of ClusterTrustBundles. It needs an API server that serves
	// ClusterTrustBundles.
	// +optional
	ClusterTrustBundle *corev1.ClusterTrustBundleProjection `json:"clusterTrustBundle,omitempty"`
}

// ClusterTokenProjection is a token of the pod's ServiceAccount for an audience.
type ClusterTokenProjection struct {
	// audience is the service that the token is for. The API server is no default audience here: the members have no
	// token for it unless you name its audience.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Audience string `json:"audience"`

	// expirationSeconds is how long the token is valid, in seconds, 600 to 4294967296. The kubelet renews it before.
	// Default: 3600.
	// +optional
	// +kubebuilder:validation:Minimum=600
	// +kubebuilder:validation:Maximum=4294967296
	ExpirationSeconds *int64 `json:"expirationSeconds,omitempty"`

	// path is the relative path of the file in the volume.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Path string `json:"path"`
}

// ClusterCSIVolume is an ephemeral volume of a CSI driver.
type ClusterCSIVolume struct {
	// driver is the name of the CSI driver, for example secrets-store.csi.k8s.io.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Driver string `json:"driver"`

	// readOnly mounts the volume read-only. Default: false.
	// +optional
	ReadOnly *bool `json:"readOnly,omitempty"`

	// fsType is the file system, for example ext4. Default: that of the driver.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	FSType *string `json:"fsType,omitempty"`

	// volumeAttributes are settings for the driver. Default: none.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	VolumeAttributes map[string]string `json:"volumeAttributes,omitempty"`

	// nodePublishSecretRef is a Secret of this namespace that the kubelet passes to the driver. A change of its content
	// restarts the members one by one. Default: none.
	// +optional
	NodePublishSecretRef *corev1.LocalObjectReference `json:"nodePublishSecretRef,omitempty"`
}

// VolumeMount mounts a volume into a container.
type ClusterVolumeMount struct {
	// name is the name of the volume: one of spec.pod.volumes, "data" or, with spec.config, "config".
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// mountPath is the absolute path at which the volume is mounted.
	// +required
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[^/:]+)+$') && !self.contains('/../') && !self.endsWith('/..')",message="mountPath must be an absolute path without ':' or '..', and must not end in '/'"
	MountPath string `json:"mountPath"`

	// subPath is the path in the volume to mount. Default: the whole volume.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	SubPath string `json:"subPath,omitempty"`

	// readOnly mounts the volume read-only. Default: false.
	// +optional
	ReadOnly bool `json:"readOnly,omitempty"`
}
