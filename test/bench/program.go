/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// program is a running replica of a contestant.
type program struct {
	*process
	health, metrics, profiles string // URLs
	client                    *http.Client
	token                     string
}

// launch starts a replica of a contestant, and waits until it is ready.
func (w *world) launch(ctx context.Context, c *contestant) (*program, error) {
	given, err := addresses()
	if err != nil {
		return nil, err
	}
	maps.Copy(given, values{inKubeconfig: c.kubeconfig, inNamespace: c.load.namespace})
	var failed error
	fill := func(text string) string {
		filled, err := given.fill(text)
		failed = errors.Join(failed, err)
		return filled
	}
	var arguments, environment []string
	for _, argument := range c.Arguments {
		arguments = append(arguments, fill(argument))
	}
	for name, value := range c.Environment {
		environment = append(environment, name+"="+fill(value))
	}
	p := &program{health: fill(c.Health), metrics: fill(c.Metrics), profiles: directory(fill(c.Profiles)), client: insecure(),
		token: w.scraping}
	if failed != nil {
		return nil, failed
	}
	log := filepath.Join(w.dir, fmt.Sprintf("%s-%d.log", c.Name, len(c.programs)))
	if p.process, err = start(log, environment, c.Binary, arguments...); err != nil {
		return nil, err
	}
	go p.orFail(w.fail)
	c.programs = append(c.programs, p)
	return p, p.ready(ctx)
}

// directory returns a URL with a slash at its end, if there is a URL.
func directory(url string) string {
	if url == "" {
		return ""
	}
	return strings.TrimSuffix(url, "/") + "/"
}

// addresses returns three free addresses, one for each endpoint of an operator.
func addresses() (values, error) {
	given := values{}
	for _, name := range []string{inHealth, inMetrics, inProfiles} {
		address, err := freeAddress()
		if err != nil {
			return nil, err
		}
		given[name] = address
	}
	return given, nil
}

// insecure returns a client for servers with self-signed certificates. All connections are on loopback.
func insecure() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // see above
}

// ready waits for all endpoints: a program can serve its health before its metrics.
func (p *program) ready(ctx context.Context) error {
	from := time.Now()
	return poll(ctx, "the operator to be ready, see "+p.log, func() (bool, error) {
		for _, url := range []string{p.health, p.profiles, p.metrics} {
			if url == "" {
				continue
			}
			if _, err := get(ctx, p.client, url, p.token); err != nil {
				if time.Since(from) > patient {
					return false, fmt.Errorf("no response within %s, see %s: %w", patient, p.log, err)
				}
				return false, nil
			}
		}
		return true, nil
	})
}

// scrape reads the metrics. A program without metrics has none.
func (p *program) scrape(ctx context.Context) (map[string]float64, error) {
	if p.metrics == "" {
		return nil, nil
	}
	// The program sends only these metrics, if its library can select some: all others are many.
	some := url.Values{"name[]": {metricPasses, metricWorking, metricQueued, metricCollections, metricLive}}
	for _, metric := range metricsAtRest {
		some.Add("name[]", metric)
	}
	text, err := get(ctx, p.client, p.metrics+"?"+some.Encode(), p.token)
	if err != nil {
		return nil, err
	}
	return metricsOf(text), nil
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

// Names of metrics of controller-runtime and of Go.
const (
	metricPasses      = "controller_runtime_reconcile_total"
	metricWorking     = "controller_runtime_active_workers"
	metricQueued      = "workqueue_depth"
	metricCollections = "go_gc_cycles_total_gc_cycles_total"
	metricLive        = "go_gc_heap_live_bytes"
)

// metricsAtRest are the metrics that are figures of the phase rest, by the name of the figure.
var metricsAtRest = map[string]string{
	"heap_live_bytes": metricLive, "resident_bytes": "process_resident_memory_bytes", "goroutines": "go_goroutines",
}

// sum adds the values of a metric with all labels.
func sum(values map[string]float64, metric string) float64 {
	total := 0.0
	for name, value := range values {
		if name == metric || strings.HasPrefix(name, metric+"{") {
			total += value
		}
	}
	return total
}

// heap returns the live bytes after a garbage collection. It waits until two collections have run, because only the
// second one empties the pools. A program without that metric has no heap.
func (p *program) heap(ctx context.Context) (bytes float64, found bool, err error) {
	before, err := p.scrape(ctx)
	if _, found = before[metricLive]; err != nil || !found {
		return 0, false, err
	}
	for ctx.Err() == nil {
		if p.profiles != "" { // it starts a collection, and a scrape only creates garbage
			if _, err := get(ctx, p.client, p.profiles+"heap?gc=1", ""); err != nil {
				return 0, false, err
			}
		}
		now, err := p.scrape(ctx)
		if err != nil {
			return 0, false, err
		}
		if now[metricCollections] >= before[metricCollections]+2 {
			return now[metricLive], true, nil
		}
	}
	return 0, false, context.Cause(ctx)
}

// get reads from a program.
func get(ctx context.Context, client *http.Client, url, token string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s responded %s: %s", url, response.Status, body)
	}
	return string(body), nil
}
