/*
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// subject is a cluster with the objects that a scrape reads with it.
type subject struct {
	*dbv1.DatabaseCluster
	// engine is nil if the cluster has none, or if it is unknown.
	engine *dbv1.DatabaseEngine
	// pods are those with the name of the cluster in their labels.
	pods []*corev1.Pod
}

// objects are those of which a scrape reports.
type objects struct {
	clusters   []subject
	companions []*dbv1.DatabaseCompanion
}

// collector reads the objects at each scrape and keeps no state: a deleted object leaves no series, and no value
// becomes stale.
type collector struct {
	list func() (objects, error)
}

// Describe sends every metric.
func (collector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- leading
	for _, g := range gauges {
		descriptions <- g.description
	}
	for _, g := range companionGauges {
		descriptions <- g.description
	}
}

// Collect reads every metric of every object. If the objects cannot be listed, the scrape fails.
func (c collector) Collect(metrics chan<- prometheus.Metric) {
	all, err := c.list()
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(leading, err)
		return
	}
	metrics <- constant(leading, 1)
	for _, cluster := range all.clusters {
		send(metrics, gauges, cluster)
	}
	for _, companion := range all.companions {
		send(metrics, companionGauges, companion)
	}
}

// send sends the series of one object.
func send[T metav1.ObjectMetaAccessor](metrics chan<- prometheus.Metric, gauges []gauge[T], object T) {
	for _, g := range gauges {
		for _, s := range g.samples(object) {
			labels := append([]string{object.GetObjectMeta().GetNamespace(), object.GetObjectMeta().GetName()}, s.labels...)
			metrics <- constant(g.description, s.value, labels...)
		}
	}
}

// constant is a metric, or an invalid metric with its error.
func constant(description *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	metric, err := prometheus.NewConstMetric(description, prometheus.GaugeValue, value, labels...)
	if err != nil {
		return prometheus.NewInvalidMetric(description, err)
	}
	return metric
}
