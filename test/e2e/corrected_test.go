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
	w.awaitReported("databasebackup/first", "Stalled", "True JobBlocked", "cannot be scheduled")
	w.backup("second", "orders")
	w.awaitReported("databasebackup/second", "Stalled", "True BackupPending", "first")
	w.do("patch", "databasecluster", "orders", "--type=merge", "-p", `{"spec":{"backup":{"resources":null}}}`)
	w.completed("first")
	w.completed("second")
	w.awaitReported("databasebackup/first", "Stalled", "False")

	wrong := strings.NewReplacer("NAME", "again", "IMAGE", "localhost/no-such:image").Replace(database)
	w.apply(wrong + indent("bootstrap: {fromBackup: {name: first}}"))
	w.awaitReported("databasecluster/again", "Stalled", "True JobBlocked", "image pull failed", "Correct spec.image")
	w.awaitWarning("again", "image pull failed")
	w.do("patch", "databasecluster", "again", "--type=merge", "-p", `{"spec":{"image":"`+postgresImage+`"}}`)
	w.restored("again", "{name: first}", want)
}

func TestAFailedVerificationReportsTheCauseAndLeavesNoCopy(t *testing.T) {
	w := newWorld(t)
	w.filled("backup: {destination: " + toS3 + `, verification: {schedule: "@yearly", deadlineSeconds: 240, command: [sh, -c, "echo no such table >&2; exit 1"]}}`)
	w.backup("good", "orders")
	w.completed("good")
	w.do("annotate", "databasebackup", "good", "database.dbcluster.io/verify=1")
	w.awaitReported("databasebackup/good", "Verified", "Unknown VerificationRunning", "the copy has not answered", "no such table")
	var copies []string
	for claim := range strings.FieldsSeq(w.do("get", "persistentvolumeclaims", "-o", "jsonpath={.items[*].metadata.name}")) {
		if strings.Contains(claim, "-verify-") {
			copies = append(copies, "persistentvolumeclaim/"+claim)
		}
	}
	w.must(len(copies) == 1, "the copies run on %q", copies)
	w.awaitReported("databasebackup/good", "Verified", "False VerificationFailed", "no such table")
	w.do("wait", "--for=delete", copies[0], "--timeout="+patience.String())
	left := w.do("get", "pods,jobs", "-l", "app.kubernetes.io/component=verification", "-o", "name")
	w.must(left == "", "remaining objects of the copy: %q", left)
}
