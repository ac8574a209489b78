/*
SPDX-License-Identifier: Apache-2.0
*/

package naming

import "k8s.io/apimachinery/pkg/runtime/schema"

// prometheusOperator is the API group of the Prometheus Operator.
var prometheusOperator = schema.GroupVersion{Group: "monitoring.coreos.com", Version: "v1"}

// Kinds of the Prometheus Operator.
var (
	PodMonitorKind     = prometheusOperator.WithKind("PodMonitor")
	PrometheusRuleKind = prometheusOperator.WithKind("PrometheusRule")
)
