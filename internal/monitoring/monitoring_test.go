/*
SPDX-License-Identifier: Apache-2.0
*/

package monitoring_test

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/monitoring"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func ledger() *dbv1.DatabaseEngine {
	declared := &dbv1.DatabaseEngine{}
	declared.Name = "ledger-v1"
	declared.Spec.Metrics = &dbv1.EngineMetrics{
		Port: 9400, Path: "/stats",
		Requests: "sum by (pod) (rate(requests_total{$(CLUSTER)}[5m]))", Errors: "sum by (pod) (rate(errors_total{$(CLUSTER)}[5m]))",
		Duration: "mean_seconds{$(CLUSTER)}", Saturation: "used{$(CLUSTER)} / limit{$(CLUSTER)}",
	}
	return declared
}

func exported() *dbv1.DatabaseEngine {
	declared := ledger()
	declared.Spec.Metrics = &dbv1.EngineMetrics{
		Requests: "requests_total{$(CLUSTER)}", Sidecar: &dbv1.EngineExporter{Image: "exporter:1", Command: []string{"exporter"}, Port: 9100},
	}
	return declared
}

func monitored(mode dbv1.ClusterMonitoringMode) *dbv1.DatabaseCluster {
	c := plans.Orders()
	c.Spec.Engine, c.Spec.Monitoring = "ledger-v1", &dbv1.ClusterMonitoring{Mode: mode}
	return c
}

func TestTheObjectsForPrometheusMatchTheGoldenFiles(t *testing.T) {
	full := monitored(dbv1.MonitoringPrometheus)
	full.Spec.Monitoring.IntervalSeconds, full.Spec.Monitoring.Labels = 15, map[string]dbv1.ClusterMonitoringLabel{"release": "prometheus"}
	full.Spec.Monitoring.Alerts = dbv1.ClusterAlerts{ErrorPercent: 20, SaturationPercent: 70}
	few := engine.Resolve(monitored(dbv1.MonitoringPrometheus), exported())
	for name, child := range map[string]objects.Child{
		"full.podmonitor":        monitoring.PodMonitor(engine.Resolve(full, ledger()), ledger().Spec.Metrics),
		"full.prometheusrule":    monitoring.PrometheusRule(engine.Resolve(full, ledger()), ledger().Spec.Metrics),
		"sidecar.podmonitor":     monitoring.PodMonitor(few, exported().Spec.Metrics),
		"sidecar.prometheusrule": monitoring.PrometheusRule(few, exported().Spec.Metrics),
	} {
		t.Run(name, func(t *testing.T) { golden.Compare(t, name, child) })
	}
}

// pass is a cluster in a state, and what the subject decides and reports.
func pass(t *testing.T, c *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, seen monitoring.Facts) (d subject.Decision, operations, condition string) {
	t.Helper()
	o := plans.Standing(t, plans.Orders())
	o.Engine = declared
	state.Put(&o, seen)
	d = monitoring.Subject.Decide(situation.Of(c, o))
	for _, one := range d.Operations {
		operations += one.String() + "\n"
		if is := one.Properties(); !is.Independent || !is.Optional || is.Disruptive {
			t.Errorf("%s may prevent another operation", one)
		}
	}
	if d.Report != nil {
		for _, c := range d.Report(subject.Executed{Operations: d.Operations}, &dbv1.DatabaseClusterStatus{}) {
			condition = string(c.Status) + " " + c.Reason + ": " + c.Message
		}
	}
	return d, operations, condition
}

func lives(child objects.Child) monitoring.Found {
	live := child.Object.DeepCopy()
	live.SetUID("live")
	return monitoring.Found{Live: live}
}

// written are the objects of a cluster, as they were written.
func written(c *dbv1.DatabaseCluster) monitoring.Facts {
	resolved, metrics := engine.Resolve(c, ledger()), ledger().Spec.Metrics
	return monitoring.Facts{Monitor: lives(monitoring.PodMonitor(resolved, metrics)), Rule: lives(monitoring.PrometheusRule(resolved, metrics))}
}

func edited(seen monitoring.Facts) monitoring.Facts {
	_ = unstructured.SetNestedField(seen.Monitor.Live.Object, "another", "spec", "jobLabel")
	return seen
}

func TestTheOperatorWritesTheObjectsThatTheSpecAsksFor(t *testing.T) {
	asks := func() *dbv1.DatabaseCluster { return monitored(dbv1.MonitoringPrometheus) }
	for name, c := range map[string]struct {
		cluster   *dbv1.DatabaseCluster
		engine    *dbv1.DatabaseEngine
		seen      monitoring.Facts
		does      string
		condition string
		again     bool
	}{
		"nothing is asked":      {monitored(""), ledger(), monitoring.Facts{}, "", "", false},
		"the mode None":         {monitored(dbv1.MonitoringNone), ledger(), monitoring.Facts{}, "", "", false},
		"they do not exist":     {asks(), ledger(), monitoring.Facts{}, "create PodMonitor orders-metrics\ncreate PrometheusRule orders-metrics\n", "True MonitoringConfigured: members that match the spec serve metrics on port 9400; PodMonitor and PrometheusRule orders-metrics exist", false},
		"they are as wanted":    {asks(), ledger(), written(asks()), "", "True MonitoringConfigured: members that match the spec serve metrics on port 9400; PodMonitor and PrometheusRule orders-metrics exist", false},
		"one is edited":         {asks(), ledger(), edited(written(asks())), "update PodMonitor orders-metrics (spec)\n", "True Mon", false},
		"metrics only":          {monitored(dbv1.MonitoringMetrics), ledger(), monitoring.Facts{}, "", "True MonitoringConfigured: members that match the spec serve metrics on port 9400", false},
		"no longer asked":       {monitored(dbv1.MonitoringMetrics), ledger(), written(asks()), "delete PodMonitor orders-metrics", "True", false},
		"no engine":             {func() *dbv1.DatabaseCluster { c := asks(); c.Spec.Engine = ""; return c }(), nil, monitoring.Facts{}, "", "False MetricsUnsupported: spec.monitoring.mode is Prometheus, but the cluster has no engine: set spec.engine", false},
		"no metrics":            {asks(), &dbv1.DatabaseEngine{}, monitoring.Facts{}, "", "False MetricsUnsupported: spec.monitoring.mode is Prometheus, but DatabaseEngine", false},
		"the engine is unknown": {asks(), nil, written(asks()), "", "False MonitoringPending", false},
		"no image": {asks(), func() *dbv1.DatabaseEngine { e := exported(); e.Spec.Metrics.Sidecar.Image = ""; return e }(), monitoring.Facts{}, "",
			"False ExporterImageMissing: DatabaseEngine ledger-v1 names no image of its exporter: set spec.monitoring.exporter.image", false},
		"the kind is missing": {asks(), ledger(), monitoring.Facts{Refused: "install it"}, "", "False PrometheusOperatorMissing: spec.monitoring.mode Prometheus needs the Prometheus Operator: install it", true},
		"they are unreadable": {asks(), ledger(), monitoring.Facts{Unread: "the conversion failed"}, "", "False MonitoringPending: the objects for spec.monitoring are not written yet: the conversion failed", true},
		"no longer asked, and unreadable": {monitored(""), ledger(), monitoring.Facts{Unread: "the conversion failed"}, "",
			"False MonitoringPending: the objects for spec.monitoring are not deleted yet: the conversion failed", true},
		"another owner": {asks(), ledger(), monitoring.Facts{Monitor: monitoring.Found{Foreign: true}}, "create PrometheusRule orders-metrics\n",
			"False MonitorOwnedByAnother: PodMonitor orders-metrics has another owner: rename or delete it, or set spec.monitoring.mode to Metrics", false},
	} {
		t.Run(name, func(t *testing.T) {
			d, does, condition := pass(t, c.cluster, c.engine, c.seen)
			if !strings.HasPrefix(does, c.does) || c.does == "" && does != "" {
				t.Errorf("it does\n%swant\n%s", does, c.does)
			}
			if !strings.HasPrefix(condition, c.condition) || c.condition == "" && condition != "" {
				t.Errorf("it reports\n%s\nwant\n%s", condition, c.condition)
			}
			if (d.RequeueAfter > 0) != c.again || d.Stalled != nil {
				t.Errorf("it looks again after %s, stalled %v", d.RequeueAfter, d.Stalled)
			}
		})
	}
}

// The cluster is ready without these objects, so no other condition has the cause.
func TestTheConditionNamesWhyAnObjectIsNotWritten(t *testing.T) {
	c := monitored(dbv1.MonitoringPrometheus)
	d, _, _ := pass(t, c, ledger(), monitoring.Facts{})
	found := d.Report(subject.Executed{Optional: errors.New("a webhook denied the request")}, &dbv1.DatabaseClusterStatus{})
	if want := "the objects for spec.monitoring are not written yet: a webhook denied the request"; found[0].Message != want {
		t.Errorf("%s, want %s", found[0].Message, want)
	}
}

// A paused cluster gets no object, so the status claims none.
func TestNothingIsClaimedThatWasNotWritten(t *testing.T) {
	c := monitored(dbv1.MonitoringPrometheus)
	c.Spec.Paused = true
	if _, _, condition := pass(t, c, ledger(), monitoring.Facts{}); !strings.HasPrefix(condition, "False MonitoringPending") {
		t.Error(condition)
	}
}

func TestADeletionLeavesTheObjectsToTheGarbageCollector(t *testing.T) {
	c := monitored(dbv1.MonitoringPrometheus)
	c.DeletionTimestamp = &c.CreationTimestamp
	if d, does, _ := pass(t, c, ledger(), written(c)); does != "" || d.Report != nil {
		t.Error(does)
	}
}

func TestEveryExpressionSelectsOneCluster(t *testing.T) {
	c := engine.Resolve(monitored(dbv1.MonitoringPrometheus), ledger())
	groups, _, _ := unstructured.NestedSlice(monitoring.PrometheusRule(c, ledger().Spec.Metrics).Object.Object, "spec", "groups")
	for _, group := range groups {
		rules, _ := group.(map[string]any)["rules"].([]any)
		for _, rule := range rules {
			text, _ := rule.(map[string]any)["expr"].(string)
			selectors := strings.Count(text, `{namespace="shop",dbcluster="orders"`) + strings.Count(text, `{namespace="shop",name="orders"}`)
			if strings.Contains(text, "$(") || strings.Count(text, "{") != selectors {
				t.Error(text)
			}
		}
	}
}
