/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// pairSequences test members of which one is the primary.
var pairSequences = []sequence{
	tell("pair-create", told(createPair(pairEngine))),
	tell("pair-rollout-0", createPair(pairEngine), image("database:2"), leadsNot("orders-0")),
	tell("pair-rollout-1", createPair(pairEngine), handOverTo("orders-1"), image("database:2"), leadsNot("orders-1")),
	tell("pair-rollout-2", createPair(syncEngine), handOverTo("orders-2"), image("database:2"), leadsNot("orders-2")),
	tell("pair-hand-over", createPair(pairEngine), handOverTo("orders-2"), leads("orders-2")),
	tell("pair-hand-over-impossible",
		createPair(syncEngine), goesWrong(trouble{verb: "hook", about: "handOver", code: protocol.ExitPrecondition, times: -1}), soon(90, image("database:2")), mended("hook"),
	),
	tell("pair-hand-over-waits", createPair(pairEngine), freeze("orders-2"), handOverTo("orders-2"), thaw("orders-2"), leads("orders-2")),
	tell("pair-scale", createPair(pairEngine), scale(5), handOverTo("orders-4"), scale(3)),
	tell("pair-hibernate", createPair(pairEngine), handOverTo("orders-2"), hibernate(true), hibernate(false), leads("orders-2")),
	tell("pair-hibernate-synchronous", createPair(syncEngine), handOverTo("orders-1"), hibernate(true), image("database:2"), hibernate(false)),
	tell("pair-rebuild", createPair(pairEngine), rebuild("orders-2")),
	tell("pair-rebuild-primary", createPair(syncEngine), rebuild("orders-0")),
	tell("pair-parameters",
		told(createPair(tuneEngine)), parameter("2"), uses(`{"work_mem":"2"}`), goesWrong(trouble{verb: "hook", about: "configure", code: protocol.ExitRefused, times: 1}), parameter("3"),
		parameter("4"), uses(`{"work_mem":"4"}`),
	),
	tell("pair-failover-during-roll", createPair(pairEngine), soon(8, image("database:2")), soon(12, freeze("orders-0")), thaw("orders-0")),
	tell("pair-failover", createPair(syncEngine), freeze("orders-0"), thaw("orders-0"), leadsNot("orders-0")),
	tell("pair-node-lost", createPair(pairEngine), losePrimary("orders-0")),
	tell("pair-split-brain", createPair(pairEngine), divide("orders-1"), soon(30, image("database:2")), reunite()),
	tell("pair-delete", createPair(pairEngine), handOverTo("orders-2"), remove(), told(createPair(pairEngine))),
	tell("pair-delete-foreground", createPair(syncEngine), removeForeground(), told(createPair(syncEngine))),
	tell("pair-delete-volumes", createPair(pairEngine, deleteVolumes), remove()),
	tell("pair-stale-agreement", staleAgreement(), told(createPair(pairEngine))),
	tell("pair-initialize-image-corrected",
		backOff(time.Hour), goesWrong(trouble{verb: "initialize", code: 1, times: 1}), soon(12, told(createPair(pairEngine))), image("database:2"), leads("orders-0"),
	),
	tell("pair-restore", backedUp("old", pairEngine), told(createPair(pairEngine, fromBackup("old"))), holds("old of member 0")),
}

// troubledSequences test planned operations while a member is down or fails.
var troubledSequences = []sequence{
	tell("pair-delete-without-the-first", createPair(pairEngine), freeze("orders-0"), remove(), told(createPair(pairEngine))),
	tell("pair-hibernate-replica-returns", createPair(pairEngine), freeze("orders-0"), soon(4, hibernate(true)), thaw("orders-0"), hibernate(false)),
	tell("pair-hibernate-during-hand-over", createPair(pairEngine), soon(3, handOverTo("orders-2")), hibernate(true), hibernate(false), leads("orders-2")),
	tell("pair-delete-during-hand-over", createPair(pairEngine), soon(3, handOverTo("orders-2")), remove(), told(createPair(pairEngine)), leads("orders-2")),
	tell("pair-hibernate-taken-back", createPair(pairEngine), handOverTo("orders-2"), soon(3, hibernate(true)), hibernate(false), leads("orders-2")),
	tell("pair-hibernate-taken-back-touched", createPair(pairEngine), handOverTo("orders-2"), soon(1, hibernate(true)), together(rolloutRestart(), hibernate(false))),
	tell("pair-wake-touched", createPair(pairEngine), handOverTo("orders-2"), hibernate(true), soon(3, hibernate(false)), rolloutRestart()),
	tell("pair-hibernate-primary-loses-its-volume",
		createPair(pairEngine), handOverTo("orders-2"), endClaim("data-orders-2"), soon(30, hibernate(true)), releaseClaim("data-orders-2"), hibernate(false),
	),
	tell("pair-delete-first-primary-loses-its-volume",
		createPair(syncEngine), endClaim("data-orders-0"), soon(30, remove()), releaseClaim("data-orders-0"), told(createPair(syncEngine)),
	),
	tell("pair-hibernate-orphaned", createPair(pairEngine), handOverTo("orders-2"), soon(4, hibernate(true)), deleteStatefulSet(metav1.DeletePropagationOrphan)),
	tell("pair-hibernate-unready",
		createPair(tuneEngine), handOverTo("orders-2"), soon(3, together(freeze("orders-0"), freeze("orders-1"))), soon(2, fillVolume("orders-2")), soon(8, hibernate(true)),
		thaw("orders-0"), grow("2Gi"), hibernate(false),
	),
	tell("pair-delete-without-engine",
		createPair(pairEngine), handOverTo("orders-2"), soon(1, together(freeze("orders-0"), freeze("orders-1"))), deleteEngine(pairEngine), soon(3, remove()),
		thaw("orders-0"), told(createPair(pairEngine)), leads("orders-2"),
	),
	tell("pair-delete-without-engine-during-hand-over", createPair(pairEngine), soon(3, handOverTo("orders-2")), together(deleteEngine(pairEngine), remove())),
	tell("pair-hibernate-without-the-first", createPair(syncEngine), freeze("orders-0"), soon(90, hibernate(true)), thaw("orders-0"), hibernate(false)),
	tell("pair-delete-shutdown", createPair(pairEngine, hook("stop", dbv1.HookShutdown)), handOverTo("orders-2"), remove()),
	tell("pair-delete-namespace", createPair(pairEngine), soon(60, removeNamespace())),
	tell("pair-statefulset-deleted", createPair(pairEngine), deleteStatefulSet(metav1.DeletePropagationOrphan), deleteStatefulSet(metav1.DeletePropagationBackground)),
	tell("pair-hand-over-during-roll", createPair(pairEngine), soon(26, image("database:2")), handOverTo("orders-2")),
	tell("pair-failover-during-scale-in", createPair(pairEngine), soon(3, scale(1)), soon(20, freeze("orders-0")), thaw("orders-0")),
	tell("pair-replica-lost-during-roll", createPair(syncEngine), soon(26, image("database:2")), lose("orders-1")),
	tell("pair-rebuild-failover", createPair(pairEngine), soon(1, rebuild("orders-1")), soon(20, freeze("orders-0")), thaw("orders-0")),
	tell("pair-rebuild-beside-one-that-is-down", createPair(syncEngine), scale(5), freeze("orders-0"), rebuild("orders-3"), thaw("orders-0")),
	tell("voters-rebuild-beside-one-that-is-down", createVoters(), scale(5), freeze("orders-0"), rebuild("orders-3"), thaw("orders-0")),
	tell("voters-remove-a-lost-member", createVoters(), freeze("orders-2"), scale(1)),
	tell("voters-rebuild-waits", createVoters(), freeze("orders-2"), rebuild("orders-1"), thaw("orders-2")),
	tell("voters-scale-and-roll", createVoters(), soon(3, scale(5)), soon(9, image("database:2")), scale(3), scale(5)),
	tell("voters-lost-during-roll", createVoters(), soon(12, image("database:2")), lose("orders-0")),
	tell("voters-delete-while-one-is-down", createVoters(), freeze("orders-0"), remove(), told(createVoters())),
}

// voterSequences test members that decide by a majority.
var voterSequences = []sequence{
	tell("voters-create", told(createVoters())),
	tell("voters-scale", createVoters(), scale(5), scale(3)),
	tell("voters-scale-in-without-majority", createVoters(), freeze("orders-1"), soon(30, scale(1)), thaw("orders-1")),
	tell("voters-rollout", createVoters(), image("database:2")),
	tell("voters-hibernate", createVoters(), hibernate(true), hibernate(false)),
	tell("voters-rebuild", createVoters(), rebuild("orders-0")),
	tell("voters-delete", createVoters(), remove(), told(createVoters())),
}

// isShared reports whether a story is one of members that have one database.
func isShared(story string) bool {
	return slices.ContainsFunc(sharedSequences, func(s sequence) bool { return s.name == story })
}

// sharedSequences test members that have one database.
var sharedSequences = slices.Concat(
	pairSequences, voterSequences, troubledSequences, listSequences, disturbanceSequences, saveSequences, copySequences, stopSequences,
	silenceSequences, fullSequences, keptSequences, recordSequences,
)

func init() { sequences = slices.Concat(sequences, sharedSequences) }
