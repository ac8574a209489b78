//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// installPrometheusOperator installs the two CRDs.
func installPrometheusOperator(t *testing.T) {
	t.Helper()
	const folder = "example/prometheus-operator-crd/monitoring.coreos.com_"
	installCRDs(t, "prometheus-operator", "github.com/prometheus-operator/prometheus-operator", folder+"podmonitors.yaml", folder+"prometheusrules.yaml")
}

// removePrometheusOperator deletes the two CRDs, with all objects of their kinds.
func removePrometheusOperator(t *testing.T) {
	t.Helper()
	for _, name := range []string{"podmonitors.monitoring.coreos.com", "prometheusrules.monitoring.coreos.com"} {
		crd := definition("")
		crd.SetName(name)
		remove(t, crd)
		awaitDeleted(t, crd)
	}
}

// measuring is an engine that itself serves metrics, and one with an exporter.
func measuring(t *testing.T, name string, sidecar *dbv1.EngineExporter) string {
	t.Helper()
	declared := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: name}}
	declared.Spec.Topology = dbv1.TopologyIndependent
	declared.Spec.Metrics = &dbv1.EngineMetrics{Requests: "requests_total{$(CLUSTER)}", Errors: "errors_total{$(CLUSTER)}", Sidecar: sidecar}
	if sidecar == nil {
		declared.Spec.Metrics.Port = 9400
	}
	createFor(t, declared)
	return name
}

func monitor(c *dbv1.DatabaseCluster, kind apischema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetNamespace(c.Namespace)
	object.SetName(naming.Monitoring(c.Name))
	return object
}

// The kinds are the real ones. The operator has only the rights that it is shipped with.
func TestPrometheusGetsAPodMonitorAndARuleOfACluster(t *testing.T) {
	parallel(t)
	name := measuring(t, "measured-v1", nil)
	c := started(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = name }, healthy)
	members := membersOf(t, c)
	change(t, c, func(c *dbv1.DatabaseCluster) {
		c.Spec.Monitoring = &dbv1.ClusterMonitoring{Mode: dbv1.MonitoringPrometheus, IntervalSeconds: 15}
	})
	awaitCondition(t, c, dbv1.ConditionMonitoringConfigured, metav1.ConditionFalse, dbv1.ReasonPrometheusOperatorMissing,
		"the API server does not know the kind PodMonitor of group monitoring.coreos.com. Install the Prometheus Operator, or set spec.monitoring.mode to Metrics")
	awaitReady(t, c) // the database needs no Prometheus

	installPrometheusOperator(t)
	annotate(t, c, dbv1.AnnotationRefresh, "installed")
	awaitTrue(t, c, dbv1.ConditionMonitoringConfigured, dbv1.ReasonMonitoringConfigured, "port 9400", "PodMonitor and PrometheusRule orders-metrics exist")
	pods, rule := monitor(c, naming.PodMonitorKind), monitor(c, naming.PrometheusRuleKind)
	for _, object := range []*unstructured.Unstructured{pods, rule} {
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil || !metav1.IsControlledBy(object, c) {
			t.Fatal(object.GetKind(), err, object.GetOwnerReferences())
		}
	}
	endpoints, _, _ := unstructured.NestedSlice(pods.Object, "spec", "podMetricsEndpoints")
	if endpoint, _ := endpoints[0].(map[string]any); endpoint["interval"] != "15s" || endpoint["port"] != naming.Port {
		t.Errorf("the endpoint is %v", endpoint)
	}

	// An edit is reverted, and nothing is written after that.
	eventually(t, "an edit", func() error {
		latest := monitor(c, naming.PodMonitorKind)
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(latest), latest); err != nil {
			return err
		}
		_ = unstructured.SetNestedField(latest.Object, "elsewhere", "spec", "jobLabel")
		return admin.Update(t.Context(), latest)
	})
	annotate(t, c, dbv1.AnnotationRefresh, "edited")
	eventually(t, "the edit to be reverted", func() error {
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(pods), pods); err != nil {
			return err
		}
		label, found, _ := unstructured.NestedString(pods.Object, "spec", "jobLabel")
		return errorIf(found, "it has %s", label)
	})

	// Without the Prometheus Operator, the cluster is ready as before. When it comes back, the objects do, too.
	removePrometheusOperator(t)
	annotate(t, c, dbv1.AnnotationRefresh, "removed")
	awaitCondition(t, c, dbv1.ConditionMonitoringConfigured, metav1.ConditionFalse, dbv1.ReasonPrometheusOperatorMissing,
		"the API server does not know the kind PodMonitor of group monitoring.coreos.com. Install the Prometheus Operator, or set spec.monitoring.mode to Metrics")
	awaitReady(t, c)
	installPrometheusOperator(t)
	annotate(t, c, dbv1.AnnotationRefresh, "installed again")
	awaitTrue(t, c, dbv1.ConditionMonitoringConfigured, dbv1.ReasonMonitoringConfigured, "PodMonitor and PrometheusRule orders-metrics exist")
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(rule), rule); err != nil {
		t.Fatal(err)
	}

	before := rule.GetGeneration()
	change(t, c, func(c *dbv1.DatabaseCluster) { c.Spec.Monitoring.Alerts.ErrorPercent = 55 })
	await(t, rule, "another alert", func() bool { return rule.GetGeneration() != before })
	change(t, c, func(c *dbv1.DatabaseCluster) { c.Spec.Monitoring.Mode = dbv1.MonitoringMetrics })
	awaitDeleted(t, pods)
	awaitDeleted(t, rule)
	awaitTrue(t, c, dbv1.ConditionMonitoringConfigured, dbv1.ReasonMonitoringConfigured, "members that match the spec serve metrics on port 9400")
	if now := membersOf(t, c); !maps.Equal(now, members) {
		t.Errorf("a database that serves metrics itself was restarted: %v, before %v", now, members)
	}
}

func TestTheExporterIsRolledOutOnlyIfTheSpecAsksForIt(t *testing.T) {
	parallel(t)
	name := measuring(t, "measured-sidecar-v1", &dbv1.EngineExporter{Image: "example.test/exporter:1", Command: []string{"exporter"}, Port: 9100})
	c := started(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = name }, healthy)
	members := membersOf(t, c)
	change(t, c, func(c *dbv1.DatabaseCluster) {
		c.Spec.Monitoring = &dbv1.ClusterMonitoring{Mode: dbv1.MonitoringMetrics}
	})
	eventually(t, "each member to restart with the exporter", func() error {
		now := membersOf(t, c)
		for pod, uid := range now {
			if members[pod] == uid {
				return errorIf(true, "%s is the one from before", pod)
			}
		}
		return errorIf(len(now) != len(members), "%d members", len(now))
	})
	awaitReady(t, c)
	awaitTrue(t, c, dbv1.ConditionMonitoringConfigured, dbv1.ReasonMonitoringConfigured, "port 9100")
	members = membersOf(t, c)
	change(t, c, func(c *dbv1.DatabaseCluster) {
		c.Spec.Monitoring.IntervalSeconds, c.Spec.Monitoring.Alerts.ErrorPercent = 60, 50
	})
	awaitReady(t, c)
	if now := membersOf(t, c); !maps.Equal(now, members) {
		t.Errorf("another interval restarted members: %v, before %v", now, members)
	}
}
