//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/config/crd"
)

const finalBackup = `deletion: {hooks: [{name: final, type: Backup}], hookDeadlineSeconds: 240}`

// deleteOrders deletes the cluster "orders". It logs and returns the final backup.
func (w world) deleteOrders() string {
	w.Helper()
	uid := w.of("databasecluster/orders", "{.metadata.uid}")
	w.do("delete", "databasecluster", "orders", "--timeout="+patience.String())
	name := "orders-final-" + uid[:8]
	w.completed(name)
	w.must(w.do("get", "pods", "-l", "app.kubernetes.io/component=database", "-o", "name") == "", "members still exist after the deletion of their cluster")
	w.must(w.do("get", "persistentvolumeclaims", "data-orders-0", "-o", "name") != "", "the volume was deleted")
	return name
}

func TestADeletedClusterLeavesAFinalBackup(t *testing.T) {
	t.Parallel()
	states := map[string]func(world){
		"Running":    func(world) {},
		"Hibernated": func(w world) { w.patch(`{"hibernated":true}`); w.await("orders", "Hibernated"); w.awaitConverged() },
		"Broken": func(w world) {
			w.patch(`{"image":"localhost/no-such:image"}`)
			w.awaitCondition("Degraded", "image pull failed")
		},
		"Foreground": func(w world) {
			w.do("delete", "databasecluster", "orders", "--cascade=foreground", "--wait=false")
		},
	}
	for name, bring := range states {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			want := w.filled("backup: {deadlineSeconds: 30, destination: "+toS3+"}", finalBackup)
			bring(w)
			if name == "Broken" { // the Jobs need the image, too
				w.do("delete", "databasecluster", "orders", "--wait=false")
				w.awaitReported("databasecluster/orders", "DeletionBlocked", "False HookRunning", "localhost/no-such:image")
				w.awaitReported("databasecluster/orders", "DeletionBlocked", "True HookFailed", "localhost/no-such:image", "Delete DatabaseBackup")
				w.awaitWarning("orders", "localhost/no-such:image")
				w.patch(`{"image":"` + postgresImage + `","deletion":{"hookDeadlineSeconds":240},"backup":{"deadlineSeconds":240}}`)
				w.do("delete", "databasebackups", "--all", "--wait=false")
			}
			w.restored("again", "{name: "+w.deleteOrders()+"}", want)
		})
	}
}

func TestAFailingFinalBackupBlocksTheDeletion(t *testing.T) {
	w := newWorld(t)
	w.postgres("orders", "backup: {destination: "+toS3+"}", finalBackup)
	w.await("orders", "Ready")
	w.do("delete", "databasecluster", "orders", "--wait=false")
	w.awaitReported("databasecluster/orders", "DeletionBlocked", "True HookWaiting", "backup-credentials")
	w.must(w.psql("orders-0", "SELECT 1") == "1", "the member no longer runs")
	w.s3()
	w.do("wait", "--for=delete", "databasecluster/orders", "--timeout="+patience.String())
	w.Log("\n" + w.do("get", "databasebackups", "-o", "wide"))
}

func TestVolumesAreDeletedIfThePolicyIsDelete(t *testing.T) {
	w := newWorld(t)
	w.apply(volume)
	w.independent("orders", "replicas: 2", "backup: {destination: "+toVolume+"}",
		"deletion: {volumes: Delete, hooks: [{name: final, type: Backup}, {name: stop, type: Shutdown}]}")
	w.await("orders", "Ready")
	w.do("delete", "databasecluster", "orders", "--wait=false")
	w.eventually(`"exitCode":0`, "get", "databasecluster", "orders", "-o", "jsonpath={.status.hooks}")
	w.do("wait", "--for=delete", "databasecluster/orders", "--timeout="+patience.String())
	w.must(w.do("get", "persistentvolumeclaims", "-o", "name") == "persistentvolumeclaim/backups", "these claims are left: %s", w.do("get", "persistentvolumeclaims"))
	w.Log("\n" + w.do("get", "events", "--field-selector=involvedObject.name=orders"))
}

func TestAKilledDatabaseDoesNotCountAsAShutdown(t *testing.T) {
	w := newWorld(t)
	w.postgres("orders", "deletion: {volumes: Delete, hooks: [{name: stop, type: Shutdown}]}")
	w.await("orders", "Ready")
	// The database ignores the signals, so the kubelet must kill it.
	w.patch(`{"container":{"command":["sh","-c","trap '' TERM INT; docker-entrypoint.sh postgres -c hba_file=/dbc/scripts/pg_hba.conf & while :; do sleep 1; done"],"readinessProbe":{"exec":{"command":["true"]}}},"pod":{"terminationGracePeriodSeconds":5}}`)
	w.awaitConverged()
	w.do("delete", "databasecluster", "orders", "--wait=false")
	w.awaitReported("databasecluster/orders", "DeletionBlocked", "True HookFailed", "exited with code 137")
	w.awaitWarning("orders", "exited with code 137")
	w.do("annotate", "databasecluster", "orders", "database.dbcluster.io/skip-deletion-hooks=true")
	w.do("wait", "--for=delete", "databasecluster/orders", "--timeout="+patience.String())
	w.must(w.do("get", "persistentvolumeclaim", "data-orders-0", "-o", "name") != "", "the volume of a killed database was deleted")
	w.awaitWarning("orders", "skip-deletion-hooks")
}

func TestAProtectedClusterCannotBeDeleted(t *testing.T) {
	w := newWorld(t)
	w.postgres("orders", "deletion: {protection: true, volumes: Delete}")
	w.await("orders", "Ready")
	w.awaitReported("databasecluster/orders", "ProtectionEnforced", "True")
	for _, object := range []string{"databasecluster/orders", "persistentvolumeclaim/data-orders-0"} {
		text, err := run(w.Context(), "", "-n", w.namespace, "delete", object, "--wait=false")
		w.must(err != nil && strings.Contains(text, "protect"), "the output of delete %s is %q", object, text)
		w.Log(text)
	}
	// Deleting a CRD would delete its objects. Even if the API server does not refuse it, the dry run deletes
	// nothing.
	definitions, err := crd.Definitions()
	w.must(err == nil && len(definitions) > 0, "there are %d CRDs: %v", len(definitions), err)
	for _, definition := range definitions {
		text, err := run(w.Context(), "", "delete", "crd", definition.Name, "--dry-run=server")
		w.must(err != nil && strings.Contains(text, "allow-deletion"), "the output of delete crd %s is %q", definition.Name, text)
		w.Log(text)
	}
	w.patch(`{"deletion":{"protection":false}}`)
	w.do("delete", "databasecluster", "orders", "--timeout="+patience.String())
	w.must(w.do("get", "persistentvolumeclaims", "-o", "name") == "", "the volumes still exist")
}

// A client writes until its member stops. The test kills the database, so the deletion is blocked when the final
// backup is complete. The test can then delete the backup before the volume.
func TestTheVolumeIsDeletedAfterABackupOfEveryAcknowledgedWrite(t *testing.T) {
	w := newWorld(t)
	want := w.filled("backup: {destination: "+toS3+"}",
		"deletion: {volumes: Delete, hookDeadlineSeconds: 240, hooks: [{name: final, type: Backup}, {name: stop, type: Shutdown}]}")
	w.patch(`{"container":{"command":["sh","-c","trap '' TERM INT; docker-entrypoint.sh postgres -c hba_file=/dbc/scripts/pg_hba.conf & while :; do sleep 1; done"],"readinessProbe":{"exec":{"command":["pg_isready","-U","postgres"]}}},"pod":{"terminationGracePeriodSeconds":5}}`)
	w.awaitConverged()
	acknowledged := w.writes("orders-0")
	w.eventually("100", "exec", "orders-0", "-c", "database", "--", "psql", "-X", "-q", "-t", "-A", "-U", "postgres", "-c", "SELECT id FROM acknowledged WHERE id = 100")
	w.do("delete", "databasecluster", "orders", "--wait=false")
	rows := acknowledged()
	w.Logf("the server acknowledged %d writes until the member stopped", rows)

	w.awaitReported("databasecluster/orders", "DeletionBlocked", "True HookFailed", "exited with code 137")
	const each = `jsonpath={range .items[*]}{.metadata.uid} {.status.phase} {.status.fence}{"\n"}{end}`
	first := w.do("get", "databasebackups", "-o", each)
	w.must(strings.Contains(first, "Completed") && strings.Contains(first, "/"), "the final backup does not record that the members had stopped: %q", first)
	w.do("delete", "databasebackups", "--all")
	w.eventually("Completed", "get", "databasebackups", "-o", each)
	second := w.do("get", "databasebackups", "-o", each)
	w.must(!strings.Contains(second, strings.Fields(first)[0]), "the final backup is the deleted one: %q", second)
	w.must(w.do("get", "persistentvolumeclaims", "data-orders-0", "-o", "name") != "", "the volume was deleted while the deletion was blocked")

	w.patch(`{"deletion":{"hooks":[{"name":"final","type":"Backup"}]}}`) // the exit code of the database does not block
	w.do("wait", "--for=delete", "databasecluster/orders", "--timeout="+patience.String())
	w.must(!strings.Contains(w.do("get", "persistentvolumeclaims", "-o", "name"), "data-orders-0"), "the volume still exists")
	w.restored("again", "{name: "+w.do("get", "databasebackups", "-o", "jsonpath={.items[0].metadata.name}")+"}", want)
	got := w.psql("again-0", fmt.Sprintf("SELECT count(*) FROM acknowledged WHERE id <= %d", rows))
	w.must(got == strconv.Itoa(rows), "the server acknowledged %d writes, the restored table has %s", rows, got)
}

// writes writes rows until the member stops. The returned function waits for the stop and returns the number of
// acknowledged rows.
func (w world) writes(pod string) (acknowledged func() int) {
	w.Helper()
	w.psql(pod, "CREATE TABLE acknowledged (id int)")
	const script = `i=1; while psql -X -q -U postgres -c "INSERT INTO acknowledged VALUES ($i)"; do echo "row $i"; i=$((i+1)); done`
	ended := make(chan int, 1)
	go func() {
		text, _ := run(w.Context(), "", "-n", w.namespace, "exec", pod, "-c", "database", "--", "sh", "-c", script)
		ended <- strings.Count(text, "row ")
	}()
	return func() int {
		select {
		case rows := <-ended:
			return rows
		case <-time.After(patience):
			w.Fatalf("pod %s is still running", pod)
			return 0
		}
	}
}
