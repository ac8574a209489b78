//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package olm

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The life of an installation: the previous release, an upgrade, an upgrade that waits for a restore, removal, and a
// second installation.
func TestAnUpgradeRestartsNoDatabaseAndWaitsForARestore(t *testing.T) {
	const home, shop = "olm-home", "olm-shop"
	w := newWorld(t, home, shop)
	w.engines = os.Getenv("DBC_TEST_PREVIOUS_ENGINES")
	w.serves(previous)
	w.subscribes(home, "candidate-v0")
	w.installed(home, previous)

	w.postgres(shop, "orders", 2)
	w.await(shop, "orders", "Ready")
	w.sql(shop, "orders-0", "CREATE TABLE note (text text); INSERT INTO note VALUES ('written under "+previous+"')")
	pods, template, volumes := w.databases(shop), w.template(shop, "orders"), w.volumes(shop)
	w.say("databases under %s:\n%s", previous, pods)

	w.serves(previous, version)
	w.installed(home, version)
	w.do(home, "wait", "--for=delete", "csv/"+csv(previous), "--timeout="+patience.String())
	w.upgradeable(home, version, "True (NothingInFlight)")
	w.works(shop, 3)
	w.same(pods, strings.Join(strings.Split(w.databases(shop), "\n")[:2], "\n"), "pods of the databases that ran before")
	w.same(template, w.template(shop, "orders"), "the StatefulSet and its template")
	w.must(strings.HasPrefix(w.volumes(shop), volumes), "volumes changed: %s", w.volumes(shop))

	w.do(home, "patch", "subscription", operator, "--type=merge", "-p", `{"spec":{"channel":"stable-v0"}}`)
	w.heldBackByARestore(home, shop)
	w.removedAndInstalledAgain(home, shop)
}

// works shows that an operator manages the clusters: it scales one, and the rows still exist.
func (w world) works(shop string, replicas int) {
	w.Helper()
	number := strconv.Itoa(replicas)
	w.do(shop, "scale", "databasecluster", "orders", "--replicas="+number)
	w.eventually(shop, number, "get", "databasecluster", "orders", "-o", "jsonpath={.status.readyReplicas}")
	w.await(shop, "orders", "Ready")
	row := w.sql(shop, "orders-0", "SELECT text FROM note")
	w.must(row == "written under "+previous, "the row is %q", row)
	w.say("the operator made orders have %d members; the row is still there: %s", replicas, row)
}

// heldBackByARestore restores a backup while no pod can be scheduled, and lets OLM upgrade during that time.
func (w world) heldBackByARestore(home, shop string) {
	w.Helper()
	w.apply(shop, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: backups}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseBackup
metadata: {name: before}
spec: {cluster: orders, destination: {url: "file:///orders", claimName: backups}}`)
	w.eventually(shop, "Completed", "get", "databasebackup", "before", "-o", "jsonpath={.status.phase}")

	node := w.run("kubectl", "get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")
	w.run("kubectl", "cordon", node)
	w.Cleanup(func() { _, _ = kubectl(context.Background(), "", "uncordon", node) })
	w.postgres(shop, "copy", 3, "  bootstrap: {fromBackup: {name: before}}")
	w.eventually(shop, "Running", "get", "databasecluster", "copy", "-o", "jsonpath={.status.restore.phase}")
	w.upgradeable(home, version, "False (RestoreInFlight)")

	w.serves(version, next)
	pending := "jsonpath={.status.phase} {.status.reason}: {.status.message}"
	w.eventually(home, "Pending OperatorConditionNotUpgradeable", "get", "csv", csv(next), "-o", pending)
	w.say("%s waits: %s", csv(next), w.do(home, "get", "csv", csv(next), "-o", pending))
	owner := w.do(home, "get", deployment, "-o", `jsonpath={.metadata.labels.olm\.owner} {.status.readyReplicas}`)
	w.must(owner == csv(version)+" 2", "meanwhile the operator is %q", owner)

	w.run("kubectl", "uncordon", node)
	w.say("the restore can continue")
	w.eventually(shop, "Completed", "get", "databasecluster", "copy", "-o", "jsonpath={.status.restore.phase}")
	w.await(shop, "copy", "Ready")
	row := w.sql(shop, "copy-0", "SELECT text FROM note")
	w.must(row == "written under "+previous, "restored was %q", row)
	w.installed(home, next)
	w.do(home, "wait", "--for=delete", "csv/"+csv(version), "--timeout="+patience.String())
	w.say("the upgrade continued after the restore")
}

// removedAndInstalledAgain removes the operator while databases run, and installs it again.
func (w world) removedAndInstalledAgain(home, shop string) {
	w.Helper()
	pods, volumes := w.databases(shop), w.volumes(shop)
	w.unsubscribes(home, next)
	w.do(shop, "get", "databaseclusters", "orders", "copy")
	w.same(pods, w.databases(shop), "pods of the databases without an operator")
	w.same(volumes, w.volumes(shop), "volumes without an operator")
	text, err := kubectl(w.Context(), "", "delete", "crd", "databaseclusters.database.dbcluster.io")
	w.must(err != nil && strings.Contains(text, "allow-deletion"), "deleting the CRD printed %q", text)
	w.say("a CRD cannot be deleted: %s", text)

	w.serves(version)
	w.subscribes(home, "stable-v0")
	w.installed(home, version)
	w.works(shop, 2)
	uid := w.do(shop, "get", "pod", "orders-0", "-o", "jsonpath={.metadata.uid}")
	w.must(strings.Contains(pods, "orders-0 "+uid), "the second installation re-created orders-0")
}
