/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// quiet is the time without requests after which a contestant is idle. The operator sends its last request ten seconds
// after the members became ready.
const (
	quiet   = 15 * time.Second
	patient = 2 * time.Minute
)

// verbs are the request figures that the benchmark always prints.
var verbs = []string{"get", "list", "create", "update", "patch", "delete"}

// result is the cost of creating clusters.
type result struct {
	requests, cpu, apiServer, heap, all, p50, p99 float64
}

// measure grows both contestants to a number of clusters and then observes the idle clusters of the operator.
func (w *world) measure(ctx context.Context, size int) error {
	floor, err := w.grow(ctx, w.floor, size)
	if err != nil {
		return err
	}
	operator, err := w.growOperator(ctx, size)
	if err != nil {
		return err
	}
	figure(operator.requests/floor.requests, "operator_to_floor_requests_ratio_%d", size)
	figure(operator.cpu/floor.cpu, "operator_to_floor_cpu_ratio_%d", size)
	figure(operator.apiServer/floor.apiServer, "operator_to_floor_api_server_cpu_ratio_%d", size)
	figure(operator.heap/floor.heap, "operator_to_floor_heap_ratio_%d", size)
	figure(operator.all/floor.all, "operator_to_floor_ready_all_ratio_%d", size)
	figure(operator.p50/floor.p50, "operator_to_floor_ready_p50_ratio_%d", size)
	return w.atRest(ctx, size)
}

// growOperator also counts the reconciliations of the operator.
func (w *world) growOperator(ctx context.Context, size int) (result, error) {
	added := float64(size - w.operator.size)
	before, err := w.managers[0].passes(ctx)
	if err != nil {
		return result{}, err
	}
	var r result
	err = w.profiled(ctx, fmt.Sprintf("create-%d", size), func() error {
		r, err = w.grow(ctx, w.operator, size)
		return err
	})
	after, passesErr := w.managers[0].passes(ctx)
	if err := errors.Join(err, passesErr); err != nil {
		return result{}, err
	}
	figure((after-before)/added, "operator_passes_create_per_cluster_%d", size)
	return r, nil
}

// grow creates the missing clusters.
func (w *world) grow(ctx context.Context, c *contestant, size int) (result, error) {
	added := float64(size - c.size)
	say("%s: %d clusters, then %d", c.name, c.size, size)
	before, err := w.spent(ctx, c)
	if err != nil {
		return result{}, err
	}
	from := time.Now()
	latencies, err := c.load.many(ctx, c.size, size, w.inFlight)
	if err != nil {
		return result{}, err
	}
	all := time.Since(from)
	say("%s: all are Ready after %s", c.name, all.Round(time.Second))
	if err := w.settle(ctx, c); err != nil {
		return result{}, err
	}
	requests := work(w.audit.between(c.user, from, time.Now()))
	after, err := w.spent(ctx, c)
	if err != nil {
		return result{}, err
	}
	heap, err := c.heap(ctx)
	if err != nil {
		return result{}, err
	}
	printRequests(c.name, size, requests, added)
	r := result{
		requests:  float64(len(requests)) / added,
		cpu:       (after.contestant - before.contestant) / added,
		apiServer: (after.apiServer - before.apiServer) / added,
		heap:      (heap - c.lastHeap) / added,
		all:       all.Seconds(),
		p50:       percentile(latencies, 50).Seconds(),
		p99:       percentile(latencies, 99).Seconds(),
	}
	r.figures(c.name, size)
	c.size, c.lastHeap = size, heap
	return r, nil
}

// spent is the CPU time so far, in seconds.
type spent struct{ contestant, apiServer float64 }

// spent includes the work of the API server for others: the Kubernetes controllers and the simulated nodes.
func (w *world) spent(ctx context.Context, c *contestant) (spent, error) {
	own, err := c.process.cpu()
	if err != nil {
		return spent{}, err
	}
	text, err := w.clients.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return spent{}, fmt.Errorf("read the API server's metrics: %w", err)
	}
	return spent{own, metricsOf(string(text))["process_cpu_seconds_total"]}, nil
}

func (r result) figures(name string, size int) {
	figure(r.cpu, "%s_cpu_seconds_per_cluster_%d", name, size)
	figure(r.apiServer, "%s_api_server_cpu_seconds_per_cluster_%d", name, size)
	figure(r.heap, "%s_heap_bytes_per_cluster_%d", name, size)
	figure(r.all, "%s_ready_all_seconds_%d", name, size)
	figure(r.p50, "%s_ready_p50_seconds_%d", name, size)
	figure(r.p99, "%s_ready_p99_seconds_%d", name, size)
}

func printRequests(name string, size int, requests []request, added float64) {
	byVerb := tally(requests, request.kind)
	for _, verb := range append(slices.Clone(verbs), kindEvent) {
		figure(float64(byVerb[verb])/added, "%s_requests_create_per_cluster_%s_%d", name, verb, size)
	}
	conflicts, writes := 0, 0
	for _, r := range requests {
		if r.ResponseStatus.Code == http.StatusConflict {
			conflicts++
		}
		if r.writes() {
			writes++
		}
	}
	figure(float64(writes)/added, "%s_requests_create_per_cluster_writes_%d", name, size)
	figure(float64(conflicts)/added, "%s_requests_create_per_cluster_conflict_%d", name, size)
	figure(float64(len(requests))/added, "%s_requests_create_per_cluster_total_%d", name, size)
	bySubject := tally(requests, request.subject)
	for _, subject := range slices.Sorted(maps.Keys(bySubject)) {
		say("  %8.3f %s", float64(bySubject[subject])/added, subject)
	}
}

// settle waits until a contestant is idle. A contestant that is never idle is measured anyway.
func (w *world) settle(ctx context.Context, c *contestant) error {
	from := time.Now()
	return poll(ctx, c.name+" to become idle", func() (bool, error) {
		if err := w.audit.read(); err != nil {
			return false, err
		}
		since := time.Now().Add(-quiet)
		if since.Before(from) {
			return false, nil
		}
		return len(work(w.audit.between(c.user, since, time.Now()))) == 0 || time.Since(from) > patient, nil
	})
}

// atRest measures the requests and the CPU time of the operator while nothing changes.
func (w *world) atRest(ctx context.Context, size int) error {
	say("operator: %d idle clusters for %s", size, w.rest)
	leader := w.operator
	before, err := leader.process.cpu()
	if err != nil {
		return err
	}
	from := time.Now()
	select {
	case <-time.After(w.rest):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	to := time.Now()
	after, err := leader.process.cpu()
	if err != nil {
		return err
	}
	if err := w.audit.read(); err != nil {
		return err
	}
	requests := w.audit.between(leader.user, from, to)
	for subject, n := range tally(work(requests), request.subject) {
		say("  %d %s", n, subject)
	}
	kinds := tally(requests, request.kind)
	figure(float64(len(work(requests))), "operator_requests_rest_total_%d", size)
	figure(float64(kinds[kindWatch]), "operator_requests_rest_watch_%d", size)
	figure(float64(kinds[kindLease]), "operator_requests_rest_lease_%d", size)
	figure(to.Sub(from).Seconds(), "operator_rest_window_seconds_%d", size)
	figure((after-before)/to.Sub(from).Hours(), "operator_cpu_seconds_rest_per_hour_%d", size)
	return w.printMemory(ctx, size)
}

func (w *world) printMemory(ctx context.Context, size int) error {
	values, err := w.managers[0].scrape(ctx)
	if err != nil {
		return err
	}
	figure(values["go_memstats_heap_inuse_bytes"], "operator_heap_inuse_bytes_%d", size)
	figure(values["process_resident_memory_bytes"], "operator_resident_bytes_%d", size)
	figure(values["go_goroutines"], "operator_goroutines_%d", size)
	return nil
}
