/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Campaign is a sequence without failures. One failure at one call must not change its result.
type Campaign struct {
	story Story
	// Everything makes a campaign try every failure at every call, also where two are alike, and play each to its end.
	Everything bool
	Trace      []site
	// Rounds are the states of the play before each round. keys determine the rest of each play.
	Rounds []*Play
	keys   map[[sha256.Size]byte]bool
	known  memory
	end    map[string]string
	counts map[string]int
}

// Plan is one failure at one call, and the round of that call.
type Plan struct {
	fault
	round *Play
}

// NewCampaign plays a sequence to its end, and keeps the state before each round.
func NewCampaign(p *Play) (*Campaign, error) {
	c := &Campaign{story: p.story, keys: map[[sha256.Size]byte]bool{}}
	for {
		before := p.clone()
		before.trace = slices.Clip(p.trace)
		c.Rounds = append(c.Rounds, before)
		over, err := p.next()
		if err = errors.Join(err, p.rules()); err != nil {
			return nil, err
		}
		c.keys[p.key(c.known)] = true
		if over {
			break
		}
	}
	c.Trace, c.end, c.counts, c.known = p.trace, p.snapshot(), p.Counts, p.own
	return c, errors.Join(p.rules(), p.checkIdle())
}

// Plans returns all failures at all calls, without duplicates. A crash has the same effect at every call between two
// writes. An error has the same effect for every read from the same line in the same step. Another sequence covers
// the calls before the story starts.
func (c *Campaign) Plans() []Plan {
	var plans []Plan
	type reading struct {
		site site
		step int
	}
	read := map[reading]bool{}
	for i, round := range c.Rounds {
		calls := c.Trace[len(round.trace):]
		if i+1 < len(c.Rounds) {
			calls = c.Trace[len(round.trace):len(c.Rounds[i+1].trace)]
		}
		first := true
		if round.at < len(c.story.Steps) && c.story.Steps[round.at].Golden != "" && !c.Everything {
			continue
		}
		for _, at := range calls {
			kinds := c.failuresOf(at, first)
			if !at.writes() && !c.Everything {
				alike := reading{at, round.at}
				alike.site.nth = 0
				if read[alike] {
					continue
				}
				read[alike] = true
			}
			first = first && !at.writes()
			for _, kind := range kinds {
				plans = append(plans, Plan{fault{At: at, Kind: kind}, round})
			}
		}
	}
	return plans
}

// failuresOf returns the possible failures of a call. The call is the first write of its pass, or precedes it, if
// first is true.
func (c *Campaign) failuresOf(at site, first bool) []Failure {
	ways := []Failure{errorBefore, errorAfter, conflict, forbidden, meanwhile, crashAfter}
	switch {
	case c.Everything && at.writes():
		return append(ways, crashBefore)
	case c.Everything:
		return []Failure{errorBefore, crashBefore, meanwhile}
	case !at.writes():
		return []Failure{errorBefore}
	case first:
		return append(ways, crashBefore)
	default:
		return ways
	}
}

// Run plays a plan and returns the deviations.
func (c *Campaign) Run(todo Plan) (*Play, error) {
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
func (c *Campaign) toTheSameEnd(p *Play, healed func() bool) error {
	for {
		over, err := p.next()
		if err = errors.Join(err, p.rules()); err != nil {
			return err
		}
		if !c.Everything && healed() && c.keys[p.key(c.known)] {
			return nil
		}
		if over {
			return c.AsWithout(p)
		}
	}
}

// AsWithout compares an end with that of the play without a failure.
func (c *Campaign) AsWithout(p *Play) error {
	if text := difference(c.end, p.snapshot()); text != "" {
		return fmt.Errorf("the end differs from the end without the failure:\n%s", text)
	}
	if !c.story.hurried() && p.chance == nil && !maps.Equal(c.counts, p.Counts) {
		return fmt.Errorf("created and deleted %v, without the failure %v", p.Counts, c.counts)
	}
	return p.checkIdle()
}
