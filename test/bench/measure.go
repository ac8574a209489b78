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
	"runtime"
	"slices"
	"time"
)

// quiet is the time without requests after which a contestant is idle. The operator sends its last request ten seconds
// after the members became ready.
const (
	quiet   = 12 * time.Second
	patient = 2 * time.Minute
)

// verbs are the request figures that the benchmark always prints.
var verbs = []string{"get", "list", "create", "update", "patch", "delete", kindEvent, kindExec}

// turn measures a phase of one contestant.
func (w *world) turn(ctx context.Context, p phase, c *contestant, size int) error {
	if p.name == phaseRestart.name {
		return w.restart(ctx, c, size)
	}
	which := w.reach(p, c, size)
	each := float64(which.count())
	say("%s: %s, %.0f clusters", c.Name, p.name, each)
	before, err := w.observe(ctx, c)
	if err != nil {
		return err
	}
	t := turn{who: c.Name, phase: p.name, clusters: which.to, report: w.report}
	var took []time.Duration
	var over time.Duration
	err = w.profiled(ctx, c, fmt.Sprintf("%s-%s-%d", c.Name, p.name, size), func() error {
		if took, err = p.act(ctx, w, c, which); err != nil {
			return err
		}
		over = time.Since(before.at)
		say("%s: %s is over after %s", c.Name, p.name, over.Round(time.Second))
		return w.settle(ctx, c)
	})
	if err != nil {
		return fmt.Errorf("%s: %s: %w", c.Name, p.name, err)
	}
	after, err := w.observeAgain(ctx, c)
	if err != nil {
		return err
	}
	t.requests(work(w.audit.between(c.user, before.at, after.at)), each)
	t.costs(before, after, each)
	t.times(over, took)
	if heap := after.heap - before.heap; p.added > 0 && after.hasHeap {
		t.figure("heap_bytes_per_member", heap/each/float64(p.added))
	} else if p.name == phaseCreate.name && after.hasHeap {
		t.figure("heap_bytes", heap/each)
	}
	return nil
}

// reach returns the clusters that a phase changes. Each contestant deletes its own number.
func (w *world) reach(p phase, c *contestant, size int) clusters {
	switch p.name {
	case phaseCreate.name:
		return clusters{w.round, c.size, size}
	case phaseDelete.name:
		size = c.size
	}
	if w.changes == 0 {
		return clusters{w.round, 0, size}
	}
	return clusters{w.round, max(0, size-w.changes), size}
}

// observed is what a contestant has used so far.
type observed struct {
	at             time.Time
	cpu, apiServer float64 // seconds
	passes         float64
	heap           float64
	hasHeap        bool
	machine        machineTime
}

// observe starts a measurement. Reading the heap and the metrics costs CPU time of the contestant, so the times come last.
func (w *world) observe(ctx context.Context, c *contestant) (o observed, err error) {
	if err := o.readMetrics(ctx, c.program()); err != nil {
		return o, err
	}
	return o, w.readTimes(ctx, c.program(), &o)
}

// observeAgain ends a measurement. The times come first.
func (w *world) observeAgain(ctx context.Context, c *contestant) (o observed, err error) {
	if err := w.readTimes(ctx, c.program(), &o); err != nil {
		return o, err
	}
	return o, o.readMetrics(ctx, c.program())
}

func (o *observed) readMetrics(ctx context.Context, p *program) (err error) {
	if o.heap, o.hasHeap, err = p.heap(ctx); err != nil {
		return err
	}
	metrics, err := p.scrape(ctx)
	o.passes = sum(metrics, metricPasses)
	return err
}

// readTimes reads the CPU times. That of the API server includes its work for others: the Kubernetes controllers and the
// simulated nodes.
func (w *world) readTimes(ctx context.Context, p *program, o *observed) error {
	text, err := w.clients.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("read the API server's metrics: %w", err)
	}
	o.apiServer = metricsOf(string(text))["process_cpu_seconds_total"]
	if o.machine, err = readMachineTime(); err != nil {
		return err
	}
	o.at = time.Now()
	o.cpu, err = p.cpu()
	return err
}

// turn prints the figures of a turn.
type turn struct {
	who, phase string
	clusters   int
	report     *report
}

func (t turn) figure(name string, value float64) {
	t.report.figure(record{Clusters: t.clusters, Who: t.who, Phase: t.phase, Figure: name, Value: value})
}

// requests prints the number of requests for a cluster.
func (t turn) requests(requests []request, each float64) {
	byVerb := tally(requests, request.kind)
	for _, verb := range verbs {
		t.figure(verb, float64(byVerb[verb])/each)
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
	t.figure("conflicts", float64(conflicts)/each)
	t.figure("writes", float64(writes)/each)
	t.figure("reads", float64(byVerb["get"]+byVerb["list"])/each)
	t.figure("requests", float64(len(requests))/each)
	bySubject := tally(requests, request.subject)
	for _, subject := range slices.Sorted(maps.Keys(bySubject)) {
		say("  %8.3f %s", float64(bySubject[subject])/each, subject)
	}
}

func (t turn) costs(before, after observed, each float64) {
	t.figure("cpu_seconds", (after.cpu-before.cpu)/each)
	t.figure("api_server_cpu_seconds", (after.apiServer-before.apiServer)/each)
	if after.passes > 0 {
		t.figure("passes", (after.passes-before.passes)/each)
	}
	t.figure("foreign_cpu_share", after.machine.foreign(before.machine, after.at.Sub(before.at), runtime.NumCPU()))
}

func (t turn) times(over time.Duration, took []time.Duration) {
	t.figure("seconds", over.Seconds())
	for _, percent := range []int{50, 90, 99, 100} {
		t.figure(fmt.Sprintf("p%d_seconds", percent), percentile(took, percent).Seconds())
	}
}

// settle waits until a contestant is idle. A contestant that is never idle is measured anyway.
func (w *world) settle(ctx context.Context, c *contestant) error {
	from := time.Now()
	return poll(ctx, c.Name+" to become idle", func() (bool, error) {
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

// rest observes all contestants at the same time while nothing changes.
func (w *world) rest(ctx context.Context, size int) error {
	say("%d idle clusters of each for %s", size, w.restTime)
	before := map[string]observed{}
	for _, c := range w.taking(size) {
		o, err := w.observe(ctx, c)
		if err != nil {
			return err
		}
		before[c.Name] = o
	}
	select {
	case <-time.After(w.restTime):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	var failed error
	for _, c := range w.taking(size) {
		failed = errors.Join(failed, w.rested(ctx, c, size, before[c.Name]))
	}
	return failed
}

func (w *world) rested(ctx context.Context, c *contestant, size int, before observed) error {
	to := time.Now()
	cpu, err := c.program().cpu() // before a scrape, which costs CPU time
	metrics, scrapeErr := c.program().scrape(ctx)
	if err := errors.Join(err, scrapeErr, w.audit.read()); err != nil {
		return err
	}
	t := turn{who: c.Name, phase: "rest", clusters: size, report: w.report}
	all := w.audit.between(c.user, before.at, to)
	requests, kinds := work(all), tally(all, request.kind)
	for subject, n := range tally(requests, request.subject) {
		say("  %s: %d %s", c.Name, n, subject)
	}
	t.figure("requests", float64(len(requests)))
	t.figure(kindWatch, float64(kinds[kindWatch]))
	t.figure(kindLease, float64(kinds[kindLease]))
	t.figure("window_seconds", to.Sub(before.at).Seconds())
	t.figure("cpu_seconds_per_hour", (cpu-before.cpu)/to.Sub(before.at).Hours())
	for _, figure := range slices.Sorted(maps.Keys(metricsAtRest)) {
		if value, found := metrics[metricsAtRest[figure]]; found {
			t.figure(figure, value)
		}
	}
	return nil
}
