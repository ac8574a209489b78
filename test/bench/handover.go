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

// handOver stops the leader of this operator repeatedly, by SIGKILL and by SIGTERM. It measures the time until the first
// reconciliation of the other replica.
func (w *world) handOver(ctx context.Context) error {
	if w.handovers == 0 {
		return nil
	}
	c := w.contestants[0]
	t := turn{who: c.Name, phase: "handover", clusters: c.size, report: w.report}
	from := time.Now()
	for _, way := range []struct {
		name   string
		signal os.Signal
	}{{"kill", syscall.SIGKILL}, {"exit", syscall.SIGTERM}} {
		var took []time.Duration
		for n := range w.handovers {
			d, err := w.handOverOnce(ctx, c, fmt.Sprintf("%s%s-%d", handedOver, way.name, n), way.signal)
			if err != nil {
				return fmt.Errorf("hand over by %s: %w", way.name, err)
			}
			say("the leader ended by %s: %s until the first reconciliation of the other", way.name, d.Round(time.Millisecond))
			took = append(took, d)
		}
		t.figure(way.name+"_min_seconds", percentile(took, 1).Seconds())
		t.figure(way.name+"_median_seconds", percentile(took, 50).Seconds())
		t.figure(way.name+"_max_seconds", percentile(took, 100).Seconds())
	}
	if err := w.settle(ctx, c); err != nil {
		return err
	}
	w.countIdle(t, c, from)
	return nil
}

// handOverOnce starts a second replica, stops the first and creates a cluster immediately. The first reconciliation is
// the one that changes the new cluster.
func (w *world) handOverOnce(ctx context.Context, c *contestant, name string, signal os.Signal) (time.Duration, error) {
	leader := c.program()
	if _, err := w.launch(ctx, c); err != nil {
		return 0, err
	}
	ended := time.Now()
	if err := leader.stop(ctx, signal); err != nil {
		return 0, err
	}
	if _, err := c.load.create(ctx, name); err != nil {
		return 0, err
	}
	at, err := c.load.await(ctx, name, isChanged)
	if err != nil {
		return 0, err
	}
	if _, err := c.load.await(ctx, name, isReady); err != nil {
		return 0, err
	}
	return at.Sub(ended), nil
}

// countIdle counts the requests of new leaders for idle clusters. The initial lists of informers are not counted.
func (w *world) countIdle(t turn, c *contestant, from time.Time) {
	idle := 0
	for _, r := range work(w.audit.between(c.user, from, time.Now())) {
		if r.Verb != "list" && strings.HasPrefix(r.ObjectRef.Name, "db-") {
			idle++
			say("  %s %s", r.subject(), r.ObjectRef.Name)
		}
	}
	t.figure("requests_for_idle_clusters", float64(idle))
}
