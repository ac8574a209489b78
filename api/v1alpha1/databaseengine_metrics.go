/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// EngineMetrics describes where members serve metrics for Prometheus, and which of them are the same for every engine.
//
// Each expression is PromQL with one value for each member, so it keeps the label pod. "$(CLUSTER)" is replaced by the matchers of the
// cluster. Example: sum by (pod) (rate(ledger_requests_total{$(CLUSTER)}[5m])).
//
// +kubebuilder:validation:XValidation:rule="has(self.port) != has(self.sidecar)",message="spec.metrics must have either port, if the database itself serves metrics, or sidecar"
type EngineMetrics struct {
	// port is the TCP port at which the database itself serves metrics without TLS and without a password, 1 to 65535. Members need no
	// sidecar then. Default: the sidecar serves the metrics.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// sidecar is the exporter that runs beside the database. Default: the database itself serves metrics.
	// +optional
	Sidecar *EngineExporter `json:"sidecar,omitempty"`

	// path is the path of the metrics. Default: /metrics.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[-A-Za-z0-9_./]*$')",message="spec.metrics.path must start with '/' and have letters, digits, '-', '_', '.' and '/' only"
	Path string `json:"path,omitempty"`

	// requests are the requests of a member per second.
	// +required
	Requests EngineExpression `json:"requests"`

	// errors are the failed requests of a member per second. Default: the errors are unknown.
	// +optional
	Errors EngineExpression `json:"errors,omitempty"`

	// duration is the average duration of a request of a member, in seconds. Default: the duration is unknown.
	// +optional
	Duration EngineExpression `json:"duration,omitempty"`

	// saturation is how much of its scarcest resource a member uses, from 0 to 1: for example its connections. Default: the
	// saturation is unknown.
	// +optional
	Saturation EngineExpression `json:"saturation,omitempty"`
}

// EngineExpression is an expression in PromQL.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:XValidation:rule="self.contains('$(CLUSTER)')",message="an expression in spec.metrics must have $(CLUSTER) in the braces of each metric, as in requests_total{$(CLUSTER)}"
type EngineExpression string

// EngineExporter is a sidecar that serves the metrics of the member in its pod. The member stays ready when the exporter fails: a shell
// starts it again when it ends, and when its keys change. So the image must have sh.
//
// The variables of the exporter are DBC_PORT, DBC_METRICS_PORT and DBC_SECRETS_DIR. In clusters with spec.tls it also has DBC_TLS_MODE
// and DBC_TLS_DIR, which has only ca.crt. The exporter has the scripts of members in /dbc/scripts.
type EngineExporter struct {
	// image is the image of the exporter. Default: clusters set spec.monitoring.exporter.image.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]*$')",message="spec.metrics.sidecar.image must not contain spaces"
	Image string `json:"image,omitempty"`

	// command starts the exporter, which must listen on DBC_METRICS_PORT.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command"`

	// env are environment variables of the exporter. Default: none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Env []EngineVariable `json:"env,omitempty"`

	// port is the TCP port of the exporter in clusters that do not set spec.monitoring.port, 1 to 65535.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// secretKeys are those of spec.secretKeys that the exporter finds as files in DBC_SECRETS_DIR. It gets no others. Give it the
	// password of an account that can read metrics only. Clusters without monitoring do not need keys that nothing else uses. Default: none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=4
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	SecretKeys []string `json:"secretKeys,omitempty"`
}
