//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// The life of a cluster whose members are independent.
func TestSmokeARowSurvivesItsPodScalingAndItsCluster(t *testing.T) {
	w := newWorld(t)
	w.orders()
	w.await("orders", "Available")
	w.must(strings.Contains(w.do("get", "databaseclusters"), "   Ready   "), "kubectl get does not show the status")

	w.sql("orders-1", "orders-0.orders-headless", "CREATE TABLE note (text text); INSERT INTO note VALUES ('still here')")
	w.do("delete", "pod", "orders-0", "--now")
	w.do("wait", "pod/orders-0", "--for=create", "--timeout=60s")
	w.do("wait", "pod/orders-0", "--for=condition=Ready", "--timeout="+patience.String())
	w.await("orders", "Ready")
	got := w.sql("orders-1", "orders-0.orders-headless", "SELECT text FROM note")
	w.must(got == "still here", "the row is %q after its pod was killed", got)

	w.do("scale", "databasecluster", "orders", "--replicas=4")
	w.await("orders", "Ready")
	w.must(w.do("get", "databasecluster", "orders", "-o", "jsonpath={.status.readyReplicas}") == "4", "the cluster does not have 4 members")
	w.do("scale", "databasecluster", "orders", "--replicas=2")
	w.eventually("2/2", "get", "databasecluster", "orders", "-o", "jsonpath={.status.replicas}/{.status.readyReplicas}")

	w.do("delete", "databasecluster", "orders", "--timeout="+patience.String())
	w.must(w.do("get", "pods", "-l", "app.kubernetes.io/component=database", "-o", "name") == "", "members still exist after the deletion of their cluster")
	job := w.do("get", "jobs", "-l", "app.kubernetes.io/component=deletion-hook", "-o", "name")
	w.must(strings.Count(w.do("logs", job), "CHECKPOINT") == 2, "the hook did not run for both members")
	w.must(strings.Count(w.do("get", "persistentvolumeclaims", "-o", "name"), "data-orders-") == 4, "volumes are missing")

	w.do("delete", "secret", "orders")
	w.orders()
	w.await("orders", "Ready")
	got = w.sql("orders-1", "orders-0.orders-headless", "SELECT text FROM note")
	w.must(got == "still here", "the row is %q after the cluster was re-created with its volumes", got)
}

var smallest = strings.ReplaceAll(`
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata:
  name: smallest
spec:
  replicas: 3
  image: PAUSE
  resources: {requests: {cpu: 1m}}
  storage: {size: 10Mi}
`, "PAUSE", cmp.Or(os.Getenv("PAUSE_IMG"), "localhost/pause:local"))

func TestSmokeTheSmallestManifestBecomesAvailable(t *testing.T) {
	w := newWorld(t)
	w.apply(smallest)
	w.await("smallest", "Available")
	w.await("smallest", "Ready")
}

func TestAClusterWithAllFieldsWorks(t *testing.T) {
	onLocalNode(t, "its StorageClass is called standard")
	w := newWorld(t)
	w.apply(strings.ReplaceAll(smallest, "{size: 10Mi}", "{storageClassName: standard, size: 10Gi}"))
	w.await("smallest", "Available")
	w.eventually("10Gi", "get", "persistentvolumeclaim", "data-smallest-0", "-o", "jsonpath={.spec.resources.requests.storage} {.spec.storageClassName}")
}

func TestAnEphemeralClusterNeedsNoVolume(t *testing.T) {
	w := newWorld(t)
	w.apply(strings.ReplaceAll(smallest, "{size: 10Mi}", "{size: 10Mi, ephemeral: true}"))
	w.await("smallest", "Available")
	w.must(w.do("get", "persistentvolumeclaims", "-o", "name") == "", "volumes exist")
}

func TestABadImageStopsOneMemberAndAGoodOneRecovers(t *testing.T) {
	w := withOrders(t)
	w.do("patch", "databasecluster", "orders", "--type=merge", "-p", `{"spec":{"image":"localhost/no-such:image"}}`)
	w.await("orders", "Degraded")
	message := w.do("get", "databasecluster", "orders", "-o", `jsonpath={.status.conditions[?(@.type=="Degraded")].message}`)
	w.must(strings.Contains(message, "pod orders-2") && strings.Contains(message, "localhost/no-such:image"), "the message of Degraded is %q", message)
	for i := range 2 {
		w.must(w.sql("orders-0", fmt.Sprintf("orders-%d.orders-headless", i), "SELECT 1") == "1", "orders-%d does not answer", i)
	}
	w.do("patch", "databasecluster", "orders", "--type=merge", "-p", `{"spec":{"image":"`+postgresImage+`"}}`)
	w.await("orders", "Ready")
}

func TestTheStandbyReplicaTakesOverWhenTheLeaderDies(t *testing.T) {
	w := newWorld(t)
	holder := func() string {
		text := w.kubectl("-n", operatorNamespace, "get", "lease", "databasecluster-operator", "-o", "jsonpath={.spec.holderIdentity}")
		pod, _, _ := strings.Cut(text, "_")
		return pod
	}
	leader := holder()
	w.kubectl("-n", operatorNamespace, "delete", "pod", leader, "--grace-period=0", "--force")
	w.apply(smallest)
	w.await("smallest", "Ready")
	w.must(holder() != leader, "the holder of the lease is still %s, which no longer exists", leader)
	w.kubectl("-n", operatorNamespace, "rollout", "status", "deployment/"+deployment, "--timeout=3m")
}

// reader creates a ServiceAccount that may read the metrics.
func (w world) reader() (name string) {
	w.Helper()
	w.do("create", "serviceaccount", "reader")
	binding := "metrics-" + w.namespace
	w.kubectl("delete", "clusterrolebinding", binding, "--ignore-not-found") // from an interrupted run
	w.kubectl("create", "clusterrolebinding", binding, "--clusterrole=databasecluster-operator-metrics-reader", "--serviceaccount="+w.namespace+":reader")
	w.Cleanup(func() {
		_, _ = run(context.Background(), "", "delete", "clusterrolebinding", binding) // t.Context has already ended
	})
	return "reader"
}

func TestOnlyAuthorizedUsersReadMetrics(t *testing.T) {
	onLocalNode(t, "it asks pods by their addresses")
	w := newWorld(t)
	w.do("create", "serviceaccount", "stranger")
	for who, want := range map[string]int{"": 401, "stranger": 403, w.reader(): 200} {
		token := ""
		if who != "" {
			token = w.do("create", "token", who)
		}
		word := ""
		if want == 200 {
			word = "controller_runtime_reconcile_total"
		}
		status, _ := w.metrics(token, word)
		w.must(status == want, "the answer to %q is %d, want %d", who, status, want)
	}
}
