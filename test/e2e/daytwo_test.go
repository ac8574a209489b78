//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// patch changes the spec of the cluster "orders".
func (w world) patch(spec string) {
	w.Helper()
	w.do("patch", "databasecluster", "orders", "--type=merge", "-p", `{"spec":`+spec+`}`)
}

// awaitConverged waits until the cluster matches its spec, at its current generation.
func (w world) awaitConverged() {
	w.Helper()
	generation := w.do("get", "databasecluster", "orders", "-o", "jsonpath={.metadata.generation}")
	w.eventually(generation+" True", "get", "databasecluster", "orders", "-o",
		`jsonpath={.status.observedGeneration} {.status.conditions[?(@.type=="Ready")].status}`)
}

// awaitCondition waits until a condition is True with a message that contains the words.
func (w world) awaitCondition(condition string, words ...string) {
	w.Helper()
	w.await("orders", condition)
	for _, word := range words {
		w.eventually(word, "get", "databasecluster", "orders", "-o", `jsonpath={.status.conditions[?(@.type=="`+condition+`")].message}`)
	}
}

func host(ordinal int) string { return fmt.Sprintf("orders-%d.orders-headless", ordinal) }

// insertRows writes a row to each member; checkRows reads them all.
func (w world) insertRows(members int) {
	w.Helper()
	for i := range members {
		w.sql("orders-0", host(i), fmt.Sprintf("CREATE TABLE note (text text); INSERT INTO note VALUES ('row of %d')", i))
	}
}

func (w world) checkRows(members int) {
	w.Helper()
	for i := range members {
		got := w.sql("orders-0", host(i), "SELECT text FROM note")
		w.must(got == fmt.Sprintf("row of %d", i), "the row of orders-%d is %q", i, got)
	}
}

// pods returns the UIDs of the members' pods and the restart counts of their containers.
func (w world) pods() string {
	w.Helper()
	return w.do("get", "pods", "-l", "app.kubernetes.io/component=database", "-o",
		`jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.status.containerStatuses[0].restartCount}{"\n"}{end}`)
}

// answering returns the number of members that answer a query.
func (w world) answering(members int) int {
	w.Helper()
	count := 0
	for i := range members {
		text, err := run(w.Context(), "", "-n", w.namespace, "exec", "orders-0", "--", "pg_isready", "-q", "-t", "2", "-h", host(i))
		if err == nil {
			count++
		} else {
			w.Logf("orders-%d does not answer: %s", i, text)
		}
	}
	return count
}

// A change that cannot work affects one member at most. The operator reports the cause, and recovers when the user
// corrects the spec.
func TestAnInvalidChangeAffectsOneMemberAndACorrectionRecovers(t *testing.T) {
	w := withOrders(t)
	w.insertRows(3)
	for _, bad := range []struct{ what, spec, undo, cause string }{
		{"image", `{"image":"localhost/no-such:image"}`, `{"image":"` + postgresImage + `"}`, "image pull failed"},
		{"command", `{"container":{"command":["no-such-command"]}}`, `{"container":{"command":null}}`, "no-such-command"},
		{"affinity", `{"scheduling":{"nodeSelector":{"no":"such-node"}}}`, `{"scheduling":null}`, "cannot be scheduled"},
		{"request", `{"resources":{"requests":{"cpu":"900"}}}`, `{"resources":{"requests":{"cpu":"100m"}}}`, "cpu"},
	} {
		w.Log("bad ", bad.what)
		w.patch(bad.spec)
		w.awaitCondition("Degraded", "pod orders-2", bad.cause)
		w.awaitCondition("Progressing", "pod orders-2")
		w.must(w.answering(2) == 2, "a bad %s affected more than one member", bad.what)
		w.patch(bad.undo)
		w.awaitConverged()
	}
	w.checkRows(3)
}

func TestACorrectionDuringABadChangeWins(t *testing.T) {
	w := withOrders(t)
	w.insertRows(3)
	w.patch(`{"image":"localhost/no-such:image"}`)
	w.eventually("no-such", "get", "statefulset", "orders", "-o", "jsonpath={.spec.template.spec.containers[0].image}")
	w.patch(`{"image":"` + postgresImage + `","container":{"args":["-c","work_mem=7MB"]}}`)
	w.awaitConverged()
	for i := range 3 {
		w.must(w.sql("orders-0", host(i), "SHOW work_mem") == "7MB", "orders-%d does not run the last spec", i)
	}
	w.checkRows(3)
}

func TestAMissingSecretBlocksARolloutUntilItExists(t *testing.T) {
	w := withOrders(t)
	before := w.pods()
	w.patch(`{"container":{"envFrom":[{"secretRef":{"name":"later"}}]}}`)
	w.awaitCondition("Stalled", "Secret later, which spec.container.envFrom names, does not exist")
	w.must(w.pods() == before, "members were restarted although the Secret does not exist")
	w.do("create", "secret", "generic", "later", "--from-literal=LATER=now")
	w.awaitConverged()
	w.must(w.do("exec", "orders-1", "--", "printenv", "LATER") == "now", "the member does not have the new Secret")
	w.do("patch", "secret", "later", "-p", `{"stringData":{"LATER":"then"}}`)
	w.do("annotate", "databasecluster", "orders", "database.dbcluster.io/refresh=1")
	for i := range 3 {
		w.eventually("then", "exec", fmt.Sprintf("orders-%d", i), "--", "printenv", "LATER")
	}
	w.awaitConverged()
}

func TestFilesOfTheSpecReachEveryMember(t *testing.T) {
	w := withOrders(t)
	w.insertRows(3)
	files := func(memory string) string {
		return `{"config":{"files":{"postgresql.conf":"listen_addresses = '*'\nwork_mem = '` + memory + `'\n"}},"container":{"args":["-c","config_file=/etc/database/postgresql.conf"]}}`
	}
	for _, memory := range []string{"5MB", "6MB"} {
		w.patch(files(memory))
		w.awaitConverged()
		for i := range 3 {
			w.must(w.sql("orders-0", host(i), "SHOW work_mem") == memory, "orders-%d does not have %s", i, memory)
		}
	}
	w.eventually("1", "get", "configmaps", "-l", "app.kubernetes.io/component=config", "-o", `go-template={{len .items}}`)
	_, err := run(w.Context(), "", "-n", w.namespace, "exec", "orders-0", "--", "touch", "/etc/database/x")
	w.must(err != nil, "a member can write to its files")
	w.checkRows(3)
}

func TestARolloutWaitsWhilePausedAndWithOnDelete(t *testing.T) {
	w := withOrders(t)
	before := w.pods()
	w.patch(`{"updateStrategy":{"paused":true},"container":{"args":["-c","work_mem=7MB"]}}`)
	w.awaitCondition("Progressing", "3 members are outdated", "spec.updateStrategy.paused")
	w.patch(`{"updateStrategy":{"paused":false,"type":"OnDelete"}}`)
	w.awaitCondition("Progressing", "spec.updateStrategy.type is OnDelete")
	w.must(w.pods() == before, "members were restarted")
	w.do("delete", "pod", "orders-1")
	w.awaitCondition("Progressing", "2 members are outdated")
	w.patch(`{"paused":true,"updateStrategy":{"type":"RollingUpdate"}}`)
	w.await("orders", "Paused")
	w.awaitCondition("Progressing", "spec.paused is true; pending: ", "2 members are outdated")
	w.patch(`{"paused":false}`)
	w.awaitConverged()
	w.must(w.sql("orders-0", host(2), "SHOW work_mem") == "7MB", "orders-2 does not have the change")
}

func TestAHibernatedClusterResumesWithItsRows(t *testing.T) {
	w := withOrders(t)
	w.insertRows(3)
	w.patch(`{"hibernated":true}`)
	w.await("orders", "Hibernated")
	w.awaitConverged()
	w.must(w.do("get", "pods", "-l", "app.kubernetes.io/component=database", "-o", "name") == "", "members run")
	w.must(strings.Contains(w.do("get", "databasecluster", "orders"), "Hibernated"), "kubectl get does not show the hibernation")
	w.patch(`{"hibernated":false}`)
	w.awaitConverged()
	w.checkRows(3)
}

func TestARolloutWaitsForALostMember(t *testing.T) {
	w := withOrders(t)
	w.insertRows(3)
	w.patch(`{"container":{"args":["-c","work_mem=7MB"]}}`)
	w.awaitCondition("Progressing", "2 members are outdated")
	w.do("delete", "pod", "orders-1", "--force", "--grace-period=0")
	w.awaitConverged()
	w.checkRows(3)
}

func TestMembersAreResizedWhileTheyRun(t *testing.T) {
	w := withOrders(t)
	given := w.pods()
	w.patch(`{"resources":{"requests":{"cpu":"150m","memory":"256Mi"},"limits":{"cpu":"1500m","memory":"1Gi"}}}`)
	w.awaitConverged()
	w.patch(`{"resources":{"requests":{"cpu":"200m"},"limits":{"cpu":"1200m"}}}`)
	w.awaitConverged()
	w.must(w.pods() == given, "members were restarted:\n%s\nbefore:\n%s", w.pods(), given)
	for i := range 3 {
		w.eventually("200m 1200m", "get", "pod", fmt.Sprintf("orders-%d", i), "-o",
			"jsonpath={.status.containerStatuses[0].resources.requests.cpu} {.status.containerStatuses[0].resources.limits.cpu}")
	}
	w.must(w.do("get", "databasecluster", "orders", "-o", "jsonpath={.status.updatedReplicas}") == "3", "resized members count as outdated")
	// Requests equal to limits change the QoS class, which is immutable for a running pod.
	w.patch(`{"resources":{"requests":{"cpu":"200m","memory":"256Mi"},"limits":{"cpu":"200m","memory":"256Mi"}}}`)
	w.awaitConverged()
	w.must(w.pods() != given, "no member was restarted")
	w.eventually("Guaranteed", "get", "pod", "orders-0", "-o", "jsonpath={.status.qosClass}")
}
