/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// dataSequences are about what must not be lost.
var dataSequences = []sequence{
	{"backup", []step{runningSaved(2), backUp("first", dbv1.BackupRetain)}},
	{"backup-two-at-once", []step{runningSaved(1), together(backUp("first", dbv1.BackupRetain), backUp("second", dbv1.BackupRetain))}},
	{"backup-fails-then-next", []step{
		runningSaved(1), goesWrong(trouble{verb: "backup", code: 30, times: 1}), backUp("first", dbv1.BackupDelete), backUp("second", dbv1.BackupDelete), deleteBackup("first"),
	}},
	{"backup-tries-again", []step{runningSaved(1), goesWrong(trouble{verb: "backup", code: 11, times: 1}), backUp("first", dbv1.BackupRetain)}},

	{"delete-final-backup", []step{runningSaved(2, hook("final", dbv1.HookBackup)), remove()}},
	{"delete-final-backup-hibernated", []step{runningSaved(2, hook("final", dbv1.HookBackup)), hibernate(true), remove()}},
	{"delete-shutdown", []step{running(2, hook("stop", dbv1.HookShutdown)), remove()}},
	{"delete-volumes", []step{running(2, hook("flush", dbv1.HookCommand, "flush"), deleteVolumes), remove()}},

	{"verify", []step{runningSaved(1), backUp("first", dbv1.BackupRetain), verify("first")}},
	{"verify-corrupt", []step{runningSaved(1), backUp("first", dbv1.BackupRetain), corrupt(), verify("first")}},

	{"restore", []step{inBucket("old", 2), withEngine(create(2, saved, fromBackup("old"))), holds("old of member")}},
	{"restore-fails", []step{
		inBucket("old", 1), goesWrong(trouble{verb: "restore", code: 30, times: 1}), withEngine(create(1, saved, fromLocation("old"))), deleteJob("-restore-"), holds("old of member"),
	}},
	{"restore-changed", []step{
		inBucket("old", 2), inBucket("new", 2), goesWrong(trouble{verb: "restore", about: "old", hangs: true, times: -1}), withEngine(create(2, saved, fromLocation("old"))),
		set("another backup is named", fromLocation("new")), holds("new of member"),
	}},
	{"restore-taken-back", []step{
		inBucket("old", 2), goesWrong(trouble{verb: "restore", about: "old", hangs: true, times: -1}), withEngine(create(2, saved, fromLocation("old"))),
		set("no backup is named any more", func(c *dbv1.DatabaseCluster) { c.Spec.Bootstrap = nil }), holds("what orders"),
	}},
	{"restore-deleted", []step{
		inBucket("old", 2), goesWrong(trouble{verb: "restore", about: "old", hangs: true, times: -1}), withEngine(create(2, saved, fromLocation("old"))), remove(), create(2, saved),
	}},

	{"schedule", []step{runningSaved(1, scheduled("0 3 * * *", 1)), at(4 * time.Hour), at(day + 4*time.Hour), at(10 * day)}},
}

func init() { sequences = append(sequences, dataSequences...) }
