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
)

// megabytes returns the size of the file system that a member sees.
func (w world) megabytes(pod string) int {
	w.Helper()
	fields := strings.Fields(w.do("exec", pod, "--", "df", "-m", "--output=size", "/var/lib/database"))
	size, err := strconv.Atoi(fields[len(fields)-1])
	if err != nil {
		w.Fatal(err)
	}
	return size
}

// Volumes of the class "growing" have a real size limit, so their file systems can be full.
func TestVolumesGrowWhileTheDatabasesRun(t *testing.T) {
	onLocalNode(t, "its StorageClass growing has volumes of a real size, which grow up to 100Gi")
	w := newWorld(t)
	w.orders("size: 1Gi", "size: 1Gi\n    storageClassName: growing", "replicas: 3", "replicas: 2")
	w.await("orders", "Ready")
	w.insertRows(2)
	before := w.pods()
	w.must(w.megabytes("orders-1") < 1024, "a volume of 1Gi has %d MiB", w.megabytes("orders-1"))

	w.patch(`{"storage":{"size":"2Gi"}}`)
	w.await("orders", "StorageResizing")
	w.awaitConverged()
	for i := range 2 {
		size := w.megabytes(fmt.Sprintf("orders-%d", i))
		w.must(size > 1800, "the file system of orders-%d has %d MiB", i, size)
	}
	w.must(w.pods() == before, "pods were restarted:\n%s\nbefore:\n%s", w.pods(), before)
	w.must(w.do("get", "databasecluster", "orders", "-o", "jsonpath={.status.storage.requested} {.status.storage.capacity}") == "2Gi 2Gi", "the status reports another size")
	w.checkRows(2)

	w.Log("together with another field")
	w.patch(`{"storage":{"size":"3Gi"},"container":{"args":["-c","work_mem=7MB"]},"resources":{"limits":{"memory":"2Gi"}}}`)
	w.awaitConverged()
	for i := range 2 {
		w.must(w.megabytes(fmt.Sprintf("orders-%d", i)) > 2800, "orders-%d has %d MiB", i, w.megabytes(fmt.Sprintf("orders-%d", i)))
		w.must(w.sql("orders-0", host(i), "SHOW work_mem") == "7MB", "orders-%d does not run the last spec", i)
	}

	w.Log("more than the class provides")
	before = w.pods()
	w.patch(`{"storage":{"size":"1Ti"}}`)
	w.awaitCondition("Stalled", "has 3Gi and cannot be expanded to 1Ti", "Set spec.storage.size to a size between 3Gi and 1Ti")
	text, err := run(w.Context(), "", "-n", w.namespace, "patch", "databasecluster", "orders", "--type=merge", "-p", `{"spec":{"storage":{"size":"3Gi"}}}`)
	w.must(err != nil && strings.Contains(text, "spec.storage.size cannot shrink"), "the output for the current size is %q", text)
	w.patch(`{"storage":{"size":"4Gi"}}`)
	w.awaitConverged()
	w.must(w.pods() == before, "pods were restarted")
	w.must(w.megabytes("orders-1") > 3800, "orders-1 has %d MiB", w.megabytes("orders-1"))
	w.checkRows(2)

	w.do("scale", "databasecluster", "orders", "--replicas=3")
	w.awaitConverged()
	w.must(w.do("get", "persistentvolumeclaim", "data-orders-2", "-o", "jsonpath={.spec.resources.requests.storage}") == "4Gi", "a new member has a volume of another size")
}

func TestAFullVolumeThatStoppedTheDatabaseGrows(t *testing.T) {
	onLocalNode(t, "its StorageClass growing has volumes of a real size, which grow up to 100Gi")
	w := newWorld(t)
	w.orders("size: 1Gi", "size: 1Gi\n    storageClassName: growing", "replicas: 3", "replicas: 1")
	w.await("orders", "Ready")
	w.insertRows(1)
	_, err := run(w.Context(), "", "-n", w.namespace, "exec", "orders-0", "--", "sh", "-c", "cat /dev/zero > /var/lib/database/rubbish")
	w.must(err != nil, "the volume does not fill up")
	w.do("delete", "pod", "orders-0", "--now")
	w.patch(`{"storage":{"size":"2Gi"}}`)
	w.awaitConverged()
	w.checkRows(1)
}
