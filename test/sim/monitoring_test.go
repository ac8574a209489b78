/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// measured is the name of an engine with an exporter.
const measured = "measured-v1"

// withMeasured creates the engine before a step.
func withMeasured(s world.Step) world.Step {
	do := s.Do
	s.Do = func(w *world.World) {
		e := &dbv1.DatabaseEngine{}
		e.Name = measured
		e.Spec.Topology = dbv1.TopologyIndependent
		e.Spec.Metrics = &dbv1.EngineMetrics{
			Requests: "requests_total{$(CLUSTER)}", Sidecar: &dbv1.EngineExporter{Image: "exporter:1", Command: []string{"exporter"}, Port: 9100},
		}
		w.Store.Put(e)
		do(w)
	}
	return s
}

func ofMeasured(c *dbv1.DatabaseCluster) { c.Spec.Engine = measured }

// serving sets how the members serve metrics.
func serving(change func(*dbv1.ClusterMonitoring)) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		if c.Spec.Monitoring == nil {
			c.Spec.Monitoring = &dbv1.ClusterMonitoring{}
		}
		change(c.Spec.Monitoring)
	}
}

// monitoringSequences show which changes of the monitoring restart members.
var monitoringSequences = []world.Story{
	world.Tell("metrics", withMeasured(running(2, ofMeasured)),
		set("the members are to serve metrics", serving(func(m *dbv1.ClusterMonitoring) { m.Mode = dbv1.MonitoringMetrics })),
		set("the interval and an alert change", serving(func(m *dbv1.ClusterMonitoring) { m.IntervalSeconds, m.Alerts.ErrorPercent = 60, 20 })),
		set("the exporter has another image", serving(func(m *dbv1.ClusterMonitoring) { m.Exporter.Image = "exporter:2" })),
		set("no metrics are asked for any more", func(c *dbv1.DatabaseCluster) { c.Spec.Monitoring = nil })),
	world.Tell("metrics-unsupported", running(1), set("the members are to serve metrics", serving(func(m *dbv1.ClusterMonitoring) { m.Mode = dbv1.MonitoringMetrics }))),
}
