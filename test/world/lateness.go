/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// late is a cache in which some kinds are some rounds old. Each kind has its own watch, so only some of them may be
// late.
type late struct {
	client.Reader
	past  client.Reader
	kinds func(kind string) bool
}

// Get reads an object.
func (l late) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if l.kinds(of("get", "", object).kind) {
		return l.past.Get(ctx, key, object, options...)
	}
	return l.Reader.Get(ctx, key, object, options...)
}

// List reads objects.
func (l late) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if l.kinds(of("list", "", list).kind) {
		return l.past.List(ctx, list, options...)
	}
	return l.Reader.List(ctx, list, options...)
}

// Lags are the late kinds.
var Lags = []struct {
	What  string
	Kinds func(kind string) bool
}{
	{"everything", func(string) bool { return true }},
	{"everything but the cluster", func(kind string) bool { return kind != "DatabaseCluster" }},
	{"the cluster", func(kind string) bool { return kind == "DatabaseCluster" }},
	{"pods", func(kind string) bool { return kind == "PodList" }},
	{"the StatefulSet", func(kind string) bool { return kind == "StatefulSet" }},
	{"backups and Jobs", func(kind string) bool {
		return kind == "DatabaseBackup" || kind == "DatabaseBackupList" || kind == "JobList" || kind == "Job"
	}},
	{"pods and claims", func(kind string) bool { return kind == "PodList" || kind == "PersistentVolumeClaimList" }},
}

// lateBy is the number of rounds by which a cache is late, lateFor the number of rounds of the lag.
var lateBy, lateFor = []int{1, 2, 4, 9}, 2

// Lateness is a lag from a round on, by a number of rounds.
type Lateness struct{ Now, By, Lag int }

// Latenesses are all lags that can change a play.
func (c *Campaign) Latenesses() []Lateness {
	var found []Lateness
	for now, round := range c.Rounds {
		if round.at == len(c.story.Steps) || c.story.Steps[round.at].Golden != "" {
			continue
		}
		for i, by := range lateBy {
			if then := now - by; then >= 0 && c.Rounds[then].Store.Version != round.Store.Version {
				found = append(found, Lateness{now, by, (now + i) % len(Lags)})
			}
		}
	}
	return found
}

// PlayLate plays some rounds with a cache that shows some kinds in the state of a previous round.
func (c *Campaign) PlayLate(round, then *Play, kinds func(string) bool) (*Play, error) {
	p := round.clone()
	p.journal.heading("from here on the cache is late")
	for range lateFor {
		p.lag = late{p.Store.Server(), then.Store.Clone(p.Clock).Server(), kinds}
		p.wake() // an event triggered the operator
		over, err := p.next()
		if err != nil {
			return p, err
		}
		if over {
			break
		}
	}
	p.journal.heading("from here on it is not")
	p.lag = nil
	p.wake()
	return p, c.toTheSameEnd(p, func() bool { return true })
}
