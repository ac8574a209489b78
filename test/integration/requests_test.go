//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/kit"
)

// counter records the requests of a REST config, except watches.
type counter struct {
	mutex sync.Mutex
	seen  []string
	// conflicts are the paths of the requests that the API server answered with 409.
	conflicts []string
	// foreign are namespaces in which the shared operator has no effect: a test runs its own operator there.
	foreign []string
}

var inNamespace = regexp.MustCompile(`/namespaces/([^/]+)/`)

func (c *counter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.URL.Query().Get("watch") == "" && !c.record(request) {
			return forbidden(request), nil
		}
		response, err := next.RoundTrip(request)
		if err == nil && response.StatusCode == http.StatusConflict {
			c.recordConflict(request.URL.Path)
		}
		return response, err
	})
}

func (c *counter) recordConflict(path string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.conflicts = append(c.conflicts, path)
}

// conflictsOf returns the number of answers 409 so far for a resource in a namespace.
func (c *counter) conflictsOf(ns, resource string) int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	n := 0
	for _, path := range c.conflicts {
		if strings.Contains(path, "/namespaces/"+ns+"/"+resource+"/") {
			n++
		}
	}
	return n
}

// record reports whether the request may pass.
func (c *counter) record(request *http.Request) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if at := inNamespace.FindStringSubmatch(request.URL.Path); at != nil && slices.Contains(c.foreign, at[1]) {
		return false
	}
	c.seen = append(c.seen, request.Method+" "+request.URL.Path)
	return true
}

func forbidden(request *http.Request) *http.Response {
	const status = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"of another operator","code":403}`
	return &http.Response{
		StatusCode: http.StatusForbidden, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader([]byte(status))),
	}
}

// since returns the requests after the first n.
func (c *counter) since(n int) []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Clone(c.seen[n:])
}

// in returns the requests after the first n that concern a namespace, without its name.
func (c *counter) in(ns string, n int) []string {
	var all []string
	for _, request := range c.since(n) {
		if before, after, found := strings.Cut(request, "/namespaces/"+ns+"/"); found {
			all = append(all, strings.Fields(before)[0]+" "+after)
		}
	}
	return all
}

// ownNamespace creates a namespace that the shared operator ignores until the test ends. Then the shared operator
// handles remaining deletions of clusters.
func ownNamespace(t *testing.T) string {
	t.Helper()
	ns := namespace(t)
	requests.keepOff(ns, true)
	t.Cleanup(func() { requests.keepOff(ns, false) })
	return ns
}

func (c *counter) keepOff(ns string, off bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.foreign = without(c.foreign, ns); off {
		c.foreign = append(c.foreign, ns)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// awaitIdle waits until the operator has sent no request for some seconds, and returns the number of requests so far.
func awaitIdle(t *testing.T) int {
	t.Helper()
	return awaitSilence(t, func() int { return len(requests.since(0)) })
}

// awaitIdleIn does the same for one namespace while other tests run. The returned number counts all requests, too.
func awaitIdleIn(t *testing.T, ns string) int {
	t.Helper()
	awaitSilence(t, func() int { return len(requests.in(ns, 0)) })
	return len(requests.since(0))
}

// silence is longer than a change of the status may wait.
const silence = kit.StatusDelay + time.Second

// watchSilence returns a function that counts the requests so far, and reports whether the last one was long ago.
func watchSilence(sent func() int) func() (count int, isSilent bool) {
	count, since := -1, time.Now()
	return func() (int, bool) {
		if now := sent(); now != count {
			count, since = now, time.Now()
		}
		return count, time.Since(since) > silence
	}
}

func awaitSilence(t *testing.T, sent func() int) int {
	t.Helper()
	look := watchSilence(sent)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if count, isSilent := look(); isSilent {
			return count
		}
	}
	t.Fatalf("no %s without a request within %s: %v", silence, patience, requests.since(max(0, len(requests.since(0))-10)))
	return 0
}
