//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"strings"
	"testing"
)

func TestACorrectedSpecReachesJobsThatHaveNotStarted(t *testing.T) {
	w := newWorld(t)
	want := w.filled(`
backup:
  destination: ` + toS3 + `
  resources: {requests: {cpu: "500"}, limits: {cpu: "500"}}`)

	w.backup("first", "orders")
	w.turns("databasebackup/first", "Stalled", "True JobBlocked", "cannot be scheduled")
	w.backup("second", "orders")
	w.turns("databasebackup/second", "Stalled", "True BackupPending", "first")
	w.do("patch", "databasecluster", "orders", "--type=merge", "-p", `{"spec":{"backup":{"resources":null}}}`)
	w.completed("first")
	w.completed("second")
	w.turns("databasebackup/first", "Stalled", "False")

	wrong := strings.NewReplacer("NAME", "again", "IMAGE", "localhost/no-such:image").Replace(database)
	w.apply(wrong + indent("bootstrap: {fromBackup: {name: first}}"))
	w.turns("databasecluster/again", "Stalled", "True JobBlocked", "image pull failed", "Correct spec.image")
	w.warned("again", "image pull failed")
	w.do("patch", "databasecluster", "again", "--type=merge", "-p", `{"spec":{"image":"`+postgresImage+`"}}`)
	w.restored("again", "{name: first}", want)
}
