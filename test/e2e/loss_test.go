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

// A deleted volume does not become an empty database that is Ready, and its backups stay, also after the consent to start empty.
func TestALostVolumeDoesNotBecomeAnEmptyDatabase(t *testing.T) {
	w := newWorld(t)
	want := w.filled(`
backup:
  destination: ` + toS3 + `
  schedules: [{name: often, schedule: "* * * * *", retention: {count: 1}}]`)
	saved := w.after(w.scheduled(0))
	w.completed(saved)

	w.patch(`{"backup":{"schedules":[{"name":"often","schedule":"* * * * *","suspend":true,"retention":{"count":1}}]}}`)
	w.do("delete", "persistentvolumeclaim", "data-orders-0", "--wait=false")
	w.do("delete", "pod", "orders-0", "--wait=false")
	w.awaitReported("databasecluster/orders", "Stalled", "True", "data-orders-0", "DatabaseBackup", "rebuild=orders-0")
	w.awaitWarning("orders", "MemberHeld")
	for range 30 {
		w.must(w.of("databasecluster/orders", "{.status.readyReplicas}") == "0", "the member is ready on an empty volume")
		time.Sleep(time.Second)
	}

	w.do("annotate", "databasecluster", "orders", "database.dbcluster.io/rebuild=orders-0")
	w.await("orders", "Ready")
	w.must(!strings.Contains(w.psql("orders-0", "SELECT to_regclass('item') IS NULL"), "f"), "the member has the data of the deleted volume")
	newest := w.do("get", "databasebackups", "--sort-by=.metadata.creationTimestamp", "-o", "jsonpath={.items[-1:].metadata.name}")
	w.patch(`{"backup":{"schedules":[{"name":"often","schedule":"* * * * *","suspend":false,"retention":{"count":1}}]}}`)
	empty := w.after(newest)
	w.completed(empty)
	w.completed(w.after(empty))
	w.do("wait", "--for=delete", "databasebackup/"+empty, "--timeout="+patience.String())
	w.must(w.of("databasebackup/"+newest, "{.metadata.deletionTimestamp}") == "", "%s is deleted although no other backup has its data", newest)
	w.restored("again", "{name: "+newest+"}", want)
}
