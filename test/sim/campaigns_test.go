/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// campaign is a sequence without failures. One failure at one call must not change its result.
type campaign struct {
	sequence sequence
	// everything makes a campaign try every failure at every call, also where two are alike, and play each to its end.
	everything bool
	trace      []site
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

// newCampaign plays a sequence to its end, and keeps the state before each round.
func newCampaign(p *play) (*campaign, error) {
	c := &campaign{sequence: p.sequence, keys: map[[sha256.Size]byte]bool{}}
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
		if round.at < len(c.sequence.steps) && c.sequence.steps[round.at].golden != "" && !c.everything {
			continue
		}
		for _, at := range calls {
			kinds := c.failuresOf(at, first)
			if !at.writes() && !c.everything {
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
func (c *campaign) failuresOf(at site, first bool) []failure {
	ways := []failure{errorBefore, errorAfter, conflict, forbidden, meanwhile, crashAfter}
	switch {
	case c.everything && at.writes():
		return append(ways, crashBefore)
	case c.everything:
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
		if !c.everything && healed() && c.keys[p.key(c.known)] {
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
