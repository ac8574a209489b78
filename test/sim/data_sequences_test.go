/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// backupSequences test backups on demand and by schedule, and their verification.
var backupSequences = []sequence{
	{"backup", []step{runningSaved(2), backUp("first", dbv1.BackupRetain)}},
	{"backup-while-hibernating", []step{runningSaved(1), soon(1, hibernate(true)), backUp("first", dbv1.BackupRetain)}},
	{"backup-two-at-once", []step{runningSaved(1), together(backUp("first", dbv1.BackupRetain), backUp("second", dbv1.BackupRetain))}},
	{"backup-lets-others-pass", []step{runningSaved(1), backUpElsewhere("first"), backUp("second", dbv1.BackupRetain), keys()}},
	{"backup-lacks-nothing-any-more", []step{runningSaved(1), backUpElsewhere("first"), soon(3, backUp("second", dbv1.BackupRetain)), keys()}},
	{"backup-fails-then-next", []step{
		runningSaved(1), goesWrong(trouble{verb: "backup", code: 30, times: 1}), backUp("first", dbv1.BackupDelete), backUp("second", dbv1.BackupDelete), deleteBackup("first"),
	}},
	{"backup-retries", []step{runningSaved(1), goesWrong(trouble{verb: "backup", code: 11, times: 1}), backUp("first", dbv1.BackupRetain)}},
	{"backup-unschedulable-corrected", []step{
		runningSaved(1, backupCPU("64")), backUp("first", dbv1.BackupRetain), backUp("second", dbv1.BackupRetain), set("the backup asks for less", backupCPU("1")),
	}},
	{"backup-over-quota-corrected", []step{
		runningSaved(1), quota(1), backUp("first", dbv1.BackupRetain), set("the backup asks for less", backupCPU("1")),
	}},
	{"backup-gives-up", []step{runningSaved(1), goesWrong(trouble{verb: "backup", code: 20, times: -1}), backUp("first", dbv1.BackupRetain)}},
	{"backup-hangs", []step{runningSaved(1), goesWrong(trouble{verb: "backup", hangs: true, times: -1}), backUp("first", dbv1.BackupRetain), at(12*time.Hour + time.Minute)}},
	{"backup-job-deleted", []step{
		runningSaved(1), goesWrong(trouble{verb: "backup", hangs: true, times: -1}), backUp("first", dbv1.BackupRetain), together(mended("backup"), deleteJob("-backup-")),
	}},
	{"backup-node-lost", []step{
		runningSaved(1), goesWrong(trouble{verb: "backup", hangs: true, times: -1}), backUp("first", dbv1.BackupRetain), together(mended("backup"), loseNode("-backup-")), removeNode("-backup-"),
	}},
	{"backup-cluster-deleted", []step{
		runningSaved(2), goesWrong(trouble{verb: "backup", about: "--member 1", hangs: true, times: -1}),
		together(backUp("first", dbv1.BackupDelete), backUp("second", dbv1.BackupRetain)), remove(), mended("backup"), deleteBackup("first"),
	}},
	{"backup-deleted-while-it-runs", []step{runningSaved(1), soon(5, backUp("first", dbv1.BackupDelete)), deleteBackup("first")}},
	{"backup-retained-deleted-while-it-runs", []step{runningSaved(1), soon(5, backUp("first", dbv1.BackupRetain)), deleteBackup("first")}},
	{"backup-deleted", []step{runningSaved(1), backUp("first", dbv1.BackupDelete), backUp("second", dbv1.BackupRetain), together(deleteBackup("first"), deleteBackup("second"))}},
	{"backup-deletion-fails", []step{
		runningSaved(1), backUp("first", dbv1.BackupDelete), goesWrong(trouble{verb: "delete", code: 30, times: -1}), deleteBackup("first"), together(mended("delete"), deleteJob("-unbackup-")),
	}},

	{"verify", []step{runningSaved(1), backUp("first", dbv1.BackupRetain), verify("first")}},
	{"verify-corrupt", []step{runningSaved(1), backUp("first", dbv1.BackupRetain), corrupt(), verify("first")}},
	{"verify-loses-data", []step{runningSaved(1), backUp("first", dbv1.BackupRetain), losesData(), verify("first")}},
	{"verify-hangs", []step{
		runningSaved(1), backUp("first", dbv1.BackupRetain), goesWrong(trouble{verb: "restore", hangs: true, times: -1}), verify("first"), at(12*time.Hour + time.Minute), together(mended("restore"), verify("first")),
	}},
	{"verify-operator-restarted", []step{runningSaved(1), backUp("first", dbv1.BackupRetain), soon(3, verify("first")), restartOperator()}},

	{"schedule", []step{runningSaved(1, scheduled("0 3 * * *", 1)), at(4 * time.Hour), at(day + 4*time.Hour), at(10 * day)}},
	{"schedule-overlap", []step{
		runningSaved(1, scheduled("0 */2 * * *", 2)), goesWrong(trouble{verb: "backup", hangs: true, times: 1}), at(2 * time.Hour), at(4 * time.Hour), at(6 * time.Hour), mended("backup"),
	}},
	{"schedule-failed", []step{
		runningSaved(1, scheduled("0 3 * * *", 1)), goesWrong(trouble{verb: "backup", code: 30, times: 1}), at(4 * time.Hour), at(day + 4*time.Hour),
	}},
	{"schedule-suspended", []step{runningSaved(1, scheduled("0 3 * * *", 1), suspended(true)), at(4 * time.Hour), set("the schedule goes on", suspended(false))}},
}

// restoreSequences test clusters that start with a backup.
var restoreSequences = []sequence{
	{"restore", []step{inBucket("old", 2), withEngine(create(2, saved, fromBackup("old"))), holds("old of member")}},
	{"restore-fails", []step{
		inBucket("old", 1), goesWrong(trouble{verb: "restore", code: 30, times: 1}), withEngine(create(1, saved, fromLocation("old"))), deleteJob("-restore-"), holds("old of member"),
	}},
	{"restore-wrong-image-corrected", []step{
		inBucket("old", 1), withEngine(create(1, saved, fromBackup("old"), brokenImage)), image("database:1"), holds("old of member"),
	}},
	{"restore-unschedulable-corrected", []step{
		inBucket("old", 1), withEngine(create(1, saved, fromBackup("old"), onNoNode)), set("any node will do", onAnyNode), holds("old of member"),
	}},
	{"restore-retries", []step{
		inBucket("old", 2), goesWrong(trouble{verb: "restore", about: "--member 1", code: 1, times: 2}), withEngine(create(2, saved, fromLocation("old"))), holds("old of member"),
	}},
	{"restore-retries-image-corrected", []step{
		inBucket("old", 1), backOff(time.Hour), goesWrong(trouble{verb: "restore", code: 1, times: 1}), soon(12, withEngine(create(1, saved, fromBackup("old")))), image("database:2"), holds("old of member"),
	}},
	{"restore-changed", []step{
		inBucket("old", 2), inBucket("new", 2), oldHangs(), withEngine(create(2, saved, fromLocation("old"))), set("another backup is named", fromLocation("new")), holds("new of member"),
	}},
	{"restore-taken-back", []step{
		inBucket("old", 2), oldHangs(), withEngine(create(2, saved, fromLocation("old"))),
		set("no backup is named any more", func(c *dbv1.DatabaseCluster) { c.Spec.Bootstrap = nil }), holds("what orders"),
	}},
	{"restore-deleted", []step{inBucket("old", 2), oldHangs(), withEngine(create(2, saved, fromLocation("old"))), remove(), create(2, saved)}},
	{"restore-over-kept-volumes", []step{
		runningSaved(1), inBucket("old", 1), remove(), create(1, saved, fromBackup("old")), deleteClaim("data-orders-0"), holds("old of member"),
	}},
}

// deletionSequences test the deletion of a cluster.
var deletionSequences = []sequence{
	{"delete-final-backup", []step{runningSaved(2, hook("final", dbv1.HookBackup)), remove()}},
	{"delete-final-backup-hibernated", []step{runningSaved(2, hook("final", dbv1.HookBackup)), hibernate(true), remove()}},
	{"delete-final-backup-broken-image", []step{runningSaved(1, hook("final", dbv1.HookBackup)), image("database:crash"), remove()}},
	{"delete-final-backup-image-corrected", []step{
		runningSaved(1, hook("final", dbv1.HookBackup)), image("database:missing"), remove(), image("database:1"),
	}},
	{"delete-final-backup-foreground", []step{runningSaved(1, hook("final", dbv1.HookBackup)), removeForeground()}},
	{"delete-final-backup-operator-restarted", []step{runningSaved(1, hook("final", dbv1.HookBackup)), soon(6, remove()), restartOperator()}},
	{"delete-final-backup-fails", []step{
		runningSaved(1, hook("final", dbv1.HookBackup)), goesWrong(trouble{verb: "backup", code: 30, times: 1}), remove(), deleteBackup("orders-final-" + firstUID),
	}},
	{"delete-namespace-block", []step{
		runningSaved(1, hook("final", dbv1.HookBackup)), removeNamespace(), set("failures do not count any more", hookFailurePolicy(dbv1.HookFailureContinue)),
	}},
	{"delete-namespace-continue", []step{runningSaved(1, hook("final", dbv1.HookBackup), hookFailurePolicy(dbv1.HookFailureContinue)), removeNamespace()}},
	{"delete-hook-mended", []step{
		running(1, hook("flush", dbv1.HookCommand, "flush")), goesWrong(trouble{verb: "hook", code: 1, times: -1}), remove(), together(mended("hook"), deleteJob("-flush-")),
	}},
	{"delete-shutdown", []step{running(2, hook("stop", dbv1.HookShutdown)), remove()}},
	{"delete-shutdown-killed", []step{
		running(2, hook("stop", dbv1.HookShutdown)), goesWrong(trouble{verb: "member", code: 137, times: 1}), remove(), set("failures do not count", hookFailurePolicy(dbv1.HookFailureContinue)),
	}},
	{"delete-shutdown-lost", []step{
		running(2, hook("stop", dbv1.HookShutdown)), loseNode("orders-1"), remove(), at(time.Hour), removeNode("orders-1"),
	}},
	{"delete-shutdown-node-lost", []step{
		running(2, hook("stop", dbv1.HookShutdown), deleteVolumes), nodeSilent("orders-1"), remove(), at(time.Hour), skipHooks(), removeNode("orders-1"),
	}},
	{"delete-shutdown-node-back", []step{
		running(2, hook("stop", dbv1.HookShutdown)), nodeSilent("orders-1"), remove(), at(time.Hour), nodeReturns("orders-1"),
	}},
	{"delete-volumes", []step{running(2, hook("flush", dbv1.HookCommand, "flush"), deleteVolumes), remove()}},
	{"delete-volumes-final-backup", []step{runningSaved(2, hook("final", dbv1.HookBackup), hook("stop", dbv1.HookShutdown), deleteVolumes), remove()}},
	{"delete-volumes-foreground", []step{runningSaved(1, hook("final", dbv1.HookBackup), deleteVolumes), removeForeground()}},
	{"delete-volumes-node-lost", []step{
		runningSaved(2, hook("final", dbv1.HookBackup), deleteVolumes), nodeSilent("orders-1"), remove(), at(time.Hour), nodeReturns("orders-1"),
	}},
	{"delete-volumes-killed", []step{
		runningSaved(1, hook("final", dbv1.HookBackup), hook("stop", dbv1.HookShutdown), deleteVolumes), goesWrong(trouble{verb: "member", code: 137, times: 1}), remove(),
		set("failures do not count", hookFailurePolicy(dbv1.HookFailureContinue)),
	}},
	{"delete-volumes-hook-after-backup", []step{finalHookFails(2, deleteVolumes), remove(), at(4 * day), finalHookMended()}},
	{"delete-volumes-backup-deleted", []step{finalHookFails(1, deleteVolumes), remove(), deleteBackup("orders-final-"), finalHookMended()}},
	{"delete-volumes-instead-of-retain", []step{finalHookFails(1), remove(), set("volumes are to be deleted after all", deleteVolumes), finalHookMended()}},
	{"delete-volumes-scaled-by-hand", []step{finalHookFails(1, deleteVolumes), remove(), scaleByHand(1), finalHookMended()}},
	{"delete-volumes-engine-changed", []step{
		runningSaved(1, hook("final", dbv1.HookBackup), deleteVolumes), hibernate(true), changeEngine(otherEngine), remove(),
		together(changeEngine(engineName), deleteBackup("orders-final-")),
	}},
	{"delete-volumes-skipped", []step{
		running(1, hook("flush", dbv1.HookCommand, "flush"), deleteVolumes), goesWrong(trouble{verb: "hook", code: 30, times: 1}), remove(), skipHooks(),
	}},
	{"engine-changed", []step{runningSaved(2), changeEngine(otherEngine), scale(3)}},
	{"engine-changed-while-hibernated", []step{
		runningSaved(1), hibernate(true), changeEngine(otherEngine), remove(), create(1, saved, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = otherEngine }),
	}},
	{"delete-and-create-with-another-engine", []step{running(1), remove(), withEngine(create(1, saved)), deleteClaim("data-orders-0")}},
}

func init() {
	sequences = slices.Concat(sequences, backupSequences, restoreSequences, deletionSequences)
}
