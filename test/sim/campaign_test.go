/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

var everything = flag.Bool("everything", false, "try every failure at every call, also where two are alike, and play each to its end")

// campaign is a sequence without failures. One failure at one call must not change its result.
type campaign struct {
	sequence sequence
	trace    []site
	// rounds are the states of the play before each round. keys determine the rest of each play.
	rounds []*play
	keys   map[[sha256.Size]byte]bool
	known  memory
	end    map[string]string
	counts map[string]int
}

// plan is one failure at one call, and the round of that call.
type plan struct {
	fault
	round *play
}

func newCampaign(s sequence, plants ...func(client.WithWatch) client.WithWatch) (*campaign, error) {
	c := &campaign{sequence: s, keys: map[[sha256.Size]byte]bool{}}
	p := newPlay(s, 0)
	for _, plant := range plants {
		p.plant = plant
	}
	for {
		before := p.clone()
		before.trace = slices.Clip(p.trace)
		c.rounds = append(c.rounds, before)
		over, err := p.next()
		if err = errors.Join(err, p.rules()); err != nil {
			return nil, err
		}
		c.keys[p.key(c.known)] = true
		if over {
			break
		}
	}
	c.trace, c.end, c.counts, c.known = p.trace, p.snapshot(), p.counts, p.own
	return c, errors.Join(p.rules(), p.checkIdle())
}

// campaigns are computed once for all tests, which run one after the other.
var campaigns sync.Map // by the name of the sequence

func campaignOf(t *testing.T, s sequence) *campaign {
	t.Helper()
	if made, ok := campaigns.Load(s.name); ok {
		return made.(*campaign)
	}
	c, err := newCampaign(s)
	if err != nil {
		t.Fatal(err)
	}
	campaigns.Store(s.name, c)
	return c
}

// plans returns all failures at all calls, without duplicates. A crash has the same effect at every call between two
// writes. An error has the same effect for every read from the same line in the same step. Another sequence covers
// the calls before the story starts.
func (c *campaign) plans() []plan {
	var plans []plan
	type reading struct {
		site site
		step int
	}
	read := map[reading]bool{}
	for i, round := range c.rounds {
		calls := c.trace[len(round.trace):]
		if i+1 < len(c.rounds) {
			calls = c.trace[len(round.trace):len(c.rounds[i+1].trace)]
		}
		first := true
		if round.at < len(c.sequence.steps) && c.sequence.steps[round.at].golden != "" && !*everything {
			continue
		}
		for _, at := range calls {
			kinds := failuresOf(at, first)
			if !at.writes() && !*everything {
				alike := reading{at, round.at}
				alike.site.nth = 0
				if read[alike] {
					continue
				}
				read[alike] = true
			}
			first = first && !at.writes()
			for _, kind := range kinds {
				plans = append(plans, plan{fault{at: at, kind: kind}, round})
			}
		}
	}
	return plans
}

// failuresOf returns the possible failures of a call. The call is the first write of its pass, or precedes it, if
// first is true.
func failuresOf(at site, first bool) []failure {
	ways := []failure{errorBefore, errorAfter, conflict, forbidden, meanwhile, crashAfter}
	switch {
	case *everything && at.writes():
		return append(ways, crashBefore)
	case *everything:
		return []failure{errorBefore, crashBefore, meanwhile}
	case !at.writes():
		return []failure{errorBefore}
	case first:
		return append(ways, crashBefore)
	default:
		return ways
	}
}

// run plays a plan and returns the deviations.
func (c *campaign) run(todo plan) (*play, error) {
	p := todo.round.clone()
	p.fault = &todo.fault
	err := c.toTheSameEnd(p, func() bool { return p.fault.done })
	if !p.fault.done {
		err = errors.Join(err, errors.New("the operator did not repeat the call"))
	}
	return p, err
}

// toTheSameEnd plays on and returns the deviations. After the failure is healed, a play in the same state as one
// without the failure ends like that one.
func (c *campaign) toTheSameEnd(p *play, healed func() bool) error {
	for {
		over, err := p.next()
		if err = errors.Join(err, p.rules()); err != nil {
			return err
		}
		if !*everything && healed() && c.keys[p.key(c.known)] {
			return nil
		}
		if over {
			return c.asWithout(p)
		}
	}
}

// asWithout compares an end with that of the play without a failure.
func (c *campaign) asWithout(p *play) error {
	if text := difference(c.end, p.snapshot()); text != "" {
		return fmt.Errorf("the end differs from the end without the failure:\n%s", text)
	}
	if !c.sequence.hurried() && p.chance == nil && !maps.Equal(c.counts, p.counts) {
		return fmt.Errorf("created and deleted %v, without the failure %v", p.counts, c.counts)
	}
	return p.checkIdle()
}

// mostReports is the number of failing plays of a sequence that are reported in full.
const mostReports = 3

func report(t *testing.T, failures []string) {
	t.Helper()
	for _, failure := range failures[:min(mostReports, len(failures))] {
		t.Error(failure)
	}
}

// unsteady are the stories whose end depends on the time or on the order of events without a fault of the operator, and why.
var unsteady = map[string]string{
	"pair-without-the-last-primary":              "orders-2 has all rows for the engine only if it stops after the primary",
	"pair-final-backup-unseen":                   "either replica may take over",
	"voters-final-backup-during-scale-in":        "a second decides whether the removal has ended before the deletion",
	"pair-hibernate-during-hand-over":            "either primary may stop last",
	"pair-delete-during-hand-over":               "the cluster may be deleted before the Job of the hand-over exists",
	"pair-hand-over-to-another-before-a-rollout": "a crash delays the hand-over until after the rollout",
	"pair-final-backup-of-adopted-volumes":       "a cluster that is deleted before the operator has seen it has no final backup",
}

func skipUnsteady(t *testing.T, s sequence) {
	t.Helper()
	if why := unsteady[s.name]; why != "" {
		t.Skip(why)
	}
}

func TestOneFailureAtAnyCallDoesNotChangeTheEnd(t *testing.T) {
	withoutRaces(t)
	for _, sequence := range played() {
		t.Run(sequence.name, func(t *testing.T) {
			skipUnsteady(t, sequence)
			t.Parallel()
			c := campaignOf(t, sequence)
			var failures []string
			plans := sampled(t, sequence.name, c.plans(), func(p plan) failure { return p.kind })
			for _, plan := range plans {
				if p, err := c.run(plan); err != nil {
					failures = append(failures, fmt.Sprintf("%s: %s: %v\n\n%s", plan.kind, plan.at, err, p.story.text()))
				}
			}
			t.Logf("%d plans over %d calls in %d rounds, %d failed", len(plans), len(c.trace), len(c.rounds), len(failures))
			report(t, failures)
		})
	}
}

func TestTheOrderOfEventsDoesNotChangeTheEnd(t *testing.T) {
	withoutRaces(t)
	for _, sequence := range played() {
		t.Run(sequence.name, func(t *testing.T) {
			skipUnsteady(t, sequence)
			t.Parallel()
			c := campaignOf(t, sequence)
			var failures []string
			for _, order := range orders() {
				p := newPlay(sequence, order)
				if err := errors.Join(p.toTheEnd(), c.asWithout(p)); err != nil {
					failures = append(failures, fmt.Sprintf("DBC_SEED=%d: %v\n\n%s", order, err, p.story.text()))
				}
			}
			report(t, failures)
		})
	}
}
