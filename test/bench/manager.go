/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
)

// manager is one replica of the operator.
type manager struct {
	*process
	health, metrics string
	client          *http.Client
	token           string
}

// startManager starts a replica with the flags and rights that it is deployed with, and waits until it could
// take over. It works in one namespace, because the floor's clusters are in another.
func (w *world) startManager(ctx context.Context) (*manager, error) {
	health, healthErr := freeAddress()
	metrics, metricsErr := freeAddress()
	kubeconfig, err := w.kubeconfig(ctx, operatorNamespace, operatorAccount)
	if err := errors.Join(healthErr, metricsErr, err); err != nil {
		return nil, err
	}
	log := filepath.Join(w.dir, fmt.Sprintf("operator-%d.log", len(w.managers)))
	program, err := start(log, w.manager, "--kubeconfig="+kubeconfig, "--watch-namespace="+operatorClusters,
		"--leader-elect", "--leader-election-namespace="+operatorNamespace,
		"--health-probe-bind-address="+health, "--metrics-bind-address="+metrics)
	if err != nil {
		return nil, err
	}
	// Its certificate is one that it made for itself; there is nobody between us on loopback.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // see above
	m := &manager{process: program, health: health, metrics: metrics, client: &http.Client{Transport: transport}, token: w.scraping}
	w.managers = append(w.managers, m)
	err = poll(ctx, "the operator to be ready, see "+log, func() (bool, error) {
		select {
		case <-m.ended:
			return false, fmt.Errorf("the operator has ended, see %s", log)
		default:
		}
		_, err := get(ctx, http.DefaultClient, "http://"+m.health+"/readyz", "")
		return err == nil, nil
	})
	return m, err
}

// scrape reads the metrics.
func (m *manager) scrape(ctx context.Context) (map[string]float64, error) {
	text, err := get(ctx, m.client, "https://"+m.metrics+"/metrics", m.token)
	if err != nil {
		return nil, err
	}
	return metricsOf(text), nil
}

// passes are how often the replica has looked at a cluster.
func (m *manager) passes(ctx context.Context) (float64, error) {
	values, err := m.scrape(ctx)
	passes := 0.0
	for name, value := range values {
		if strings.HasPrefix(name, "controller_runtime_reconcile_total{") {
			passes += value
		}
	}
	return passes, err
}

// metricsOf are the metrics in a page of them; the labels are part of a name, and must not contain spaces.
func metricsOf(text string) map[string]float64 {
	values := map[string]float64{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			values[name] = number
		}
	}
	return values
}

// heap is what lives after a garbage collection. Scraping makes garbage, so it scrapes until two collections
// have come: pools are emptied by the second.
func (m *manager) heap(ctx context.Context) (float64, error) {
	const collections, live = "go_gc_cycles_total_gc_cycles_total", "go_gc_heap_live_bytes"
	before, err := m.scrape(ctx)
	if err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		now, err := m.scrape(ctx)
		if err != nil {
			return 0, err
		}
		if _, found := now[live]; !found {
			return 0, fmt.Errorf("the operator's metrics have no %s", live)
		}
		if now[collections] >= before[collections]+2 {
			return now[live], nil
		}
	}
	return 0, context.Cause(ctx)
}
