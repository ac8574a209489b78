/*
SPDX-License-Identifier: Apache-2.0
*/

package space_test

import (
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/space"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// meter answers the same to each question, and has the nodes of the last one.
type meter struct {
	answer state.NodeUsage
	nodes  map[string]string
}

func (m *meter) Ask(_ client.ObjectKey, nodes map[string]string) map[string]state.NodeUsage {
	m.nodes = nodes
	return map[string]state.NodeUsage{"one": m.answer}
}

func TestWhatAKubeletDoesNotReportIsUnknown(t *testing.T) {
	seen := func(ago time.Duration) map[string]state.VolumeUsage {
		return map[string]state.VolumeUsage{"shop/data-orders-0": {UsedPercent: 40, Measured: plans.Now.Add(-ago)}}
	}
	for name, c := range map[string]struct {
		answer  state.NodeUsage
		created time.Duration
		want    string
	}{
		"before the first answer":      {state.NodeUsage{}, time.Hour, "begun false, measured 0, unknown []"},
		"a measurement":                {state.NodeUsage{Asked: true, Volumes: seen(time.Minute)}, time.Hour, "begun true, measured 1, unknown []"},
		"one before a failure":         {state.NodeUsage{Asked: true, Problem: "why", Volumes: seen(time.Minute)}, time.Hour, "begun true, measured 1, unknown []"},
		"an old one before a failure":  {state.NodeUsage{Asked: true, Problem: "why", Volumes: seen(time.Hour)}, time.Hour, "begun true, measured 0, unknown [PersistentVolumeClaim data-orders-0: why]"},
		"a new pod":                    {state.NodeUsage{Asked: true}, time.Minute, "begun true, measured 0, unknown []"},
		"a driver that reports no use": {state.NodeUsage{Asked: true}, time.Hour, "begun true, measured 0, unknown [PersistentVolumeClaim data-orders-0: the kubelet of node one reports no use of the volume; its CSI driver may not support that]"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.observed.Members, f.observed.Volumes = f.observed.Members[:1], f.observed.Volumes[:1]
			f.observed.Members[0].Node, f.observed.Members[0].NodeAddress, f.observed.Members[0].Created = "one", "10.0.0.1", plans.Ago(c.created)
			m := &meter{answer: c.answer}
			o := &subject.ClusterReading{Reading: kit.Reading{Object: f.cluster}, Cluster: f.cluster, Meter: m, Observed: f.observed}
			space.Subject.Read(t.Context(), o)
			got := state.FactsOf[space.Facts](o.Observed)
			if text := fmt.Sprintf("begun %t, measured %d, unknown %v", got.Begun, len(got.Measured), got.Unknown); text != c.want {
				t.Errorf("got %s", text)
			}
			if m.nodes["one"] != "10.0.0.1" {
				t.Errorf("it asks %v", m.nodes)
			}
			f.cluster.Spec.Storage.AutoGrow = nil
			if space.Subject.Read(t.Context(), o); len(m.nodes) != 0 {
				t.Errorf("a cluster that does not ask asks %v", m.nodes)
			}
		})
	}
}
