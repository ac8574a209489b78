/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// ClusterMonitoringMode selects what a cluster does for Prometheus.
type ClusterMonitoringMode string

const (
	// MonitoringNone means that the operator does nothing for the metrics of the database.
	MonitoringNone ClusterMonitoringMode = "None"
	// MonitoringMetrics means that the members serve metrics.
	MonitoringMetrics ClusterMonitoringMode = "Metrics"
	// MonitoringPrometheus means that the members serve metrics, and that the operator creates a PodMonitor and a PrometheusRule.
	MonitoringPrometheus ClusterMonitoringMode = "Prometheus"
)

// ClusterMonitoring configures the metrics of the database.
type ClusterMonitoring struct {
	// mode is None, Metrics or Prometheus. With Metrics the members serve the metrics that the engine declares. If the engine needs
	// an exporter for that, a change from or to None restarts the members one by one. Prometheus also creates a PodMonitor and a
	// PrometheusRule with the name of the cluster and "-metrics", for the Prometheus Operator. Default: None.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:Enum=None;Metrics;Prometheus
	Mode ClusterMonitoringMode `json:"mode,omitempty"`

	// port is the TCP port of the exporter, 1 to 65535. It has no effect if the database itself serves metrics. A change restarts
	// the members one by one. Default: the engine's spec.metrics.sidecar.port.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// intervalSeconds is the time between two scrapes, in seconds, 5 to 120. A change restarts no member. Default: 30.
	// +optional
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=120
	IntervalSeconds int32 `json:"intervalSeconds,omitempty"`

	// labels are added to the PodMonitor and the PrometheusRule, for a Prometheus that selects them by a label. Keys that start with
	// app.kubernetes.io/ or database.dbcluster.io/ are reserved for the operator. A change restarts no member. Default: none.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	// +kubebuilder:validation:XValidation:rule="self.all(key, key.size() <= 317 && !key.startsWith('app.kubernetes.io/') && !key.startsWith('database.dbcluster.io/'))",message="spec.monitoring.labels must not set keys that start with 'app.kubernetes.io/' or 'database.dbcluster.io/': these keys are reserved for the operator"
	Labels map[string]ClusterMonitoringLabel `json:"labels,omitempty"`

	// from are the peers that may connect to the port of the metrics, 1 to 16, such as the pods of Prometheus. A podSelector without a
	// namespaceSelector selects pods of the cluster's own namespace. It has an effect only with spec.networkPolicy.mode Managed. A
	// change restarts no member. Default: all clients.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(p, has(p.podSelector) || has(p.namespaceSelector) || has(p.ipBlock))",message="spec.monitoring.from[] must not be empty: set podSelector, namespaceSelector or ipBlock. To allow all clients, remove from"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.ipBlock) || !has(p.podSelector) && !has(p.namespaceSelector))",message="spec.monitoring.from[] must not have ipBlock together with podSelector or namespaceSelector: use two entries"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.ipBlock) || isCIDR(p.ipBlock.cidr))",message="spec.monitoring.from[].ipBlock.cidr must be an address range, for example 10.0.0.0/8 or 2001:db8::/32"
	From []networkingv1.NetworkPolicyPeer `json:"from,omitempty"`

	// exporter overrides how the exporter runs. It has no effect if the database itself serves metrics.
	// +optional
	Exporter ClusterExporter `json:"exporter,omitzero"`

	// alerts are the limits of the alerts in the PrometheusRule.
	// +optional
	Alerts ClusterAlerts `json:"alerts,omitzero"`
}

// ClusterMonitoringLabel is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')",message="a value in spec.monitoring.labels must have letters, digits, '-', '_' and '.' only, and begin and end with a letter or digit"
type ClusterMonitoringLabel string

// ClusterExporter overrides how the exporter runs.
type ClusterExporter struct {
	// image is the image of the exporter. It must have sh. A change restarts the members one by one. Default: the engine's
	// spec.metrics.sidecar.image.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]*$')",message="spec.monitoring.exporter.image must not contain spaces"
	Image string `json:"image,omitempty"`

	// imagePullPolicy controls when the kubelet pulls the image: Always, IfNotPresent or Never.
	// Default: Always for the tag "latest", otherwise IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// resources are the CPU and memory of the exporter. A change restarts the members one by one. Default: requests and limits of 100m
	// CPU and 128Mi memory.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`
}

// ClusterAlerts are the limits of alerts.
type ClusterAlerts struct {
	// errorPercent is the percentage of failed requests over ten minutes above which an alert fires, 1 to 100. Default: 5.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	ErrorPercent int32 `json:"errorPercent,omitempty"`

	// saturationPercent is the percentage of the scarcest resource above which an alert fires, 1 to 100. Default: 90.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	SaturationPercent int32 `json:"saturationPercent,omitempty"`
}
