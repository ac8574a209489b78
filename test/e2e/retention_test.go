//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"strings"
	"testing"
	"time"
)

// If the newest backup cannot be restored, retention keeps every backup until a verification succeeds, especially the
// verified one.
func TestNoBackupExpiresWhileTheNewestCannotBeRestored(t *testing.T) {
	w := newWorld(t)
	w.filled(`
backup:
  destination: ` + toS3 + `
  schedules: [{name: often, schedule: "* * * * *", retention: {count: 1}}]
  verification: {schedule: "@yearly"}`)
	verified := w.scheduled(0)
	w.completed(verified)
	w.verify(verified, "True")

	untested := w.after(verified)
	w.completed(untested)
	bad := w.after(untested)
	w.completed(bad)
	w.bucket("printf changed | dd of=$(ls " + folder(w.of("databasebackup/"+bad, "{.status.location}")) + "/member-0/00000-*.zst) bs=1 seek=100000 conv=notrunc")
	w.verify(bad, "False")
	w.awaitReported("databasecluster/orders", "BackupVerified", "False", bad, "No backup expires until a verification succeeds")

	next := w.after(bad)
	w.completed(next)
	last := w.after(next)
	w.completed(last)
	for _, kept := range []string{verified, bad, next, last} {
		w.must(w.of("databasebackup/"+kept, "{.metadata.deletionTimestamp}") == "", "%s is deleted although the last verification failed", kept)
	}

	w.verify(last, "True")
	for _, deleted := range []string{verified, bad, next} {
		w.do("wait", "--for=delete", "databasebackup/"+deleted, "--timeout="+patience.String())
	}
	w.must(w.of("databasebackup/"+last, "{.metadata.deletionTimestamp}") == "", "%s is deleted although it is verified", last)
}

// verify restores a backup into a temporary copy, and waits for the outcome.
func (w world) verify(backup, outcome string) {
	w.Helper()
	w.do("annotate", "databasebackup", backup, "database.dbcluster.io/verify="+outcome, "--overwrite")
	w.awaitReported("databasebackup/"+backup, "Verified", outcome)
}

// after returns the name of the first backup that a schedule creates after another.
func (w world) after(name string) string {
	w.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		for other := range strings.FieldsSeq(w.do("get", "databasebackups", "--sort-by=.metadata.name", "-o", "jsonpath={.items[*].metadata.name}")) {
			if other > name {
				return other
			}
		}
	}
	w.Fatalf("the schedule created no backup after %s", name)
	return ""
}
