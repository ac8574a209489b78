/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// pairSequences test members of which one is the primary.
var pairSequences = []world.Story{
	world.Tell("pair-create", told(createPair(world.PairEngine))),
	world.Tell("pair-rollout-0", createPair(world.PairEngine), image("database:2"), world.LeadsNot("orders-0")),
	world.Tell("pair-rollout-1", createPair(world.PairEngine), handOverTo("orders-1"), image("database:2"), world.LeadsNot("orders-1")),
	world.Tell("pair-rollout-2", createPair(world.SyncEngine), handOverTo("orders-2"), image("database:2"), world.LeadsNot("orders-2")),
	world.Tell("pair-hand-over", createPair(world.PairEngine), handOverTo("orders-2"), world.Leads("orders-2")),
	world.Tell("pair-hand-over-impossible",
		createPair(world.SyncEngine), world.GoesWrong(world.Trouble{Verb: "hook", About: "handOver", Code: protocol.ExitPrecondition, Times: -1}), soon(90, image("database:2")), world.Mended("hook"),
	),
	world.Tell("pair-hand-over-waits", createPair(world.PairEngine), world.Freeze("orders-2"), handOverTo("orders-2"), world.Thaw("orders-2"), world.Leads("orders-2")),
	world.Tell("pair-scale", createPair(world.PairEngine), scale(5), handOverTo("orders-4"), scale(3)),
	world.Tell("pair-hibernate", createPair(world.PairEngine), handOverTo("orders-2"), hibernate(true), hibernate(false), world.Leads("orders-2")),
	world.Tell("pair-hibernate-synchronous", createPair(world.SyncEngine), handOverTo("orders-1"), hibernate(true), image("database:2"), hibernate(false)),
	world.Tell("pair-rebuild", createPair(world.PairEngine), rebuild("orders-2")),
	world.Tell("pair-rebuild-primary", createPair(world.SyncEngine), rebuild("orders-0")),
	world.Tell("pair-parameters",
		told(createPair(world.TuneEngine)), parameter("2"), world.Uses(`{"work_mem":"2"}`), world.GoesWrong(world.Trouble{Verb: "hook", About: "configure", Code: protocol.ExitRefused, Times: 1}), parameter("3"),
		parameter("4"), world.Uses(`{"work_mem":"4"}`),
	),
	world.Tell("pair-failover-during-roll", createPair(world.PairEngine), soon(8, image("database:2")), soon(12, world.Freeze("orders-0")), world.Thaw("orders-0")),
	world.Tell("pair-failover", createPair(world.SyncEngine), world.Freeze("orders-0"), world.Thaw("orders-0"), world.LeadsNot("orders-0")),
	world.Tell("pair-node-lost", createPair(world.PairEngine), losePrimary("orders-0")),
	world.Tell("pair-split-brain", createPair(world.PairEngine), world.Divide("orders-1"), soon(30, image("database:2")), world.Reunite()),
	world.Tell("pair-delete", createPair(world.PairEngine), handOverTo("orders-2"), remove(), told(createPair(world.PairEngine))),
	world.Tell("pair-delete-foreground", createPair(world.SyncEngine), removeForeground(), told(createPair(world.SyncEngine))),
	world.Tell("pair-delete-volumes", createPair(world.PairEngine, deleteVolumes), remove()),
	world.Tell("pair-stale-agreement", staleAgreement(), told(createPair(world.PairEngine))),
	world.Tell("pair-initialize-image-corrected",
		world.BackOff(time.Hour), world.GoesWrong(world.Trouble{Verb: "initialize", Code: 1, Times: 1}), soon(12, told(createPair(world.PairEngine))), image("database:2"), world.Leads("orders-0"),
	),
	world.Tell("pair-newest-none", told(createPair(world.PairEngine, newestOrEmpty)), world.Holds("the first data")),
	world.Tell("pair-restore", backedUp("old", world.PairEngine), told(createPair(world.PairEngine, fromBackup("old"))), world.Holds("old of member 0")),
}

// troubledSequences test planned operations while a member is down or fails.
var troubledSequences = []world.Story{
	world.Tell("pair-delete-without-the-first", createPair(world.PairEngine), world.Freeze("orders-0"), remove(), told(createPair(world.PairEngine))),
	world.Tell("pair-hibernate-replica-returns", createPair(world.PairEngine), world.Freeze("orders-0"), soon(4, hibernate(true)), world.Thaw("orders-0"), hibernate(false)),
	world.Tell("pair-hibernate-during-hand-over", createPair(world.PairEngine), soon(3, handOverTo("orders-2")), hibernate(true), hibernate(false), world.Leads("orders-2")),
	world.Tell("pair-delete-during-hand-over", createPair(world.PairEngine), soon(3, handOverTo("orders-2")), remove(), told(createPair(world.PairEngine)), world.Leads("orders-2")),
	world.Tell("pair-hibernate-taken-back", createPair(world.PairEngine), handOverTo("orders-2"), soon(3, hibernate(true)), hibernate(false), world.Leads("orders-2")),
	world.Tell("pair-hibernate-taken-back-touched", createPair(world.PairEngine), handOverTo("orders-2"), soon(1, hibernate(true)), together(rolloutRestart(), hibernate(false))),
	world.Tell("pair-wake-touched", createPair(world.PairEngine), handOverTo("orders-2"), hibernate(true), soon(3, hibernate(false)), rolloutRestart()),
	world.Tell("pair-hibernate-primary-loses-its-volume",
		createPair(world.PairEngine), handOverTo("orders-2"), endClaim("data-orders-2"), soon(30, hibernate(true)), releaseClaim("data-orders-2"), hibernate(false),
	),
	world.Tell("pair-delete-first-primary-loses-its-volume",
		createPair(world.SyncEngine), endClaim("data-orders-0"), soon(30, remove()), releaseClaim("data-orders-0"), told(createPair(world.SyncEngine)),
	),
	world.Tell("pair-hibernate-orphaned", createPair(world.PairEngine), handOverTo("orders-2"), soon(4, hibernate(true)), deleteStatefulSet(metav1.DeletePropagationOrphan)),
	world.Tell("pair-hibernate-unready",
		createPair(world.TuneEngine), handOverTo("orders-2"), soon(3, together(world.Freeze("orders-0"), world.Freeze("orders-1"))), soon(2, world.FillVolume("orders-2")), soon(8, hibernate(true)),
		world.Thaw("orders-0"), grow("2Gi"), hibernate(false),
	),
	world.Tell("pair-delete-without-engine",
		createPair(world.PairEngine), handOverTo("orders-2"), soon(1, together(world.Freeze("orders-0"), world.Freeze("orders-1"))), deleteEngine(world.PairEngine), soon(3, remove()),
		world.Thaw("orders-0"), told(createPair(world.PairEngine)), world.Leads("orders-2"),
	),
	world.Tell("pair-delete-without-engine-during-hand-over", createPair(world.PairEngine), soon(3, handOverTo("orders-2")), together(deleteEngine(world.PairEngine), remove())),
	world.Tell("pair-delete-without-engine-and-account", createPair(world.PairEngine), together(deleteEngine(world.PairEngine), deleteAccount(), remove())),
	world.Tell("pair-hibernate-without-the-first", createPair(world.SyncEngine), world.Freeze("orders-0"), soon(90, hibernate(true)), world.Thaw("orders-0"), hibernate(false)),
	world.Tell("pair-delete-shutdown", createPair(world.PairEngine, hook("stop", dbv1.HookShutdown)), handOverTo("orders-2"), remove()),
	world.Tell("pair-delete-namespace", createPair(world.PairEngine), soon(60, world.RemoveNamespace())),
	world.Tell("pair-statefulset-deleted", createPair(world.PairEngine), deleteStatefulSet(metav1.DeletePropagationOrphan), deleteStatefulSet(metav1.DeletePropagationBackground)),
	world.Tell("pair-hand-over-during-roll", createPair(world.PairEngine), soon(26, image("database:2")), handOverTo("orders-2")),
	world.Tell("pair-failover-during-scale-in", createPair(world.PairEngine), soon(3, scale(1)), soon(20, world.Freeze("orders-0")), world.Thaw("orders-0")),
	world.Tell("pair-replica-lost-during-roll", createPair(world.SyncEngine), soon(26, image("database:2")), lose("orders-1")),
	world.Tell("pair-rebuild-failover", createPair(world.PairEngine), soon(1, rebuild("orders-1")), soon(20, world.Freeze("orders-0")), world.Thaw("orders-0")),
	world.Tell("pair-rebuild-beside-one-that-is-down", createPair(world.SyncEngine), scale(5), world.Freeze("orders-0"), rebuild("orders-3"), world.Thaw("orders-0")),
	world.Tell("voters-rebuild-beside-one-that-is-down", createVoters(), scale(5), world.Freeze("orders-0"), rebuild("orders-3"), world.Thaw("orders-0")),
	world.Tell("voters-remove-a-lost-member", createVoters(), world.Freeze("orders-2"), scale(1)),
	world.Tell("voters-rebuild-waits", createVoters(), world.Freeze("orders-2"), rebuild("orders-1"), world.Thaw("orders-2")),
	world.Tell("voters-scale-and-roll", createVoters(), soon(3, scale(5)), soon(9, image("database:2")), scale(3), scale(5)),
	world.Tell("voters-lost-during-roll", createVoters(), soon(12, image("database:2")), lose("orders-0")),
	world.Tell("voters-delete-while-one-is-down", createVoters(), world.Freeze("orders-0"), remove(), told(createVoters())),
}

// voterSequences test members that decide by a majority.
var voterSequences = []world.Story{
	world.Tell("voters-create", told(createVoters())),
	world.Tell("voters-scale", createVoters(), scale(5), scale(3)),
	world.Tell("voters-scale-in-without-majority", createVoters(), world.Freeze("orders-1"), soon(30, scale(1)), world.Thaw("orders-1")),
	world.Tell("voters-rollout", createVoters(), image("database:2")),
	world.Tell("voters-hibernate", createVoters(), hibernate(true), hibernate(false)),
	world.Tell("voters-rebuild", createVoters(), rebuild("orders-0")),
	world.Tell("voters-delete", createVoters(), remove(), told(createVoters())),
}
