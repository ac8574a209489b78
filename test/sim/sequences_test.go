/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files")

// sequence is what the owner of a cluster does, one thing after the other.
type sequence struct {
	name  string
	steps []step
}

// step is one thing that somebody does; then the world goes on until it is at rest, or for some rounds.
type step struct {
	what   string
	do     func(w *world)
	rounds int
	// told is the golden file that tells what follows already.
	told string
}

// hurried tells whether the next thing happens before the world is at rest; what is done then depends on
// how far it was, and only the end is the same.
func (s sequence) hurried() bool {
	for _, step := range s.steps {
		if step.rounds > 0 {
			return true
		}
	}
	return false
}

func create(replicas int32, changes ...func(*dbv1.DatabaseCluster)) step {
	return step{what: fmt.Sprintf("A cluster of %d is created", replicas), do: func(w *world) {
		c := &dbv1.DatabaseCluster{ObjectMeta: object(name)}
		c.Spec.Replicas, c.Spec.Image, c.Spec.Storage.Size = replicas, "database:1", resource.MustParse("1Gi")
		for _, change := range changes {
			change(c)
		}
		w.store.put(withDefaults(c))
	}}
}

func object(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// running is a cluster that is there already when the story begins.
func running(replicas int32, changes ...func(*dbv1.DatabaseCluster)) step {
	s := create(replicas, changes...)
	s.told = "create.golden"
	return s
}

// edit is a change of the cluster by its owner.
func edit(what string, change func(*dbv1.DatabaseCluster)) step {
	return step{what: what, do: func(w *world) {
		c := w.cluster()
		change(c)
		w.store.put(withDefaults(c))
	}}
}

func scale(replicas int32) step {
	return edit(fmt.Sprintf("replicas is set to %d", replicas), func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = replicas })
}

func image(image string) step {
	return edit("image is set to "+image, func(c *dbv1.DatabaseCluster) { c.Spec.Image = image })
}

func affinity(what string, affinity *corev1.Affinity) step {
	return edit(what, func(c *dbv1.DatabaseCluster) { c.Spec.Scheduling.Affinity = affinity })
}

func nowhere() *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "no-such-node", Operator: corev1.NodeSelectorOpExists}}}},
	}}}
}

// lose takes a pod away with its node.
func lose(pod string) step {
	return step{what: "the node of pod " + pod + " is lost, and the pod with it", do: func(w *world) {
		if lost := get[*corev1.Pod](w.store, pod); lost != nil {
			w.store.remove(lost)
		}
	}}
}

func remove() step {
	return step{what: "the cluster is deleted", do: func(w *world) {
		c := w.cluster()
		c.DeletionTimestamp = new(metav1.NewTime(w.clock.Now()))
		w.store.put(c)
	}}
}

// soon is a step after which the next follows when some rounds have passed, at rest or not.
func soon(rounds int, s step) step {
	s.rounds = rounds
	return s
}

func hooks(commands ...string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		for i, command := range commands {
			c.Spec.Deletion.Hooks = append(c.Spec.Deletion.Hooks, dbv1.DeletionHook{
				Name: fmt.Sprintf("hook%d", i+1), Type: dbv1.HookCommand, Command: []string{command},
			})
		}
	}
}

var sequences = []sequence{
	{"create", []step{create(3)}},
	{"scale", []step{running(1), scale(3), scale(1), scale(3)}},
	{"image", []step{running(3), image("database:2")}},
	{"broken-image", []step{running(3), image("database:missing"), image("database:2")}},
	{"broken-affinity", []step{running(3), affinity("affinity asks for a node that does not exist", nowhere()), affinity("affinity is taken back", nil)}},
	{"pod-lost-during-roll", []step{running(3), soon(3, image("database:2")), lose("orders-0")}},
	{"broken-image-corrected-at-once", []step{soon(4, create(3, func(c *dbv1.DatabaseCluster) { c.Spec.Image = "database:missing" })), image("database:1")}},
	{"crash-loop", []step{running(3), image("database:crash"), image("database:1")}},
	{"delete", []step{running(3, hooks("flush", "export")), remove()}},
}

func TestWhatHappensIsTheStoryInTheGoldenFile(t *testing.T) {
	for _, sequence := range sequences {
		t.Run(sequence.name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(sequence, 0)
			if err := p.toTheEnd(); err != nil {
				t.Errorf("%v:\n%s", err, p.story.text())
			}
			compare(t, filepath.Join("testdata", sequence.name+".golden"), p.story.text())
		})
	}
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s: %s\n\ngo test ./test/sim -update writes what happens now:\n%s", path, firstDifference(string(want), got), got)
	}
}
