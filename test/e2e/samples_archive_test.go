//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"strings"
	"time"
)

// archivesBookings drops a table, and puts the moment before it, with the backup that the schedule has created for the archive, in place of
// those of the samples.
func archivesBookings(w *world) {
	w.Helper()
	const seen = `jsonpath={.status.conditions[?(@.type=="ContinuousArchiving")].message}`
	w.eventually("; any time since 2", "get", "databasecluster", "bookings", "-o", seen)
	base := w.of("databasecluster/bookings", "{.status.recovery.backups[0]}")
	w.must(strings.HasPrefix(base, "bookings-nightly-"), "the window needs %q", base)
	w.psql("bookings-0", "CREATE TABLE booking AS SELECT n FROM generate_series(1, 1000) n")
	moment := w.psql("bookings-0", "SELECT "+utcNow)
	time.Sleep(time.Second)
	w.psql("bookings-0", "DROP TABLE booking")
	time.Sleep(20 * time.Second) // the log is stored after at most five
	w.replacements = append([]string{"bookings-nightly-2611210300", base, "2026-11-21T14:05:00Z", moment}, w.replacements...)
}

// hasBookings is a check that a cluster has the dropped table.
func hasBookings(cluster string) func(*world) {
	return func(w *world) {
		w.Helper()
		w.await(cluster, "Ready")
		got := w.psql(cluster+"-0", "SELECT count(*) FROM booking")
		w.must(got == "1000", "%s has %s bookings", cluster, got)
		w.Log(w.of("databasecluster/"+cluster, "recovered to {.status.restore.recoveredTo}, the last commit is of {.status.restore.lastCommitTime}"))
	}
}

// replacesBookings checks the preview, and follows the comment of the sample.
func replacesBookings(w *world) {
	w.Helper()
	hasBookings("before-the-mistake-preview")(w)
	set := func(mode, reason, want string) {
		w.do("patch", "databaserestore", "before-the-mistake", "--type=merge", "-p", `{"spec":{"mode":"`+mode+`"}}`)
		w.eventually(reason, "get", "databaserestore", "before-the-mistake", "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].reason}`)
		w.await("bookings", "Ready")
		got := w.psql("bookings-0", "SELECT coalesce(to_regclass('booking')::text, 'none')")
		w.must(got == want, "after %s, the table is %s", mode, got)
	}
	set("Replace", "Replaced", "booking")
	set("Undo", "Undone", "none")
}
