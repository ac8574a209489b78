//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"strings"
	"testing"
)

// The story of a user who installs dist/install.yaml and removes parts in every wrong order before the right one.
func TestManifestsTakenAwayInTheWrongOrder(t *testing.T) {
	w := newWorld(t, "plain")
	w.installManifests()
	w.highlyAvailable()
	w.cluster("orders", 2)
	w.cluster("bills", 1)
	w.await("orders", "Available")
	w.await("bills", "Available")
	databases, volumes := w.databases(), w.volumes()

	w.then("the CRDs first", func(w world) {
		w.protected()
		w.refused([]string{"DatabaseCluster", w.namespace, "orders", "bills"}, "make", "uninstall")
		w.same(databases, w.databases(), "the databases")
	})
	w.then("everything at once", func(w world) {
		w.refused([]string{"allow-deletion=true"}, "kubectl", "delete", "-f", "dist/install.yaml")
		w.same(databases, w.databases(), "the databases")
		w.run("kubectl", "wait", "--for=delete", "namespace/"+operatorNamespace, "--timeout="+patience.String())
		w.installManifests()
		w.highlyAvailable()
		w.protected()
		w.reconciled("bills")
		w.same(databases, w.databases(), "the databases")
	})
	w.then("the operator's namespace", func(w world) {
		w.run("kubectl", "delete", "namespace", operatorNamespace, "--timeout="+patience.String())
		w.installManifests()
		w.highlyAvailable()
		w.reconciled("bills")
		w.same(databases, w.databases(), "the databases")
	})
	w.then("the operator before a cluster", func(w world) {
		w.run("make", "undeploy", "IMG="+image)
		w.protected()
		w.same(databases, w.databases(), "the databases")
		w.freed("databasecluster", "orders")
		w.run("kubectl", "wait", "--for=delete", "pod", "-l", "app.kubernetes.io/instance=orders", "--timeout="+patience.String())
		w.same(volumes, w.volumes(), "the volumes")
	})
	w.then("the operator before a member that it watches over", func(w world) {
		// Set the finalizer, as the operator does before it stops a member for a Shutdown hook.
		w.run("kubectl", "patch", "pod", "bills-0", "--type=json", "-p", `[{"op":"add","path":"/metadata/finalizers","value":["`+finalizer+`"]}]`)
		w.freed("pod", "bills-0")
		w.run("kubectl", "wait", "--for=condition=Ready", "pod/bills-0", "--timeout="+patience.String())
	})
	w.then("the operator comes back", func(w world) {
		databases := w.databases()
		w.installManifests()
		w.highlyAvailable()
		w.reconciled("bills")
		w.same(databases, w.databases(), "the databases")
		w.cluster("orders", 2)
		w.await("orders", "Available")
		w.same(volumes, w.volumes(), "the volumes")
	})
	w.then("the right order", func(w world) {
		w.run("kubectl", "delete", "databaseclusters", "--all", "--all-namespaces", "--timeout="+patience.String())
		w.refused([]string{"the operator still runs", operatorNamespace}, "make", "uninstall")
		w.run("make", "undeploy", "IMG="+image)
		w.run("make", "uninstall")
		w.nothingLeft()
		w.same(volumes, w.volumes(), "the volumes")
	})
}

func (w world) installManifests() {
	w.Helper()
	w.run("kubectl", "apply", "--server-side", "-f", "dist/install.yaml")
}

// reconciled changes a cluster and waits until the operator has observed the change.
func (w world) reconciled(name string) {
	w.Helper()
	w.run("kubectl", "-n", w.namespace, "patch", "databasecluster", name, "--type=merge", "-p", `{"spec":{"updateStrategy":{"minReadySeconds":`+w.get("databasecluster", name, "-n", w.namespace, "-o", "jsonpath={.metadata.generation}")+`}}}`)
	generation := w.get("databasecluster", name, "-n", w.namespace, "-o", "jsonpath={.metadata.generation}")
	w.eventually(func(seen string) bool { return seen == generation }, "want generation "+generation,
		"-n", w.namespace, "get", "databasecluster", name, "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].observedGeneration}`)
}

// freed deletes an object with the operator's finalizer while no operator runs. The deletion waits until the command of
// docs/uninstall.md removes that finalizer, and no other.
func (w world) freed(kind, name string) {
	w.Helper()
	const others = "example.com/others"
	w.run("kubectl", "patch", kind, name, "--type=json", "-p", `[{"op":"add","path":"/metadata/finalizers/-","value":"`+others+`"}]`)
	w.run("kubectl", "delete", kind, name, "--wait=false")
	w.refused([]string{"timed out"}, "kubectl", "wait", "--for=delete", kind+"/"+name, "--timeout=5s")
	command := strings.ReplaceAll(documented(w.T, "docs/uninstall.md", "database.dbcluster.io/finalizer$|d"), "databasecluster orders", kind+" "+name)
	w.Log(command, w.shell(command))
	w.same(`["`+others+`"]`, w.get(kind, name, "-o", "jsonpath={.metadata.finalizers}"), "the finalizers")
	uid := w.get(kind, name, "-o", "jsonpath={.metadata.uid}")
	w.run("kubectl", "patch", kind, name, "--type=json", "-p", `[{"op":"remove","path":"/metadata/finalizers"}]`)
	w.eventually(func(now string) bool { return now != uid }, "it is still there",
		"get", kind, name, "--ignore-not-found", "-o", "jsonpath={.metadata.uid}")
}

// nothingLeft fails while the API server has any object of the operator.
func (w world) nothingLeft() {
	w.Helper()
	left := w.get("crd,validatingadmissionpolicies,validatingadmissionpolicybindings,clusterroles,clusterrolebindings", "-o", "name")
	for line := range strings.SplitSeq(left, "\n") {
		if strings.Contains(line, "database.dbcluster.io") || strings.Contains(line, "databasecluster") {
			w.Errorf("%s is left", line)
		}
	}
}
