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
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// The cluster of the stories.
const (
	clusterNamespace = "shop"
	clusterName      = "orders"
)

var update = flag.Bool("update", false, "write the golden files")

var sequences = []sequence{
	tell("create", create(3)),
	tell("scale", running(1), scale(3), scale(1), scale(3)),
	tell("delete", running(3, hooks("flush", "export")), remove()),
	tell("delete-and-create-again", running(2), remove(), create(2)),

	tell("image", running(3), image("database:2")),
	tell("image-two-at-once", running(3, twoAtOnce), image("database:2")),
	tell("image-on-delete", running(2, onDelete), image("database:2"), lose("orders-0"), lose("orders-1")),
	tell("broken-image", running(3), image("database:missing"), image("database:2")),
	tell("broken-image-corrected-at-once", soon(4, create(3, brokenImage)), image("database:1")),
	tell("broken-affinity", running(3), affinity("affinity asks for a node that does not exist", nowhere()), affinity("affinity is taken back", nil)),
	tell("crash-loop", running(3), image("database:crash"), image("database:1")),
	tell("pod-lost-during-roll", running(3), soon(3, image("database:2")), lose("orders-0")),
	tell("rollout-paused", running(3), soon(12, image("database:2")), pauseRollout(true), pauseRollout(false)),

	tell("config", running(2, config("work_mem=1")), set("the files change", config("work_mem=2"))),
	tell("broken-config", running(3, config("work_mem=1")), set("the files change to what the database does not take", config("crash=1")), set("the files change back", config("work_mem=1"))),
	tell("secret", create(2, password), secret("one"), secret("two"), refresh(), secretGone(), image("database:2"), secret("two")),

	tell("credentials", withVault(create(2, locked)), rotateNow(), generatedGone(), refresh(), remove(), create(2, locked)),
	tell("credentials-of-the-user", secret("one"), create(1, ownSecret, deleteVolumes, hooks("flush")), remove()),
	tell("credentials-rotation-fails",
		withVault(running(2, locked)), goesWrong(trouble{verb: "hook", about: "vault credentials", code: 30, times: 1}), rotateNow(), deleteJob("-rotate-"),
	),
	tell("credentials-rotation-and-rollout", withVault(running(2, locked)), soon(3, rotateNow()), image("database:2")),
	tell("credentials-rotation-of-one-password", withSafe(running(2, secured)), soon(3, rotateNow()), image("database:2")),
	tell("credentials-rotation-during-a-rollout", withSafe(running(2, secured)), soon(2, image("database:2")), rotateNow()),
	tell("credentials-rotation-paused", withSafe(running(2, secured)), soon(4, rotateNow()), soon(8, pause(true)), pause(false)),
	tell("credentials-rotation-deleted", withSafe(running(2, secured, hooks("flush"))), soon(4, rotateNow()), remove()),
	tell("credentials-rotation-beside-a-refused-parameter", withSafe(running(2, secured)), refusedParameter(true), rotateNow(), refusedParameter(false)),
	tell("credentials-connection-gone", withVault(running(2, locked)), connectionGone(), overlap(time.Hour)),
	tell("credentials-deleted-with-volumes", withVault(running(1, locked, deleteVolumes)), rotateNow(), remove()),

	tell("paused", running(3), soon(12, image("database:2")), pause(true), scale(4), pause(false)),
	tell("hibernate", running(3), hibernate(true), image("database:2"), hibernate(false)),
	tell("hibernate-during-roll", running(3), soon(12, image("database:2")), hibernate(true), hibernate(false)),

	tell("grow", running(3), grow("2Gi")),
	tell("grow-during-roll", running(3), soon(12, image("database:2")), grow("2Gi")),
	tell("grow-with-resources", running(2, cpu("1")), set("storage.size is set to 2Gi and the CPU to 2", size("2Gi"), cpu("2"))),
	tell("grow-too-much", running(2), grow("200Gi"), grow("5Gi")),
	tell("scale-out-onto-an-ending-claim", running(2), scale(1), endClaim("data-orders-1"), scale(2), releaseClaim("data-orders-1")),

	tell("resize", running(2, cpu("1")), set("the CPU is set to 2", cpu("2"))),
	tell("resize-with-restart", running(2), set("the CPU is set to 2", cpu("2"))),
	tell("resize-too-much", running(2, cpu("1")), set("the CPU is set to 64", cpu("64")), set("the CPU is set to 2", cpu("2"))),
	tell("resize-and-back", running(2, cpu("1")), set("the CPU is set to 2", cpu("2")), set("the CPU is set to 1 again", cpu("1"))),

	tell("newer-operator", running(2).by(olderOperator), upgrade(), scale(3), annotate("what the newer operator offers is taken", dbv1.AnnotationUpdate)),
	tell("newer-operator-grow", running(2).by(olderOperator), upgrade(), grow("2Gi")),
	tell("restart", running(2), annotate("a restart is asked for", dbv1.AnnotationRestart)),

	tell("name-taken", occupyName(), create(2), freeName()),
	tell("somebody-deletes-what-is-owned",
		running(2, config("work_mem=1")), vanished[*corev1.Service]("the Services"), vanished[*policyv1.PodDisruptionBudget]("the PodDisruptionBudget"),
		vanished[*networkingv1.NetworkPolicy]("the NetworkPolicy"), vanished[*corev1.ConfigMap]("the ConfigMap"),
	),
	tell("somebody-adds-a-budget", running(2), otherBudget(), freeBudget()),
	tell("somebody-edits-the-template", running(2), editTemplate()),
	tell("somebody-deletes-the-statefulset", running(2), deleteStatefulSet(metav1.DeletePropagationOrphan), deleteStatefulSet(metav1.DeletePropagationBackground)),
}

func newPlay(s sequence, seed uint64) *play {
	return playIn(newWorld(types.NamespacedName{Namespace: clusterNamespace, Name: clusterName}, seed), s)
}

func TestTheStoryMatchesTheGoldenFile(t *testing.T) {
	for _, sequence := range sequences {
		t.Run(sequence.name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(sequence, 0)
			if err := p.toTheEnd(); err != nil {
				t.Errorf("%v:\n%s", err, p.text())
			}
			compare(t, filepath.Join("testdata", sequence.name+".golden"), p.text())
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
