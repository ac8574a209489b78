/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// Kinds of requests besides verbs. Watches, leases and reviews are not part of the cost of a cluster: they do not depend
// on the number of clusters, or the benchmark causes them.
//
// Events count, but apart from other writes: they expire, and nothing waits for them. Commands in pods are no writes.
const (
	kindEvent  = "events"
	kindExec   = "exec" // a command in a pod, which no kubelet executes here
	kindWatch  = "watch"
	kindLease  = "lease"
	kindReview = "review" // may this client read the metrics?
)

// request is one line of the audit log.
type request struct {
	Stage string
	Verb  string
	User  struct{ Username string }
	At    time.Time `json:"requestReceivedTimestamp"`

	ObjectRef      struct{ Resource, Subresource, Name string }
	ResponseStatus struct{ Code int }
}

// kind returns the verb, or the reason why the request does not count.
func (r request) kind() string {
	switch {
	case r.ObjectRef.Resource == "leases":
		return kindLease
	case r.ObjectRef.Resource == "tokenreviews", r.ObjectRef.Resource == "subjectaccessreviews":
		return kindReview
	case r.Verb == "watch":
		return kindWatch
	case r.ObjectRef.Resource == "events":
		return kindEvent
	case r.ObjectRef.Subresource == kindExec:
		return kindExec
	default:
		return r.Verb
	}
}

// writes reports whether the request changes an object that is not an event.
func (r request) writes() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.kind())
}

// counts reports whether the work of the contestant caused the request.
func (r request) counts() bool {
	return !slices.Contains([]string{kindWatch, kindLease, kindReview}, r.kind())
}

// repeated reports whether the log already has this request. The log records a watch at its start and at its end.
func (r request) repeated() bool { return r.Verb == "watch" && r.Stage == "ResponseComplete" }

// subject describes the target and the result of a request.
func (r request) subject() string {
	text := r.Verb + " " + r.ObjectRef.Resource
	if r.ObjectRef.Subresource != "" {
		text += "/" + r.ObjectRef.Subresource
	}
	return fmt.Sprintf("%s: %d", text, r.ResponseStatus.Code)
}

// audit is the part of the audit log that has been read.
type audit struct {
	file     *os.File
	lines    *bufio.Reader
	partial  []byte
	requests []request
}

func openAudit(path string) (*audit, error) {
	file, err := os.Open(path) //nolint:gosec // the caller names it
	if err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	return &audit{file: file, lines: bufio.NewReader(file)}, nil
}

// read reads the new lines.
func (a *audit) read() error {
	for {
		text, err := a.lines.ReadBytes('\n')
		a.partial = append(a.partial, text...)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the audit log: %w", err)
		}
		var next request
		if err := json.Unmarshal(a.partial, &next); err != nil {
			return fmt.Errorf("read a line of the audit log: %w", err)
		}
		a.partial = nil
		if !next.repeated() {
			a.requests = append(a.requests, next)
		}
	}
}

// longest is the time limit of the API server for a request. The log has a request at its end, so it can follow requests
// that started so much later.
const longest = time.Minute

// between returns the requests of a user in a time range.
func (a *audit) between(user string, from, to time.Time) []request {
	var found []request
	for _, r := range slices.Backward(a.requests) {
		if r.At.Before(from.Add(-longest)) {
			break
		}
		if r.User.Username == user && !r.At.Before(from) && r.At.Before(to) {
			found = append(found, r)
		}
	}
	return found
}

// tally counts requests by the result of a function.
func tally(requests []request, by func(request) string) map[string]int {
	counts := map[string]int{}
	for _, r := range requests {
		counts[by(r)]++
	}
	return counts
}

// work returns the requests that count.
func work(requests []request) []request {
	return slices.DeleteFunc(slices.Clone(requests), func(r request) bool { return !r.counts() })
}
