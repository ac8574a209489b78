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
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// The cluster of the stories.
const (
	clusterNamespace = "shop"
	clusterName      = "orders"
)

var update = flag.Bool("update", false, "write the golden files")

// clusterSequences test the objects, the members and the volumes of a cluster.
var clusterSequences = []world.Story{
	world.Tell("create", create(3)),
	world.Tell("scale", running(1), scale(3), scale(1), scale(3)),
	world.Tell("delete", running(3, hooks("flush", "export")), remove()),
	world.Tell("delete-and-create-again", running(2), remove(), create(2)),

	world.Tell("image", running(3), image("database:2")),
	world.Tell("image-two-at-once", running(3, twoAtOnce), image("database:2")),
	world.Tell("image-on-delete", running(2, onDelete), image("database:2"), lose("orders-0"), lose("orders-1")),
	world.Tell("broken-image", running(3), image("database:missing"), image("database:2")),
	world.Tell("broken-image-corrected-at-once", soon(4, create(3, brokenImage)), image("database:1")),
	world.Tell("broken-affinity", running(3), affinity("affinity asks for a node that does not exist", nowhere()), affinity("affinity is taken back", nil)),
	world.Tell("crash-loop", running(3), image("database:crash"), image("database:1")),
	world.Tell("pod-lost-during-roll", running(3), soon(3, image("database:2")), lose("orders-0")),
	world.Tell("rollout-paused", running(3), soon(12, image("database:2")), pauseRollout(true), pauseRollout(false)),

	world.Tell("config", running(2, config("work_mem=1")), set("the files change", config("work_mem=2"))),
	world.Tell("broken-config", running(3, config("work_mem=1")), set("the files change to what the database does not take", config("crash=1")), set("the files change back", config("work_mem=1"))),
	world.Tell("secret", create(2, password), secret("one"), secret("two"), refresh(), secretGone(), image("database:2"), secret("two")),

	world.Tell("credentials", withVault(create(2, locked)), rotateNow(), generatedGone(), refresh(), remove(), create(2, locked)),
	world.Tell("credentials-of-the-user", secret("one"), create(1, ownSecret, deleteVolumes, hooks("flush")), remove()),
	world.Tell("credentials-rotation-fails",
		withVault(running(2, locked)), world.GoesWrong(world.Trouble{Verb: "hook", About: "vault credentials", Code: 30, Times: 1}), rotateNow(), deleteJob("-rotate-"),
	),
	world.Tell("credentials-rotation-and-rollout", withVault(running(2, locked)), soon(3, rotateNow()), image("database:2")),
	world.Tell("credentials-rotation-of-one-password", withSafe(running(2, secured)), soon(3, rotateNow()), image("database:2")),
	world.Tell("credentials-rotation-during-a-rollout", withSafe(running(2, secured)), soon(2, image("database:2")), rotateNow()),
	world.Tell("credentials-rotation-paused", withSafe(running(2, secured)), soon(4, rotateNow()), soon(8, pause(true)), pause(false)),
	world.Tell("credentials-rotation-deleted", withSafe(running(2, secured, hooks("flush"))), soon(4, rotateNow()), remove()),
	world.Tell("credentials-rotation-beside-a-refused-parameter", withSafe(running(2, secured)), refusedParameter(true), rotateNow(), refusedParameter(false)),
	world.Tell("credentials-connection-gone", withVault(running(2, locked)), connectionGone(), overlap(time.Hour)),
	world.Tell("credentials-deleted-with-volumes", withVault(running(1, locked, deleteVolumes)), rotateNow(), remove()),

	world.Tell("paused", running(3), soon(12, image("database:2")), pause(true), scale(4), pause(false)),
	world.Tell("hibernate", running(3), hibernate(true), image("database:2"), hibernate(false)),
	world.Tell("hibernate-during-roll", running(3), soon(12, image("database:2")), hibernate(true), hibernate(false)),

	world.Tell("grow", running(3), grow("2Gi")),
	world.Tell("grow-during-roll", running(3), soon(12, image("database:2")), grow("2Gi")),
	world.Tell("grow-with-resources", running(2, cpu("1")), set("storage.size is set to 2Gi and the CPU to 2", size("2Gi"), cpu("2"))),
	world.Tell("grow-too-much", running(2), grow("200Gi"), grow("5Gi")),
	world.Tell("scale-out-onto-an-ending-claim", running(2), scale(1), endClaim("data-orders-1"), scale(2), releaseClaim("data-orders-1")),

	world.Tell("resize", running(2, cpu("1")), set("the CPU is set to 2", cpu("2"))),
	world.Tell("resize-recommended", running(2, cpu("1")), world.Recommend("2"), set("the cluster follows recommendations of CPU", follows("500m", "3")),
		world.Recommend("4"), set("it does not any more", func(c *dbv1.DatabaseCluster) { c.Spec.AutoResize = nil })),
	world.Tell("resize-recommended-too-much", running(2, cpu("1")), world.Recommend("64"), set("the cluster follows recommendations of CPU", follows("500m", "64")),
		set("it follows them up to 2", follows("500m", "2"))),
	world.Tell("resize-with-restart", running(2), set("the CPU is set to 2", cpu("2"))),
	world.Tell("resize-too-much", running(2, cpu("1")), set("the CPU is set to 64", cpu("64")), set("the CPU is set to 2", cpu("2"))),
	world.Tell("resize-and-back", running(2, cpu("1")), set("the CPU is set to 2", cpu("2")), set("the CPU is set to 1 again", cpu("1"))),

	world.Tell("newer-operator", running(2).By(olderOperator), world.Upgrade(), scale(3), annotate("what the newer operator offers is taken", dbv1.AnnotationUpdate)),
	world.Tell("newer-operator-grow", running(2).By(olderOperator), world.Upgrade(), grow("2Gi")),
	world.Tell("restart", running(2), annotate("a restart is asked for", dbv1.AnnotationRestart)),

	world.Tell("name-taken", occupyName(), create(2), freeName()),
	world.Tell("somebody-deletes-what-is-owned",
		running(2, config("work_mem=1")), vanished[*corev1.Service]("the Services"), vanished[*policyv1.PodDisruptionBudget]("the PodDisruptionBudget"),
		vanished[*networkingv1.NetworkPolicy]("the NetworkPolicy"), vanished[*corev1.ConfigMap]("the ConfigMap"),
	),
	world.Tell("somebody-adds-a-budget", running(2), otherBudget(), freeBudget()),
	world.Tell("somebody-edits-the-template", running(2), editTemplate()),
	world.Tell("somebody-deletes-the-statefulset", running(2), deleteStatefulSet(metav1.DeletePropagationOrphan), deleteStatefulSet(metav1.DeletePropagationBackground)),
}

func newPlay(s world.Story, seed uint64) *world.Play {
	return world.NewPlay(world.New(types.NamespacedName{Namespace: clusterNamespace, Name: clusterName}, seed), s)
}

func TestTheStoryMatchesTheGoldenFile(t *testing.T) {
	for _, sequence := range sequences {
		t.Run(sequence.Name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(sequence, 0)
			if err := p.ToTheEnd(); err != nil {
				t.Errorf("%v:\n%s", err, p.Text())
			}
			compare(t, filepath.Join("testdata", sequence.Name+".golden"), p.Text())
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
		t.Errorf("%s: %s\n\ngo test ./test/sim -update writes the current result:\n%s", path, world.FirstDifference(string(want), got), got)
	}
}
