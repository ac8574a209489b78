//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"strconv"
	"testing"
	"time"
)

// installed is the spec of a cluster that starts empty if the bucket has nothing, and else with everything that it has.
const installed = `
deletion: {volumes: Delete}
backup:
  destination: ` + toS3 + `
  unchangedData: Reuse
  archive: {maxLagSeconds: 1}
bootstrap:
  fromBackup:
    newest: {destination: ` + toS3 + `}
    ifMissing: Create
    recoveryTarget: {}
`

// stored is what a backup has stored, in bytes.
func (w world) stored(backup string) int {
	w.Helper()
	bytes, err := strconv.Atoi(w.of("databasebackup/"+backup, "{.status.storedBytes}"))
	w.must(err == nil && bytes > 0, "%s has stored %d bytes: %v", backup, bytes, err)
	return bytes
}

// Nothing but the bucket is left of a cluster: no DatabaseBackup, and only the second of two backups, which has stored what was new. The
// manifest that created the cluster brings back everything, also what was committed after that backup.
func TestTheSameManifestCreatesAClusterAndRebuildsItFromABucket(t *testing.T) {
	w := newWorld(t)
	w.s3()
	w.postgres("orders", installed)
	w.await("orders", "Ready")
	w.must(w.of("databasecluster/orders", "{.status.bootstrap.decision}") == "Create", "it did not start empty")
	w.eventually("True", "get", "databasecluster", "orders", "-o", condition("ContinuousArchiving"))
	w.million("orders-0")
	w.psql("orders-0", "VACUUM (FREEZE, ANALYZE) item") // later, it changes pages that a query only reads
	w.backup("first", "orders", "deletionPolicy: Delete")
	w.completed("first")
	w.psql("orders-0", "UPDATE item SET text = text || '!' WHERE id <= 1000")
	w.backup("second", "orders")
	w.completed("second")
	w.must(w.of("databasebackup/second", "{.status.reuses}") == w.of("databasebackup/first", "{.status.location}"), "the second backup refers to nothing")
	first, second := w.stored("first"), w.stored("second")
	w.Logf("stored: %d bytes, then %d", first, second)
	w.must(second < first/2, "the second backup has stored %d bytes, and the first %d", second, first)
	w.do("delete", "databasebackup", "first", "--timeout="+patience.String())

	w.psql("orders-0", "INSERT INTO item VALUES (1000001, 'after the backup')")
	want := w.fingerprint("orders-0")
	time.Sleep(15 * time.Second) // maxLagSeconds, several times
	w.do("delete", "databasecluster", "orders", "--timeout="+patience.String())
	location := w.of("databasebackup/second", "{.status.location}")
	w.do("delete", "databasebackup", "second", "--timeout="+patience.String())
	left := w.do("get", "databasebackups,persistentvolumeclaims", "-o", "name")
	w.must(left == "persistentvolumeclaim/s3", "more than the bucket is left: %s", left)

	w.postgres("orders", installed)
	w.await("orders", "Ready")
	w.must(w.of("databasecluster/orders", "{.status.bootstrap.decision}") == "Restore", "it started empty")
	w.must(w.of("databasecluster/orders", "{.status.bootstrap.location}") == location, "it started with another backup")
	got := w.fingerprint("orders-0")
	w.must(got == want, "the rebuilt cluster has %s, want %s", got, want)
	w.Log(w.of("databasecluster/orders", "{.status.bootstrap} {.status.restore}"))
}
