/*
SPDX-License-Identifier: Apache-2.0
*/

package monitoring

import (
	"cmp"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// ClusterLabel is the label of each series with the name of the cluster.
const ClusterLabel = "dbcluster"

// defaultInterval is the time between two scrapes, in seconds.
const defaultInterval int32 = 30

// object is an object of the Prometheus Operator with this spec.
func object(cluster *dbv1.DatabaseCluster, kind schema.GroupVersionKind, spec map[string]any) objects.Child {
	made := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	made.SetGroupVersionKind(kind)
	made.SetNamespace(cluster.Namespace)
	made.SetName(naming.Monitoring(cluster.Name))
	labels := map[string]string{}
	for key, value := range cluster.Spec.Monitoring.Labels {
		labels[key] = string(value)
	}
	maps.Copy(labels, naming.Labels(cluster, dbv1.ComponentMonitoring))
	made.SetLabels(labels)
	objects.SetField(made.Object, []any{objects.Fields(objects.OwnedBy(cluster))}, "metadata", "ownerReferences")
	return objects.New(made, []string{"spec"})
}

// PodMonitor lets Prometheus scrape the members of a resolved cluster.
func PodMonitor(cluster *dbv1.DatabaseCluster, metrics *dbv1.EngineMetrics) objects.Child {
	endpoint := map[string]any{
		"path":        cmp.Or(metrics.Path, "/metrics"),
		"interval":    fmt.Sprintf("%ds", cmp.Or(cluster.Spec.Monitoring.IntervalSeconds, defaultInterval)),
		"relabelings": relabelings(cluster, metrics),
		"port":        naming.MetricsPort,
	}
	if metrics.Sidecar == nil {
		endpoint["port"] = naming.Port
	}
	selector := map[string]any{}
	for key, value := range naming.Selector(cluster.Name) {
		selector[key] = value
	}
	return object(cluster, naming.PodMonitorKind, map[string]any{
		"selector":            map[string]any{"matchLabels": selector},
		"podMetricsEndpoints": []any{endpoint},
	})
}

// relabelings name the cluster. Prometheus finds only ports that the pod declares. So if the database itself serves metrics, its target
// is the port of clients, with another number in the address: a declared port more would restart the members.
func relabelings(cluster *dbv1.DatabaseCluster, metrics *dbv1.EngineMetrics) []any {
	rename := map[string]any{"action": "replace", "targetLabel": ClusterLabel, "replacement": cluster.Name}
	if metrics.Sidecar != nil {
		return []any{rename}
	}
	address := func(regex, replacement string) map[string]any {
		return map[string]any{"action": "replace", "sourceLabels": []any{"__meta_kubernetes_pod_ip"}, "regex": regex,
			"targetLabel": "__address__", "replacement": replacement}
	}
	return []any{
		rename,
		address("([0-9.]+)", fmt.Sprintf("$1:%d", metrics.Port)),
		address("(.*:.*)", fmt.Sprintf("[$1]:%d", metrics.Port)),
	}
}
