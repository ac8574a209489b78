/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/testing/sample"
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// A random play is a walk: steps of users, and faults, at random moments. The walk then heals: the faults end, the operator is back, and
// the cluster runs. All rules hold at every moment, and at the end clients can use the database.

var walks = flag.Int("walks", 0, "how many random plays run; 0 for 60, or 5,000 in a whole campaign")

func numberOfWalks() int {
	switch {
	case *walks > 0:
		return *walks
	case sample.Whole():
		return 5000
	default:
		return 60
	}
}

// walk is the random choice of the steps of one play. It only knows what its own steps have done.
type walk struct {
	*rand.Rand
	engine   string
	replicas int32
	// troubled is the pod that does not respond; "" for none.
	troubled                 string
	away, paused, hibernated bool
	values                   int
}

const (
	mostMembers = 5
	mostSteps   = 9
)

// randomSequence is the walk of a seed, and the number of its last steps, which heal it.
func randomSequence(seed uint64) (s world.Story, heals int) {
	k := &walk{Rand: rand.New(rand.NewPCG(seed, 42)), replicas: 3}
	k.engine = choose(k, world.PairEngine, world.SyncEngine, world.TuneEngine, world.VoteEngine, world.AnyEngine)
	steps := []world.Step{k.created()}
	for range 2 + k.IntN(mostSteps-1) {
		steps = append(steps, k.wait(k.next()))
	}
	last := k.healed()
	return world.Tell(fmt.Sprintf("walk-%d", seed), append(steps, last...)...), len(last)
}

func choose[T any](k *walk, all ...T) T { return all[k.IntN(len(all))] }

func (k *walk) pod() string { return naming.Member(clusterName, int32(k.IntN(mostMembers))) }

// wait lets the next step start soon, or when the world is idle.
func (k *walk) wait(s world.Step) world.Step {
	if s.Rounds == 0 && k.IntN(3) > 0 {
		s.Rounds = 1 + k.IntN(choose(k, 4, 15, 40))
	}
	return s
}

// created is the first step, or the next cluster of the same name.
func (k *walk) created() world.Step {
	k.paused, k.hibernated = false, false
	changes := []func(*dbv1.DatabaseCluster){saved, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas, c.Spec.Engine = k.replicas, k.engine }}
	if k.IntN(2) == 0 {
		changes = append(changes, hook("final", dbv1.HookBackup))
	}
	if k.IntN(2) == 0 {
		changes = append(changes, deleteVolumes)
	}
	if k.engine == world.AnyEngine {
		return withEngine(create(k.replicas, changes...))
	}
	s := told(createShared("", k.engine, changes...))
	s.What = fmt.Sprintf("%s with engine %s", s.What, k.engine)
	return s
}

// next is one step: a change of the spec, a request, a disturbance, or a fault.
func (k *walk) next() world.Step {
	steps := []func() world.Step{
		k.scaled, k.scaled, k.hibernates, k.asksForRebuild, k.asksForHandOver, k.changesImage, k.asksForRestart, k.tunes,
		k.breaks, k.breaks, k.loses, k.losesVolume, k.leaves, k.replaced, k.grows, k.pauses, k.deletesStatefulSet, k.restarts,
	}
	return choose(k, steps...)()
}

// existing is a step that only a cluster that exists and is not being deleted can have.
func existing(s world.Step) world.Step {
	do := s.Do
	s.Do = func(w *world.World) {
		if c := w.Cluster(); c != nil && c.DeletionTimestamp == nil {
			do(w)
		}
	}
	return s
}

func (k *walk) scaled() world.Step {
	k.replicas = 1 + k.Int32N(mostMembers)
	if k.engine == world.VoteEngine { // engines of voters refuse even numbers: see spec.replicas.odd
		k.replicas |= 1
	}
	return existing(scale(k.replicas))
}

func (k *walk) hibernates() world.Step {
	k.hibernated = !k.hibernated
	return existing(hibernate(k.hibernated))
}

func (k *walk) pauses() world.Step {
	k.paused = !k.paused
	return existing(pause(k.paused))
}

func (k *walk) asksForRebuild() world.Step  { return existing(rebuild(k.pod())) }
func (k *walk) asksForHandOver() world.Step { return existing(handOverTo(k.pod())) }
func (k *walk) asksForRestart() world.Step {
	return existing(annotate("a restart is asked for", dbv1.AnnotationRestart))
}
func (k *walk) restarts() world.Step { return world.RestartOperator() }

func (k *walk) changesImage() world.Step {
	return existing(image(fmt.Sprintf("database:%d", 1+k.IntN(3))))
}

func (k *walk) tunes() world.Step {
	if k.engine != world.TuneEngine {
		return k.changesImage()
	}
	return existing(parameter(fmt.Sprint(1 + k.IntN(3))))
}

func (k *walk) grows() world.Step {
	k.values++
	return existing(grow(fmt.Sprintf("%dGi", 1+k.values)))
}

// breaks stops or resumes the software of one member: there is one fault at a time.
func (k *walk) breaks() world.Step {
	if k.engine == world.AnyEngine {
		return k.loses()
	}
	if k.troubled != "" {
		pod := k.troubled
		k.troubled = ""
		return world.Thaw(pod)
	}
	k.troubled = k.pod()
	pod := k.troubled
	return onPod(pod, choose(k, world.Freeze, world.Silence)(pod))
}

func (k *walk) loses() world.Step {
	pod := k.pod()
	if k.engine == world.AnyEngine {
		return lose(pod)
	}
	return onPod(pod, losePrimary(pod))
}

// onPod is a step for a pod that runs.
func onPod(pod string, s world.Step) world.Step {
	do := s.Do
	s.Do = func(w *world.World) {
		if p := store.Get[*corev1.Pod](w.Store, pod); p != nil && world.Runs(p) {
			do(w)
		}
	}
	return s
}

// losesVolume deletes a claim and its pod, while all other members serve with all data.
func (k *walk) losesVolume() world.Step {
	pod := k.pod()
	return world.Step{What: "the volume of pod " + pod + " is lost", Do: func(w *world.World) {
		lost := store.Get[*corev1.Pod](w.Store, pod)
		if lost == nil || !world.Runs(lost) || !world.IsRelated(lost) || !w.OthersServe(lost) {
			return
		}
		w.Forgives(lost)
		claim := w.ClaimOf(lost)
		w.Delete(claim)
		w.Store.Remove(lost)
	}}
}

func (k *walk) leaves() world.Step {
	k.away = !k.away
	return world.Away(k.away)
}

func (k *walk) deletesStatefulSet() world.Step {
	policy := choose(k, metav1.DeletePropagationOrphan, metav1.DeletePropagationBackground)
	s := existing(deleteStatefulSet(policy))
	do := s.Do
	s.Do = func(w *world.World) {
		if setExists(w) {
			do(w)
		}
	}
	return s
}

// replaced deletes the cluster and creates the next one of its name, which adopts the volumes if they stay. No fault disturbs it meanwhile.
func (k *walk) replaced() world.Step {
	end := remove
	if k.IntN(2) == 0 {
		end = removeForeground
	}
	away, frozen := k.away, k.troubled
	k.away, k.troubled = false, ""
	next := k.created()
	text := end().What + ", and created again when it no longer exists: " + next.What
	return world.Step{What: text, Do: func(w *world.World) {
		if frozen != "" {
			world.Thaw(frozen).Do(w)
		}
		if away {
			w.Away = false
			w.Start()
		}
		if c := w.Cluster(); c != nil {
			c.Spec.Paused = false
			w.Store.Put(withDefaults(c))
			end().Do(w)
		}
		w.Settle()
		if c := w.Cluster(); c != nil && meta.IsStatusConditionTrue(c.Status.Conditions, dbv1.ConditionDeletionBlocked) {
			skipHooks().Do(w) // no volume is known to have all data, so all are retained
			w.Settle()
		}
		if w.Cluster() != nil {
			w.Breaks("the deletion does not end")
			return
		}
		w.ForgetsLock()
		next.Do(w)
	}}
}

// healed ends all faults, so that clients can use the database.
func (k *walk) healed() []world.Step {
	steps := []world.Step{}
	if k.troubled != "" {
		steps = append(steps, world.Thaw(k.troubled))
	}
	if k.away {
		steps = append(steps, world.Away(false))
	}
	running := existing(set("the cluster runs", func(c *dbv1.DatabaseCluster) { c.Spec.Paused, c.Spec.Hibernated = false, false }))
	return append(steps, running, claimsFreed(), k.checked())
}

// claimsFreed is the way out of a VolumeConflict: the user deletes the claims that contain only part of their first data. The operator
// never deletes a retained volume.
func claimsFreed() world.Step {
	return world.Step{What: "incomplete volumes of the previous cluster are deleted, as the status says", Do: func(w *world.World) {
		c := w.Cluster()
		if c == nil {
			return
		}
		stalled := meta.FindStatusCondition(c.Status.Conditions, dbv1.ConditionStalled)
		for _, claim := range store.All[*corev1.PersistentVolumeClaim](w.Store) {
			named := stalled != nil && stalled.Reason == dbv1.ReasonVolumeConflict && strings.Contains(stalled.Message, claim.Name+" ")
			if named && claim.Annotations[dbv1.AnnotationRestoring] != "" && claim.Labels[dbv1.LabelClusterUID] != string(c.UID) {
				w.Delete(claim)
			}
		}
	}}
}

// checked compares what is in force with the spec.
func (k *walk) checked() world.Step {
	return world.Step{What: "the parameters are in force", Do: func(w *world.World) {
		c := w.Cluster()
		if c == nil || k.engine != world.TuneEngine {
			return
		}
		value := c.Spec.Parameters["work_mem"]
		if value == "" {
			value = "1"
		}
		world.Uses(fmt.Sprintf("{\"work_mem\":%q}", value)).Do(w)
		if is := w.TunedFor(); is != fmt.Sprint(c.Spec.Replicas) {
			w.Breaks("the database is configured for %s members, not %d", is, c.Spec.Replicas)
		}
	}}
}

// walked plays a sequence and returns the problem and the story.
func walked(s world.Story) (told string, problem error) {
	p := newPlay(s, 0)
	defer func() {
		if cause := recover(); cause != nil {
			told, problem = p.Text(), fmt.Errorf("panic: %v", cause)
		}
	}()
	problem = p.ToTheEnd()
	return p.Text(), problem
}

// shortest removes steps as long as a play fails in the same way, but none of the last ones, which heal it.
func shortest(s world.Story, heals int, problem error) world.Story {
	for i := len(s.Steps) - heals - 1; i > 0; i-- {
		without := world.Tell(s.Name, slices.Delete(slices.Clone(s.Steps), i, i+1)...)
		if _, again := walked(without); again != nil && alike(again, problem) {
			s = without
		}
	}
	return s
}

// alike compares the first lines of two problems, without names and numbers.
func alike(a, b error) bool {
	words := func(err error) []string {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return slices.DeleteFunc(strings.Fields(line), func(word string) bool { return strings.ContainsAny(word, "0123456789") })
	}
	return slices.Equal(words(a), words(b))
}

// listed is a sequence in one line for each step.
func listed(s world.Story) string {
	var text strings.Builder
	for _, step := range s.Steps {
		fmt.Fprintf(&text, "  %s (%d rounds)\n", step.What, step.Rounds)
	}
	return text.String()
}

func TestRandomPlaysKeepTheRules(t *testing.T) {
	withoutRaces(t)
	first := sample.Seed()
	for i := range numberOfWalks() {
		s, heals := randomSequence(first + uint64(i))
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			_, problem := walked(s)
			if problem == nil {
				return
			}
			short := shortest(s, heals, problem)
			told, again := walked(short)
			t.Errorf("%v\n\n%s\n%s", again, listed(short), told)
		})
	}
}

func setExists(w *world.World) bool { return store.Get[*appsv1.StatefulSet](w.Store, w.Name) != nil }
