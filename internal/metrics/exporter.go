/*
SPDX-License-Identifier: Apache-2.0
*/

// Package metrics exports the state of DatabaseClusters and DatabaseCompanions to Prometheus.
package metrics

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// cacheTimeout is how long a scrape waits for a cache to sync.
const cacheTimeout = 5 * time.Second

// Exporter exports the metrics of the clusters while this replica is the leader. If standby replicas exported them,
// too, each cluster would count twice in a sum.
type Exporter struct {
	// Objects reads clusters, companions and pods from the caches of the manager: a scrape sends no request to the API server.
	Objects client.Reader
	// Engines returns the engines that are known without a request.
	Engines  func(context.Context) ([]dbv1.DatabaseEngine, error)
	Registry prometheus.Registerer
}

// NeedLeaderElection makes the manager start the exporter with the controllers.
func (Exporter) NeedLeaderElection() bool { return true }

// Start exports the metrics until the context ends.
func (e Exporter) Start(ctx context.Context) error {
	all := collector{list: func() (objects, error) { return e.list(ctx) }}
	if err := e.Registry.Register(all); err != nil {
		return fmt.Errorf("register the metrics of the clusters: %w", err)
	}
	<-ctx.Done()
	e.Registry.Unregister(all)
	return nil
}

// list does not copy the objects, because they are only read.
func (e Exporter) list(ctx context.Context) (objects, error) {
	ctx, cancel := context.WithTimeout(ctx, cacheTimeout)
	defer cancel()
	clusters, err := e.clusters(ctx)
	if err != nil {
		return objects{}, err
	}
	var companions dbv1.DatabaseCompanionList
	if err := e.Objects.List(ctx, &companions, client.UnsafeDisableDeepCopy); err != nil {
		return objects{}, fmt.Errorf("list the companions: %w", err)
	}
	all := objects{clusters: clusters}
	for i := range companions.Items {
		all.companions = append(all.companions, &companions.Items[i])
	}
	return all, nil
}

// clusters are those with their engines and pods.
func (e Exporter) clusters(ctx context.Context) ([]subject, error) {
	var clusters dbv1.DatabaseClusterList
	if err := e.Objects.List(ctx, &clusters, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the clusters: %w", err)
	}
	engines, err := e.engines(ctx)
	if err != nil {
		return nil, err
	}
	pods, err := e.pods(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]subject, 0, len(clusters.Items))
	for i := range clusters.Items {
		c := &clusters.Items[i]
		all = append(all, subject{c, engines[c.Spec.Engine], pods[client.ObjectKeyFromObject(c)]})
	}
	return all, nil
}

// engines are the known engines by name.
func (e Exporter) engines(ctx context.Context) (map[string]*dbv1.DatabaseEngine, error) {
	known, err := e.Engines(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the engines: %w", err)
	}
	all := make(map[string]*dbv1.DatabaseEngine, len(known))
	for i := range known {
		all[known[i].Name] = &known[i]
	}
	return all, nil
}

// pods are the pods by the cluster in their labels.
func (e Exporter) pods(ctx context.Context) (map[client.ObjectKey][]*corev1.Pod, error) {
	var pods corev1.PodList
	if err := e.Objects.List(ctx, &pods, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the pods: %w", err)
	}
	all := map[client.ObjectKey][]*corev1.Pod{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		cluster := client.ObjectKey{Namespace: pod.Namespace, Name: pod.Labels[dbv1.LabelInstance]}
		all[cluster] = append(all[cluster], pod)
	}
	return all, nil
}
