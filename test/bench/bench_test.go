/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestPercentilesAreValuesThatWereMeasured(t *testing.T) {
	hundred := make([]time.Duration, 0, 100)
	for n := 100; n > 0; n-- {
		hundred = append(hundred, time.Duration(n))
	}
	cases := map[string]struct {
		values  []time.Duration
		percent int
		want    time.Duration
	}{
		"none":                  {nil, 50, 0},
		"one":                   {[]time.Duration{7}, 99, 7},
		"the middle of three":   {[]time.Duration{9, 1, 5}, 50, 5},
		"the smallest of three": {[]time.Duration{9, 1, 5}, 1, 1},
		"the largest of three":  {[]time.Duration{9, 1, 5}, 100, 9},
		"p50 of a hundred":      {hundred, 50, 50},
		"p99 of a hundred":      {hundred, 99, 99},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := percentile(c.values, c.percent); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func TestFiguresHaveNoExponent(t *testing.T) {
	for value, want := range map[float64]string{0: "0", 9: "9", 0.01234567: "0.0123", 12.345: "12.35", 1234567.8: "1234568", 1e9: "1000000000"} {
		if got := number(value); got != want {
			t.Errorf("%v is written %q, want %q", value, got, want)
		}
	}
}

func TestMetricsAreReadWithTheirLabels(t *testing.T) {
	got := metricsOf("# HELP a text\na 1.5e+07\nb{c=\"d\"} 3\n")
	if got["a"] != 1.5e7 || got["b{c=\"d\"}"] != 3 || len(got) != 2 {
		t.Errorf("%v", got)
	}
}

func TestEveryMetricAtRestIsAskedFor(t *testing.T) {
	server := httptest.NewServer(metricsOfGo())
	defer server.Close()
	got, err := (&program{metrics: server.URL, client: server.Client()}).scrape(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for figure, metric := range metricsAtRest {
		if _, found := got[metric]; !found {
			t.Errorf("no %s for the figure %s in %v", metric, figure, got)
		}
	}
}

func TestTheURLOfProfilesMayEndWithoutASlash(t *testing.T) {
	for url, want := range map[string]string{"": "", "http://a/pprof": "http://a/pprof/", "http://a/pprof/": "http://a/pprof/"} {
		if got := directory(url); got != want {
			t.Errorf("%q becomes %q, want %q", url, got, want)
		}
	}
}

func TestSizesHaveToGrow(t *testing.T) {
	var s sizes
	if err := s.Set("10,100"); err != nil || !slices.Equal(s, sizes{10, 100}) {
		t.Errorf("%v, %v", s, err)
	}
	for _, bad := range []string{"", "0", "100,10", "5,5", "many"} {
		if err := s.Set(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

const auditLines = `{"stage":"ResponseComplete","verb":"patch","user":{"username":"o"},"objectRef":{"resource":"databaseclusters","subresource":"status","name":"db-1"},"responseStatus":{"code":409},"requestReceivedTimestamp":"2026-01-01T00:00:01.000000Z"}
{"stage":"ResponseStarted","verb":"watch","user":{"username":"o"},"objectRef":{"resource":"pods"},"requestReceivedTimestamp":"2026-01-01T00:00:02.000000Z"}
{"stage":"ResponseComplete","verb":"watch","user":{"username":"o"},"objectRef":{"resource":"pods"},"requestReceivedTimestamp":"2026-01-01T00:00:02.000000Z"}
{"stage":"ResponseComplete","verb":"update","user":{"username":"o"},"objectRef":{"resource":"leases"},"requestReceivedTimestamp":"2026-01-01T00:00:03.000000Z"}
{"stage":"ResponseComplete","verb":"create","user":{"username":"o"},"objectRef":{"resource":"tokenreviews"},"requestReceivedTimestamp":"2026-01-01T00:00:03.000000Z"}
{"stage":"ResponseComplete","verb":"get","user":{"username":"f"},"objectRef":{"resource":"services"},"requestReceivedTimestamp":"2026-01-01T00:00:03.000000Z"}
`

func TestRequestsAreCountedByUserTimeAndKind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	write(t, path, auditLines[:100])
	log, err := openAudit(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.read(); err != nil || len(log.requests) != 0 {
		t.Fatalf("an incomplete line was read as %v, %v", log.requests, err)
	}
	write(t, path, auditLines[100:])
	if err := log.read(); err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	all := log.between("o", from, from.Add(time.Minute))
	kinds := tally(all, request.kind)
	if len(all) != 4 || kinds["patch"] != 1 || kinds[kindWatch] != 1 || kinds[kindLease] != 1 || kinds[kindReview] != 1 {
		t.Errorf("%v", kinds)
	}
	if counted := work(all); len(counted) != 1 || counted[0].subject() != "patch databaseclusters/status: 409" {
		t.Errorf("%v", counted)
	}
	event := request{Verb: "create"}
	event.ObjectRef.Resource = "events"
	if event.kind() != kindEvent || event.writes() || !event.counts() || !(request{Verb: "patch"}).writes() || (request{Verb: "get"}).writes() {
		t.Error("events are not counted apart from other writes")
	}
	if early := log.between("o", from, from.Add(2*time.Second)); len(early) != 1 {
		t.Errorf("%v", early)
	}
}

// write appends to a file.
func write(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
