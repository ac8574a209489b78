/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// handedOver is the name prefix of clusters that the benchmark creates after the leader has stopped.
const handedOver = "handover-"

// handOver stops the leader repeatedly, by SIGKILL and by SIGTERM. It measures the time until the first reconciliation
// of the other replica.
func (w *world) handOver(ctx context.Context) error {
	from := time.Now()
	for _, way := range []struct {
		name   string
		signal os.Signal
	}{{"kill", syscall.SIGKILL}, {"exit", syscall.SIGTERM}} {
		var took []time.Duration
		for n := range w.handovers {
			d, err := w.handOverOnce(ctx, fmt.Sprintf("%s%s-%d", handedOver, way.name, n), way.signal)
			if err != nil {
				return fmt.Errorf("hand over by %s: %w", way.name, err)
			}
			say("the leader ended by %s: %s until the first reconciliation of the other", way.name, d.Round(time.Millisecond))
			took = append(took, d)
		}
		figure(percentile(took, 1).Seconds(), "operator_handover_%s_min_seconds", way.name)
		figure(percentile(took, 50).Seconds(), "operator_handover_%s_median_seconds", way.name)
		figure(percentile(took, 100).Seconds(), "operator_handover_%s_max_seconds", way.name)
	}
	if err := w.settle(ctx, w.operator); err != nil {
		return err
	}
	w.printRestarts(from)
	return nil
}

// handOverOnce starts a second replica, stops the first and creates a cluster immediately. The first reconciliation is
// the one that changes the new cluster.
func (w *world) handOverOnce(ctx context.Context, name string, signal os.Signal) (time.Duration, error) {
	leader := w.managers[len(w.managers)-1]
	if _, err := w.startManager(ctx); err != nil {
		return 0, err
	}
	ended := time.Now()
	if err := leader.stop(ctx, signal); err != nil {
		return 0, err
	}
	b, err := w.operator.load.create(ctx, name)
	if err != nil {
		return 0, err
	}
	at, err := w.operator.load.await(ctx, b.touched)
	if err != nil {
		return 0, err
	}
	if _, err := w.operator.load.await(ctx, b.ready); err != nil {
		return 0, err
	}
	return at.Sub(ended), nil
}

// printRestarts counts the requests of new leaders for idle clusters. The initial lists of informers are not counted.
func (w *world) printRestarts(from time.Time) {
	standing := 0
	for _, r := range work(w.audit.between(w.operator.user, from, time.Now())) {
		if r.Verb != "list" && strings.HasPrefix(r.ObjectRef.Name, "db-") {
			standing++
			say("  %s %s", r.subject(), r.ObjectRef.Name)
		}
	}
	figure(float64(standing), "operator_handover_requests_about_clusters_at_rest_total")
}
