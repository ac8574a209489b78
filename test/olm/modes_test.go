//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package olm

import (
	"slices"
	"strings"
	"testing"
)

const serviceAccount = ":databasecluster-operator-controller-manager"

// The install modes: the operator manages the namespaces of the OperatorGroup, and no others. OLM grants permissions
// there and in the operator's own namespace, which has the lease, and nowhere else.
func TestOwnNamespace(t *testing.T)    { looksAfter(t, "own", "") }
func TestSingleNamespace(t *testing.T) { looksAfter(t, "single", "-a") }
func TestMultiNamespace(t *testing.T)  { looksAfter(t, "multi", "-a", "-b") }
func TestAllNamespaces(t *testing.T)   { looksAfter(t, "all") }

func looksAfter(t *testing.T, mode string, watched ...string) {
	home := "olm-" + mode
	all := []string{home, home + "-a", home + "-b", home + "-other"}
	w := newWorld(t, all...)
	group := make([]string, 0, len(watched))
	for _, suffix := range watched {
		group = append(group, home+suffix)
	}
	w.serves(version)
	w.subscribes(home, "stable-v0", group...)
	w.installed(home, version)

	inside := func(namespace string) bool { return len(group) == 0 || slices.Contains(group, namespace) }
	outside := slices.DeleteFunc(slices.Clone(all), inside)
	for _, namespace := range outside { // first, so that there is time to see them
		w.smallest(namespace)
	}
	for _, namespace := range all {
		if inside(namespace) {
			w.smallest(namespace)
		}
	}
	for _, namespace := range all {
		may, _ := kubectl(w.Context(), "", "auth", "can-i", "patch", "statefulsets", "-n", namespace, "--as=system:serviceaccount:"+home+serviceAccount)
		w.must((may == "yes") == (inside(namespace) || namespace == home), "may the operator write in %s: %s", namespace, may)
		if inside(namespace) {
			w.await(namespace, "smallest", "Available")
			w.say("%s is looked after", namespace)
		}
	}
	for _, namespace := range outside {
		w.leftAlone(namespace)
	}
}

// leftAlone checks that the operator has not touched a cluster. The API server itself initializes the status.
func (w world) leftAlone(namespace string) {
	w.Helper()
	touched := w.do(namespace, "get", "databasecluster", "smallest", "-o", "jsonpath={.status.conditions}{.metadata.finalizers}")
	children := w.do(namespace, "get", "statefulsets,services,pods,persistentvolumeclaims,poddisruptionbudgets",
		"-l", "app.kubernetes.io/instance=smallest", "-o", "name")
	w.must(touched == "" && children == "", "in %s, which is not watched, there is %q, and of the cluster %q", namespace, children, touched)
	w.say("%s: conditions and finalizers %q, objects %q", namespace, touched, children)
}

// Wrong order: the operator is removed while it deletes a cluster. Nothing hangs forever, and no volume is lost.
func TestTheOperatorIsRemovedWhileAClusterIsDeleted(t *testing.T) {
	const home, shop = "olm-wrong", "olm-wrong-shop"
	w := newWorld(t, home, shop)
	w.serves(version)
	w.subscribes(home, "stable-v0")
	w.installed(home, version)
	w.postgres(shop, "orders", 2)
	w.await(shop, "orders", "Ready")
	w.sql(shop, "orders-0", "CREATE TABLE note (text text); INSERT INTO note VALUES ('still here')")
	volumes := w.volumes(shop)

	w.unsubscribes(home, version)
	w.do(shop, "delete", "databasecluster", "orders", "--wait=false")
	w.eventually(shop, "database.dbcluster.io/finalizer", "get", "databasecluster", "orders", "-o", "jsonpath={.metadata.deletionTimestamp} {.metadata.finalizers}")
	w.say("no operator removes the finalizer; remove it by hand, as docs/uninstall.md shows")
	w.run("bash", "-euo", "pipefail", "-c", "kubectl() { command kubectl -n "+shop+` "$@"; }; `+w.wayOut())
	w.do(shop, "wait", "--for=delete", "databasecluster/orders", "--timeout="+patience.String())
	w.do(shop, "wait", "--for=delete", "pod", "--all", "--timeout="+patience.String())
	w.same(volumes, w.volumes(shop), "volumes")

	w.subscribes(home, "stable-v0")
	w.installed(home, version)
	w.postgres(shop, "orders", 2)
	w.await(shop, "orders", "Ready")
	row := w.sql(shop, "orders-0", "SELECT text FROM note")
	w.must(row == "still here", "the row is %q", row)
	w.say("a cluster of the same name found the row: %s", row)

	// The deletion is in progress. A new operator continues it.
	w.do(shop, "delete", "databasecluster", "orders", "--wait=false")
	w.unsubscribes(home, version)
	w.subscribes(home, "stable-v0")
	w.installed(home, version)
	w.do(shop, "wait", "--for=delete", "databasecluster/orders", "--timeout="+patience.String())
	w.must(len(strings.Fields(w.volumes(shop))) == len(strings.Fields(volumes)), "volumes were lost: %s", w.volumes(shop))
}
