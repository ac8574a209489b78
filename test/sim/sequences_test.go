/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// The cluster of the stories.
const (
	clusterNamespace = "shop"
	clusterName      = "orders"
)

var update = flag.Bool("update", false, "write the golden files")

// sequence is the steps of the owner of a cluster, one after the other.
type sequence struct {
	name  string
	steps []step
}

// step is one action of a person or program. The world then continues until it is idle, or for some rounds.
type step struct {
	what   string
	do     func(w *world)
	rounds int
	// golden is the golden file that already has the result.
	golden string
}

// hurried reports whether the next step starts before the world is idle. The intermediate actions then depend on
// timing, and only the end is the same.
func (s sequence) hurried() bool {
	for _, step := range s.steps {
		if step.rounds > 0 {
			return true
		}
	}
	return false
}

var sequences = []sequence{
	{"create", []step{create(3)}},
	{"scale", []step{running(1), scale(3), scale(1), scale(3)}},
	{"delete", []step{running(3, hooks("flush", "export")), remove()}},
	{"delete-and-create-again", []step{running(2), remove(), create(2)}},

	{"image", []step{running(3), image("database:2")}},
	{"image-two-at-once", []step{running(3, twoAtOnce), image("database:2")}},
	{"image-on-delete", []step{running(2, onDelete), image("database:2"), lose("orders-0"), lose("orders-1")}},
	{"broken-image", []step{running(3), image("database:missing"), image("database:2")}},
	{"broken-image-corrected-at-once", []step{soon(4, create(3, brokenImage)), image("database:1")}},
	{"broken-affinity", []step{running(3), affinity("affinity asks for a node that does not exist", nowhere()), affinity("affinity is taken back", nil)}},
	{"crash-loop", []step{running(3), image("database:crash"), image("database:1")}},
	{"pod-lost-during-roll", []step{running(3), soon(3, image("database:2")), lose("orders-0")}},
	{"rollout-paused", []step{running(3), soon(12, image("database:2")), pauseRollout(true), pauseRollout(false)}},

	{"config", []step{running(2, config("work_mem=1")), set("the files change", config("work_mem=2"))}},
	{"broken-config", []step{running(3, config("work_mem=1")), set("the files change to what the database does not take", config("crash=1")), set("the files change back", config("work_mem=1"))}},
	{"secret", []step{create(2, password), secret("one"), secret("two"), refresh(), secretGone(), image("database:2"), secret("two")}},

	{"credentials", []step{withVault(create(2, locked)), rotateNow(), generatedGone(), refresh(), remove(), create(2, locked)}},
	{"credentials-of-the-user", []step{secret("one"), create(1, ownSecret, deleteVolumes, hooks("flush")), remove()}},
	{"credentials-rotation-fails", []step{
		withVault(running(2, locked)), goesWrong(trouble{verb: "hook", about: "vault credentials", code: 30, times: 1}), rotateNow(), deleteJob("-rotate-"),
	}},
	{"credentials-rotation-and-rollout", []step{withVault(running(2, locked)), soon(3, rotateNow()), image("database:2")}},
	{"credentials-rotation-of-one-password", []step{withSafe(running(2, secured)), soon(3, rotateNow()), image("database:2")}},
	{"credentials-rotation-during-a-rollout", []step{withSafe(running(2, secured)), soon(2, image("database:2")), rotateNow()}},
	{"credentials-rotation-paused", []step{withSafe(running(2, secured)), soon(4, rotateNow()), soon(8, pause(true)), pause(false)}},
	{"credentials-rotation-deleted", []step{withSafe(running(2, secured, hooks("flush"))), soon(4, rotateNow()), remove()}},
	{"credentials-rotation-beside-a-refused-parameter", []step{withSafe(running(2, secured)), refusedParameter(true), rotateNow(), refusedParameter(false)}},
	{"credentials-connection-gone", []step{withVault(running(2, locked)), connectionGone(), overlap(time.Hour)}},
	{"credentials-deleted-with-volumes", []step{withVault(running(1, locked, deleteVolumes)), rotateNow(), remove()}},

	{"paused", []step{running(3), soon(12, image("database:2")), pause(true), scale(4), pause(false)}},
	{"hibernate", []step{running(3), hibernate(true), image("database:2"), hibernate(false)}},
	{"hibernate-during-roll", []step{running(3), soon(12, image("database:2")), hibernate(true), hibernate(false)}},

	{"grow", []step{running(3), grow("2Gi")}},
	{"grow-during-roll", []step{running(3), soon(12, image("database:2")), grow("2Gi")}},
	{"grow-with-resources", []step{running(2, cpu("1")), set("storage.size is set to 2Gi and the CPU to 2", size("2Gi"), cpu("2"))}},
	{"grow-too-much", []step{running(2), grow("200Gi"), grow("5Gi")}},
	{"scale-out-onto-an-ending-claim", []step{running(2), scale(1), endClaim("data-orders-1"), scale(2), releaseClaim("data-orders-1")}},

	{"resize", []step{running(2, cpu("1")), set("the CPU is set to 2", cpu("2"))}},
	{"resize-with-restart", []step{running(2), set("the CPU is set to 2", cpu("2"))}},
	{"resize-too-much", []step{running(2, cpu("1")), set("the CPU is set to 64", cpu("64")), set("the CPU is set to 2", cpu("2"))}},
	{"resize-and-back", []step{running(2, cpu("1")), set("the CPU is set to 2", cpu("2")), set("the CPU is set to 1 again", cpu("1"))}},

	{"newer-operator", []step{running(2).by(olderOperator), upgrade(), scale(3), annotate("what the newer operator offers is taken", dbv1.AnnotationUpdate)}},
	{"newer-operator-grow", []step{running(2).by(olderOperator), upgrade(), grow("2Gi")}},
	{"restart", []step{running(2), annotate("a restart is asked for", dbv1.AnnotationRestart)}},

	{"name-taken", []step{occupyName(), create(2), freeName()}},
	{"somebody-deletes-what-is-owned", []step{
		running(2, config("work_mem=1")), vanished[*corev1.Service]("the Services"), vanished[*policyv1.PodDisruptionBudget]("the PodDisruptionBudget"),
		vanished[*networkingv1.NetworkPolicy]("the NetworkPolicy"), vanished[*corev1.ConfigMap]("the ConfigMap"),
	}},
	{"somebody-adds-a-budget", []step{running(2), otherBudget(), freeBudget()}},
	{"somebody-edits-the-template", []step{running(2), editTemplate()}},
	{"somebody-deletes-the-statefulset", []step{running(2), deleteStatefulSet(metav1.DeletePropagationOrphan), deleteStatefulSet(metav1.DeletePropagationBackground)}},
}

func TestTheStoryMatchesTheGoldenFile(t *testing.T) {
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
		t.Errorf("%s: %s\n\ngo test ./test/sim -update writes the current result:\n%s", path, firstDifference(string(want), got), got)
	}
}
