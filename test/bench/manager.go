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
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// manager is one replica of the operator.
type manager struct {
	*process
	health, metrics, pprof string
	client                 *http.Client
	token                  string
}

// startManager starts a replica with the flags and permissions of the Deployment, and waits until it is ready. It
// watches one namespace, because the clusters of the floor are in another.
func (w *world) startManager(ctx context.Context) (*manager, error) {
	health, healthErr := freeAddress()
	metrics, metricsErr := freeAddress()
	pprof, pprofErr := freeAddress()
	kubeconfig, err := w.kubeconfig(ctx, operatorNamespace, operatorAccount)
	if err := errors.Join(healthErr, metricsErr, pprofErr, err); err != nil {
		return nil, err
	}
	log := filepath.Join(w.dir, fmt.Sprintf("operator-%d.log", len(w.managers)))
	program, err := start(log, w.manager, "--kubeconfig="+kubeconfig, "--watch-namespace="+operatorClusters,
		"--leader-elect", "--leader-election-namespace="+operatorNamespace,
		"--health-probe-bind-address="+health, "--metrics-bind-address="+metrics, "--pprof-bind-address="+pprof)
	if err != nil {
		return nil, err
	}
	// The replica has a self-signed certificate. The connection is on loopback.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // see above
	m := &manager{process: program, health: health, metrics: metrics, pprof: pprof, client: &http.Client{Transport: transport}, token: w.scraping}
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

// profiled runs a phase, and profiles the first replica meanwhile if --profiles is set.
func (w *world) profiled(ctx context.Context, name string, phase func() error) error {
	if w.profiles == "" {
		return phase()
	}
	if err := os.MkdirAll(w.profiles, 0o750); err != nil {
		return fmt.Errorf("create the directory of profiles: %w", err)
	}
	stop := profile(ctx, w.managers[0].pprof, w.profiles, name)
	return errors.Join(phase(), stop())
}

// scrape reads the metrics.
func (m *manager) scrape(ctx context.Context) (map[string]float64, error) {
	text, err := get(ctx, m.client, "https://"+m.metrics+"/metrics", m.token)
	if err != nil {
		return nil, err
	}
	return metricsOf(text), nil
}

// passes returns the number of reconciliations of the replica.
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

// metricsOf parses a page of metrics. Labels are part of the name, and must not contain spaces.
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

// heap returns the live bytes after a garbage collection. It scrapes until two collections have run, because only the
// second one empties the pools.
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
