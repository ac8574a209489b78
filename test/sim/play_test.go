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
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// play is a sequence in a world, round by round.
type play struct {
	*world
	sequence sequence
	// at is the current step, started whether it has been executed. rounds counts the rounds since then, idle those in
	// a row without work.
	at      int
	started bool
	rounds  int
	idle    int
	silent  time.Time
	// line is the first line of the story for the step.
	line int
	// own are the texts of the objects that only this play has.
	own memory
}

// playIn is a sequence that starts in a world.
func playIn(w *world, s sequence) *play { return &play{world: w, sequence: s} }

func (p *play) clone() *play {
	copied := *p
	copied.world, copied.own = p.world.clone(), nil
	return &copied
}

// next plays one round and reports whether it was the last.
func (p *play) next() (over bool, err error) {
	if p.at == len(p.sequence.steps) {
		return true, nil
	}
	step := p.sequence.steps[p.at]
	if !p.started {
		p.story.heading(step.what)
		p.started, p.rounds, p.idle, p.line = true, 0, 0, len(p.story.lines)
		p.silent = p.clock.Now()
		step.do(p.world)
	}
	p.rounds++
	switch changed := p.round(); {
	case step.rounds > 0:
		if !changed {
			p.clock.SetTime(p.clock.Now().Add(tick))
		}
		p.ended(step, p.rounds == step.rounds)
	case p.rounds > maxRounds:
		return true, fmt.Errorf("%s: not idle after %d rounds", step.what, maxRounds)
	default:
		p.ended(step, p.isIdle(changed))
	}
	return p.at == len(p.sequence.steps), nil
}

// isIdle reports whether no more events will follow; a late cache catches up at some time. If only time can cause an
// event, it lets that time pass.
func (p *play) isIdle(changed bool) bool {
	switch {
	case changed, p.lag != nil:
		p.idle, p.silent = 0, p.clock.Now()
	case p.away: // no operator runs a pass that is due
		return true
	case !p.caughtUp(): // the pass runs in the next round
	case p.due().IsZero(), p.idle >= quiet && p.clock.Now().Sub(p.silent) >= patience:
		return true
	default:
		p.idle++
		p.clock.SetTime(later(p.clock.Now(), p.due()))
	}
	return false
}

func (p *play) ended(step step, ended bool) {
	if !ended {
		return
	}
	if step.rounds == 0 {
		p.checkClients()
		p.watchLosses()
		p.checkAvailable()
	}
	p.at, p.started = p.at+1, false
	if step.golden != "" {
		p.story.lines = append(p.story.lines[:p.line], "       as in "+step.golden)
	}
}

// toTheEnd plays the remaining rounds and returns the problems.
func (p *play) toTheEnd() error {
	for {
		over, err := p.next()
		if err != nil {
			return errors.Join(err, p.rules())
		}
		if over {
			return errors.Join(p.rules(), p.checkIdle())
		}
	}
}

func (w *world) rules() error {
	if len(w.broken) == 0 {
		return nil
	}
	return errors.New(strings.Join(slices.Compact(w.broken), "\n"))
}

// checkIdle runs passes in steady state, which must not write.
func (w *world) checkIdle() error {
	w.by = operator
	if err := errors.Join(w.leftovers(), w.serves()); err != nil {
		return err
	}
	for range quiet {
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		before := w.life.writes
		w.wake()
		w.operate()
		if w.life.writes > before {
			return fmt.Errorf("an idle operator sends %s", w.trace[len(w.trace)-1])
		}
	}
	return nil
}

// memory caches the texts of objects, because an object in a store never changes.
type memory map[client.Object]string

// key determines the rest of a play: two plays with the same key have the same end.
func (p *play) key(known memory) [sha256.Size]byte {
	var text strings.Builder
	rounds := 0
	if p.at < len(p.sequence.steps) && p.sequence.steps[p.at].rounds > 0 {
		rounds = p.rounds
	}
	fmt.Fprintln(&text, p.at, p.started, rounds, p.idle, p.clock.Now().Sub(p.silent))
	for _, it := range p.items() {
		q := p.queue(it)
		fmt.Fprintln(&text, it, q.failures, q.woken)
		if left := q.due.Sub(p.clock.Now()); !q.due.IsZero() && left <= horizon {
			fmt.Fprintln(&text, "due in", left)
		}
	}
	fmt.Fprintln(&text, p.disk, p.store.terminating, min(electing, p.withoutPrimary()))
	for _, what := range slices.Sorted(maps.Keys(p.counts)) {
		fmt.Fprintln(&text, what, p.counts[what])
	}
	aliases, serving := make([]string, 0, 2*len(p.store.sorted())), len(p.serving()) > 0
	for _, object := range p.store.sorted() {
		aliases = append(aliases, string(object.GetUID()), "uid of "+ref(object))
		fmt.Fprintln(&text, p.textOf(object, known), p.age(object, serving), p.moments(object))
	}
	return sha256.Sum256([]byte(strings.NewReplacer(aliases...).Replace(text.String())))
}

func (p *play) textOf(object client.Object, known memory) string {
	if text, ok := known[object]; ok {
		return text
	}
	if _, ok := p.own[object]; !ok {
		if p.own == nil {
			p.own = memory{}
		}
		p.own[object] = ref(object) + normalText(object)
	}
	return p.own[object]
}

const (
	// steady is the age of readiness from which no decision depends on it while a member serves.
	steady = 10 * time.Second
	// lost is the same age while no member serves.
	lost = 10 * time.Minute
)

// age is the time since a pod was created and since it became ready or unready. No decision depends on other times.
func (p *play) age(object client.Object, serving bool) []time.Duration {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil
	}
	ages := []time.Duration{p.clock.Now().Sub(pod.CreationTimestamp.Time)}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			ages = append(ages, p.clock.Now().Sub(c.LastTransitionTime.Time))
		}
	}
	if len(ages) == 1 { // the kubelet has not reported yet
		ages = append(ages, ages[0])
	}
	for i := range ages {
		if serving {
			ages[i] = min(steady, ages[i])
		}
		ages[i] = min(lost, ages[i])
	}
	if serving {
		return ages[1:]
	}
	return ages
}

// settle plays until nothing happens for a while, as between two steps.
func (w *world) settle() {
	p := &play{world: w}
	for range maxRounds {
		if p.isIdle(w.round()) {
			return
		}
	}
	w.breaks("not idle after %d rounds", maxRounds)
}
