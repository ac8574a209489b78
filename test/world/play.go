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
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// Play is a sequence in a world, round by round.
type Play struct {
	*World
	story Story
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

// NewPlay is a sequence that starts in a world.
func NewPlay(w *World, s Story) *Play { return &Play{World: w, story: s} }

func (p *Play) clone() *Play {
	copied := *p
	copied.World, copied.own = p.World.clone(), nil
	return &copied
}

// next plays one round and reports whether it was the last.
func (p *Play) next() (over bool, err error) {
	if p.at == len(p.story.Steps) {
		return true, nil
	}
	step := p.story.Steps[p.at]
	if !p.started {
		p.journal.heading(step.What)
		p.started, p.rounds, p.idle, p.line = true, 0, 0, len(p.journal.lines)
		p.silent = p.Clock.Now()
		step.Do(p.World)
	}
	p.rounds++
	switch changed := p.round(); {
	case step.Rounds > 0:
		if !changed {
			p.Clock.SetTime(p.Clock.Now().Add(tick))
		}
		p.ended(step, p.rounds == step.Rounds)
	case p.rounds > maxRounds:
		return true, fmt.Errorf("%s: not idle after %d rounds", step.What, maxRounds)
	default:
		p.ended(step, p.isIdle(changed))
	}
	return p.at == len(p.story.Steps), nil
}

// isIdle reports whether no more events will follow; a late cache catches up at some time. If only time can cause an
// event, it lets that time pass.
func (p *Play) isIdle(changed bool) bool {
	switch {
	case changed, p.lag != nil:
		p.idle, p.silent = 0, p.Clock.Now()
	case p.Away: // no operator runs a pass that is due
		return true
	case !p.CaughtUp(): // the pass runs in the next round
	case p.due().IsZero(), p.idle >= quiet && p.Clock.Now().Sub(p.silent) >= patience:
		return true
	default:
		p.idle++
		p.Clock.SetTime(later(p.Clock.Now(), p.due()))
	}
	return false
}

func (p *Play) ended(step Step, ended bool) {
	if !ended {
		return
	}
	if step.Rounds == 0 {
		p.checkClients()
		p.watchLosses()
		p.checkAvailable()
	}
	p.at, p.started = p.at+1, false
	if step.Golden != "" {
		p.journal.lines = append(p.journal.lines[:p.line], "       as in "+step.Golden)
	}
}

// ToTheEnd plays the remaining rounds and returns the problems.
func (p *Play) ToTheEnd() error {
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

func (w *World) rules() error {
	if len(w.broken) == 0 {
		return nil
	}
	return errors.New(strings.Join(slices.Compact(w.broken), "\n"))
}

// checkIdle runs passes in steady state, which must not write.
func (w *World) checkIdle() error {
	w.by = operator
	if err := errors.Join(w.leftovers(), w.serves()); err != nil {
		return err
	}
	for range quiet {
		w.Clock.SetTime(w.Clock.Now().Add(time.Minute))
		before := w.life.writes
		w.wake()
		w.Operate()
		if w.life.writes > before {
			return fmt.Errorf("an idle operator sends %s", w.trace[len(w.trace)-1])
		}
	}
	return nil
}

// memory caches the texts of objects, because an object in a store never changes.
type memory map[client.Object]string

// key determines the rest of a play: two plays with the same key have the same end.
func (p *Play) key(known memory) [sha256.Size]byte {
	var text strings.Builder
	rounds := 0
	if p.at < len(p.story.Steps) && p.story.Steps[p.at].Rounds > 0 {
		rounds = p.rounds
	}
	fmt.Fprintln(&text, p.at, p.started, rounds, p.idle, p.Clock.Now().Sub(p.silent))
	for _, it := range p.items() {
		q := p.queue(it)
		fmt.Fprintln(&text, it, q.failures, q.woken)
		if left := q.due.Sub(p.Clock.Now()); !q.due.IsZero() && left <= horizon {
			fmt.Fprintln(&text, "due in", left)
		}
	}
	fmt.Fprintln(&text, p.disk, p.Store.Terminating, min(electing, p.withoutPrimary()))
	for _, what := range slices.Sorted(maps.Keys(p.Counts)) {
		fmt.Fprintln(&text, what, p.Counts[what])
	}
	aliases, serving := make([]string, 0, 2*len(p.Store.Sorted())), len(p.serving()) > 0
	for _, object := range p.Store.Sorted() {
		aliases = append(aliases, string(object.GetUID()), "uid of "+store.Ref(object))
		fmt.Fprintln(&text, p.textOf(object, known), p.age(object, serving), p.moments(object))
	}
	return sha256.Sum256([]byte(strings.NewReplacer(aliases...).Replace(text.String())))
}

func (p *Play) textOf(object client.Object, known memory) string {
	if text, ok := known[object]; ok {
		return text
	}
	if _, ok := p.own[object]; !ok {
		if p.own == nil {
			p.own = memory{}
		}
		p.own[object] = store.Ref(object) + normalText(object)
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
func (p *Play) age(object client.Object, serving bool) []time.Duration {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil
	}
	ages := []time.Duration{p.Clock.Now().Sub(pod.CreationTimestamp.Time)}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			ages = append(ages, p.Clock.Now().Sub(c.LastTransitionTime.Time))
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

// Settle plays until nothing happens for a while, as between two steps.
func (w *World) Settle() {
	p := &Play{World: w}
	for range maxRounds {
		if p.isIdle(w.round()) {
			return
		}
	}
	w.Breaks("not idle after %d rounds", maxRounds)
}
