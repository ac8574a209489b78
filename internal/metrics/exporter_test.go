/*
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

func TestOnlyAnExporterThatRunsOffersMetrics(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := dbv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	cluster := orders()
	registry := &announcing{Registry: prometheus.NewRegistry(), registered: make(chan struct{})}
	exporter := Exporter{Clusters: fakeclient.For(scheme).WithObjects(&cluster).Build(), Registry: registry}
	if lines := series(t, registry); len(lines) > 0 {
		t.Errorf("series before it was started: %v", lines)
	}

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- exporter.Start(ctx) }()
	select {
	case <-registry.registered:
	case <-time.After(time.Minute):
		t.Fatal("it registers nothing")
	}
	if text := strings.Join(series(t, registry), "\n"); !strings.Contains(text, "databasecluster_spec_replicas{name=orders,namespace=shop} 3") {
		t.Errorf("the cluster is missing:\n%s", text)
	}

	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if lines := series(t, registry); len(lines) > 0 {
		t.Errorf("series after it ended: %v", lines)
	}
}

func TestStandbysExportNothing(t *testing.T) {
	if !(Exporter{}).NeedLeaderElection() {
		t.Error("every replica would export every cluster, and sums would double")
	}
}

// announcing signals when the first collector has been registered.
type announcing struct {
	*prometheus.Registry
	registered chan struct{}
}

func (a *announcing) Register(c prometheus.Collector) error {
	defer close(a.registered)
	return a.Registry.Register(c)
}
