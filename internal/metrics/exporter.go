/*
SPDX-License-Identifier: Apache-2.0
*/

// Package metrics exports the state of the DatabaseClusters to Prometheus.
package metrics

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// patience is how long a scrape waits for a cache to sync.
const patience = 5 * time.Second

// Exporter exports the metrics of the clusters while this replica is the leader. If standby replicas exported them,
// too, each cluster would count twice in a sum.
type Exporter struct {
	// Clusters reads from the caches of the manager: a scrape sends no request to the API server.
	Clusters client.Reader
	Registry prometheus.Registerer
}

// NeedLeaderElection makes the manager start the exporter with the controllers.
func (Exporter) NeedLeaderElection() bool { return true }

// Start exports the metrics until the context ends.
func (e Exporter) Start(ctx context.Context) error {
	all := collector{list: func() ([]dbv1.DatabaseCluster, error) { return e.list(ctx) }}
	if err := e.Registry.Register(all); err != nil {
		return fmt.Errorf("register the metrics of the clusters: %w", err)
	}
	<-ctx.Done()
	e.Registry.Unregister(all)
	return nil
}

// list does not copy the clusters, because they are only read.
func (e Exporter) list(ctx context.Context) ([]dbv1.DatabaseCluster, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var clusters dbv1.DatabaseClusterList
	if err := e.Clusters.List(ctx, &clusters, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the clusters: %w", err)
	}
	return clusters.Items, nil
}
