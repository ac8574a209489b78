/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

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

func (l late) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if l.kinds(of("get", "", object).kind) {
		return l.past.Get(ctx, key, object, options...)
	}
	return l.Reader.Get(ctx, key, object, options...)
}

func (l late) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if l.kinds(of("list", "", list).kind) {
		return l.past.List(ctx, list, options...)
	}
	return l.Reader.List(ctx, list, options...)
}

// lags are the late kinds.
var lags = []struct {
	what  string
	kinds func(kind string) bool
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

// lateness is a lag from a round on, by a number of rounds.
type lateness struct{ now, by, lag int }

func (c *campaign) latenesses() []lateness {
	var found []lateness
	for now, round := range c.rounds {
		if round.at == len(c.sequence.steps) || c.sequence.steps[round.at].golden != "" {
			continue
		}
		for i, by := range lateBy {
			if then := now - by; then >= 0 && c.rounds[then].store.version != round.store.version {
				found = append(found, lateness{now, by, (now + i) % len(lags)})
			}
		}
	}
	return found
}

// playLate plays some rounds with a cache that shows some kinds in the state of a previous round.
func (c *campaign) playLate(round, then *play, kinds func(string) bool) (*play, error) {
	p := round.clone()
	p.story.heading("from here on the cache is late")
	for range lateFor {
		p.lag = late{p.store.server(), then.store.clone(p.clock).server(), kinds}
		p.wake() // an event triggered the operator
		over, err := p.next()
		if err != nil {
			return p, err
		}
		if over {
			break
		}
	}
	p.story.heading("from here on it is not")
	p.lag = nil
	p.wake()
	return p, c.toTheSameEnd(p, func() bool { return true })
}
