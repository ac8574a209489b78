/*
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

func TestOnlyAnExporterThatRunsOffersMetrics(t *testing.T) {
	registry := &announcing{Registry: prometheus.NewRegistry(), registered: make(chan struct{})}
	exporter := exporting(t, registry)
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
	text := strings.Join(series(t, registry), "\n")
	for _, want := range []string{"databasecluster_spec_replicas{name=orders,namespace=shop} 3", "databasecluster_member_lag_bytes{name=orders,namespace=shop,pod=orders-1} 8", "databasecompanion_status_ready_replicas{cluster=orders,name=pooler,namespace=shop} 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing:\n%s", want, text)
		}
	}

	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if lines := series(t, registry); len(lines) > 0 {
		t.Errorf("series after it ended: %v", lines)
	}
}

// exporting exports a cluster with a primary and a replica. Another namespace has pods with the same labels.
func exporting(t *testing.T, registry prometheus.Registerer) Exporter {
	scheme := runtime.NewScheme()
	if err := errors.Join(dbv1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	cluster := orders()
	cluster.UID, cluster.Spec.Engine = "u-1", "ledger-v1"
	elsewhere := member(cluster, 2, "primary", 5000)
	elsewhere.Namespace = "bank"
	reader := fakeclient.For(scheme).WithObjects(&cluster, pooler(), member(cluster, 0, "primary", 50), member(cluster, 1, "replica", 42), elsewhere).Build()
	engines := func(context.Context) ([]dbv1.DatabaseEngine, error) { return []dbv1.DatabaseEngine{*replicated()}, nil }
	return Exporter{Objects: reader, Engines: engines, Registry: registry}
}

func TestAScrapeFailsIfAKindCannotBeListed(t *testing.T) {
	exporter := exporting(t, nil)
	exporter.Engines = func(context.Context) ([]dbv1.DatabaseEngine, error) { return nil, errors.New("no engines") }
	if _, err := exporter.list(t.Context()); err == nil || err.Error() != "list the engines: no engines" {
		t.Errorf("got %v", err)
	}
	for what, kind := range map[string]client.ObjectList{"clusters": &dbv1.DatabaseClusterList{}, "pods": &corev1.PodList{}, "companions": &dbv1.DatabaseCompanionList{}} {
		exporter = exporting(t, nil)
		exporter.Objects = without{exporter.Objects, reflect.TypeOf(kind)}
		if _, err := exporter.list(t.Context()); err == nil || err.Error() != "list the "+what+": not this one" {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// without cannot list one kind.
type without struct {
	client.Reader
	kind reflect.Type
}

func (w without) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	if reflect.TypeOf(into) == w.kind {
		return errors.New("not this one")
	}
	return w.Reader.List(ctx, into, options...)
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
