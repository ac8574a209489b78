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
	{"pair-create", []step{told(createPair(pairEngine))}},
	{"pair-rollout-0", []step{createPair(pairEngine), image("database:2"), leadsNot("orders-0")}},
	{"pair-rollout-1", []step{createPair(pairEngine), handOverTo("orders-1"), image("database:2"), leadsNot("orders-1")}},
	{"pair-rollout-2", []step{createPair(syncEngine), handOverTo("orders-2"), image("database:2"), leadsNot("orders-2")}},
	{"pair-hand-over", []step{createPair(pairEngine), handOverTo("orders-2"), leads("orders-2")}},
	{"pair-hand-over-impossible", []step{
		createPair(syncEngine), goesWrong(trouble{verb: "hook", about: "handOver", code: protocol.ExitPrecondition, times: -1}), soon(90, image("database:2")), mended("hook"),
	}},
	{"pair-hand-over-waits", []step{createPair(pairEngine), freeze("orders-2"), handOverTo("orders-2"), thaw("orders-2"), leads("orders-2")}},
	{"pair-scale", []step{createPair(pairEngine), scale(5), handOverTo("orders-4"), scale(3)}},
	{"pair-hibernate", []step{createPair(pairEngine), handOverTo("orders-2"), hibernate(true), hibernate(false), leads("orders-2")}},
	{"pair-hibernate-synchronous", []step{createPair(syncEngine), handOverTo("orders-1"), hibernate(true), image("database:2"), hibernate(false)}},
	{"pair-rebuild", []step{createPair(pairEngine), rebuild("orders-2")}},
	{"pair-rebuild-primary", []step{createPair(syncEngine), rebuild("orders-0")}},
	{"pair-parameters", []step{
		told(createPair(tuneEngine)), parameter("2"), uses(`{"work_mem":"2"}`), goesWrong(trouble{verb: "hook", about: "configure", code: protocol.ExitRefused, times: 1}), parameter("3"),
		parameter("4"), uses(`{"work_mem":"4"}`),
	}},
	{"pair-failover-during-roll", []step{createPair(pairEngine), soon(8, image("database:2")), soon(12, freeze("orders-0")), thaw("orders-0")}},
	{"pair-failover", []step{createPair(syncEngine), freeze("orders-0"), thaw("orders-0"), leadsNot("orders-0")}},
	{"pair-node-lost", []step{createPair(pairEngine), losePrimary("orders-0")}},
	{"pair-split-brain", []step{createPair(pairEngine), divide("orders-1"), soon(30, image("database:2")), reunite()}},
	{"pair-delete", []step{createPair(pairEngine), handOverTo("orders-2"), remove(), told(createPair(pairEngine))}},
	{"pair-delete-foreground", []step{createPair(syncEngine), removeForeground(), told(createPair(syncEngine))}},
	{"pair-delete-volumes", []step{createPair(pairEngine, deleteVolumes), remove()}},
	{"pair-stale-agreement", []step{staleAgreement(), told(createPair(pairEngine))}},
	{"pair-initialize-image-corrected", []step{
		backOff(time.Hour), goesWrong(trouble{verb: "initialize", code: 1, times: 1}), soon(12, told(createPair(pairEngine))), image("database:2"), leads("orders-0"),
	}},
	{"pair-restore", []step{backedUp("old", pairEngine), told(createPair(pairEngine, fromBackup("old"))), holds("old of member 0")}},
}

// troubledSequences test planned operations while a member is down or fails.
var troubledSequences = []sequence{
	{"pair-delete-without-the-first", []step{createPair(pairEngine), freeze("orders-0"), remove(), told(createPair(pairEngine))}},
	{"pair-hibernate-replica-returns", []step{createPair(pairEngine), freeze("orders-0"), soon(4, hibernate(true)), thaw("orders-0"), hibernate(false)}},
	{"pair-hibernate-during-hand-over", []step{createPair(pairEngine), soon(3, handOverTo("orders-2")), hibernate(true), hibernate(false), leads("orders-2")}},
	{"pair-delete-during-hand-over", []step{createPair(pairEngine), soon(3, handOverTo("orders-2")), remove(), told(createPair(pairEngine)), leads("orders-2")}},
	{"pair-hibernate-taken-back", []step{createPair(pairEngine), handOverTo("orders-2"), soon(3, hibernate(true)), hibernate(false), leads("orders-2")}},
	{"pair-hibernate-taken-back-touched", []step{createPair(pairEngine), handOverTo("orders-2"), soon(1, hibernate(true)), together(rolloutRestart(), hibernate(false))}},
	{"pair-wake-touched", []step{createPair(pairEngine), handOverTo("orders-2"), hibernate(true), soon(3, hibernate(false)), rolloutRestart()}},
	{"pair-hibernate-primary-loses-its-volume", []step{
		createPair(pairEngine), handOverTo("orders-2"), endClaim("data-orders-2"), soon(30, hibernate(true)), releaseClaim("data-orders-2"), hibernate(false),
	}},
	{"pair-delete-first-primary-loses-its-volume", []step{
		createPair(syncEngine), endClaim("data-orders-0"), soon(30, remove()), releaseClaim("data-orders-0"), told(createPair(syncEngine)),
	}},
	{"pair-hibernate-orphaned", []step{createPair(pairEngine), handOverTo("orders-2"), soon(4, hibernate(true)), deleteStatefulSet(metav1.DeletePropagationOrphan)}},
	{"pair-hibernate-unready", []step{
		createPair(tuneEngine), handOverTo("orders-2"), soon(3, together(freeze("orders-0"), freeze("orders-1"))), soon(2, fillVolume("orders-2")), soon(8, hibernate(true)),
		thaw("orders-0"), grow("2Gi"), hibernate(false),
	}},
	{"pair-delete-without-engine", []step{
		createPair(pairEngine), handOverTo("orders-2"), soon(1, together(freeze("orders-0"), freeze("orders-1"))), deleteEngine(pairEngine), soon(3, remove()),
		thaw("orders-0"), told(createPair(pairEngine)), leads("orders-2"),
	}},
	{"pair-delete-without-engine-during-hand-over", []step{createPair(pairEngine), soon(3, handOverTo("orders-2")), together(deleteEngine(pairEngine), remove())}},
	{"pair-hibernate-without-the-first", []step{createPair(syncEngine), freeze("orders-0"), soon(90, hibernate(true)), thaw("orders-0"), hibernate(false)}},
	{"pair-delete-shutdown", []step{createPair(pairEngine, hook("stop", dbv1.HookShutdown)), handOverTo("orders-2"), remove()}},
	{"pair-delete-namespace", []step{createPair(pairEngine), soon(60, removeNamespace())}},
	{"pair-statefulset-deleted", []step{createPair(pairEngine), deleteStatefulSet(metav1.DeletePropagationOrphan), deleteStatefulSet(metav1.DeletePropagationBackground)}},
	{"pair-hand-over-during-roll", []step{createPair(pairEngine), soon(26, image("database:2")), handOverTo("orders-2")}},
	{"pair-failover-during-scale-in", []step{createPair(pairEngine), soon(3, scale(1)), soon(20, freeze("orders-0")), thaw("orders-0")}},
	{"pair-replica-lost-during-roll", []step{createPair(syncEngine), soon(26, image("database:2")), lose("orders-1")}},
	{"pair-rebuild-failover", []step{createPair(pairEngine), soon(1, rebuild("orders-1")), soon(20, freeze("orders-0")), thaw("orders-0")}},
	{"pair-rebuild-beside-one-that-is-down", []step{createPair(syncEngine), scale(5), freeze("orders-0"), rebuild("orders-3"), thaw("orders-0")}},
	{"voters-rebuild-beside-one-that-is-down", []step{createVoters(), scale(5), freeze("orders-0"), rebuild("orders-3"), thaw("orders-0")}},
	{"voters-remove-a-lost-member", []step{createVoters(), freeze("orders-2"), scale(1)}},
	{"voters-rebuild-waits", []step{createVoters(), freeze("orders-2"), rebuild("orders-1"), thaw("orders-2")}},
	{"voters-scale-and-roll", []step{createVoters(), soon(3, scale(5)), soon(9, image("database:2")), scale(3), scale(5)}},
	{"voters-lost-during-roll", []step{createVoters(), soon(12, image("database:2")), lose("orders-0")}},
	{"voters-delete-while-one-is-down", []step{createVoters(), freeze("orders-0"), remove(), told(createVoters())}},
}

// voterSequences test members that decide by a majority.
var voterSequences = []sequence{
	{"voters-create", []step{told(createVoters())}},
	{"voters-scale", []step{createVoters(), scale(5), scale(3)}},
	{"voters-scale-in-without-majority", []step{createVoters(), freeze("orders-1"), soon(30, scale(1)), thaw("orders-1")}},
	{"voters-rollout", []step{createVoters(), image("database:2")}},
	{"voters-hibernate", []step{createVoters(), hibernate(true), hibernate(false)}},
	{"voters-rebuild", []step{createVoters(), rebuild("orders-0")}},
	{"voters-delete", []step{createVoters(), remove(), told(createVoters())}},
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
