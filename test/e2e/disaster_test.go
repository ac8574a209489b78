//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The runbook of docs/backup-and-restore.md for a user who has only the bucket. The bucket is in another namespace.
// No other test can run in parallel, because this test removes the operator.
func TestOnlyTheBucketIsLeft(t *testing.T) {
	onLocalNode(t, "it removes the operator and its CRDs")
	away := newExclusiveWorld(t)
	away.s3()
	endpoint := "http://s3." + away.namespace + ":7070"
	shop := world{T: t, namespace: away.namespace + "-shop"}
	t.Cleanup(shop.clean)
	shop.setUp()
	shop.postgres("orders", "backup: {destination: {url: s3://backups/prod, endpoint: "+`"`+endpoint+`"`+", credentialsSecretName: backup-credentials}}")
	shop.await("orders", "Ready")
	shop.million("orders-0")
	want := shop.fingerprint("orders-0")
	shop.backup("first", "orders")
	shop.backup("last", "orders")
	shop.completed("first")
	shop.completed("last")
	location := shop.of("databasebackup/last", "{.status.location}")

	shop.kubectl("delete", "namespace", shop.namespace, "--timeout=5m")
	t.Cleanup(func() { making(t, "deploy") }) // for the other tests
	making(t, "undeploy")
	making(t, "uninstall")
	text, err := run(t.Context(), "", "get", "databaseclusters", "-A")
	shop.must(err != nil, "objects of the operator still exist: %s", text)

	making(t, "deploy")
	shop.eventually("postgresql-single-v1", "get", "databaseengines", "-o", "name")
	shop.setUp()
	list := strings.NewReplacer("-n shop", "-n "+shop.namespace, "https://s3.example.org", endpoint,
		"ghcr.io/dbcluster/databasecluster-operator:v0.3.0", os.Getenv("IMG")).Replace(runbook(t, "run list"))
	output, err := exec.CommandContext(t.Context(), "bash", "-c", list).CombinedOutput()
	t.Logf("%s\n%s", list, output)
	shop.must(err == nil && strings.Contains(string(output), location), "the list does not name %s: %v", location, err)
	shop.must(strings.Index(string(output), "/last-") < strings.Index(string(output), "/first-"), "the newest backup is not the first")
	shop.restored("orders", `{location: {url: "`+location+`", endpoint: "`+endpoint+`", credentialsSecretName: backup-credentials}}`, want)
}

// setUp creates the namespace and the Secret with the keys of the bucket.
func (w world) setUp() {
	w.Helper()
	w.begin()
	w.manifest("v1", "Secret", "backup-credentials", "stringData: {AWS_ACCESS_KEY_ID: test, AWS_SECRET_ACCESS_KEY: test-secret}")
}

// runbook returns the block of the runbook that contains the words.
func runbook(t *testing.T, words string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/backup-and-restore.md")
	if err != nil {
		t.Fatal(err)
	}
	_, chapter, _ := strings.Cut(string(text), "## Runbook")
	for i, block := range strings.Split(chapter, "```") {
		if i%2 == 1 && strings.Contains(block, words) {
			return block
		}
	}
	t.Fatalf("the runbook has no block with %q", words)
	return ""
}

func making(t *testing.T, target string) {
	t.Helper()
	if text, err := exec.Command("make", "-C", "../..", "--no-print-directory", target, "IMG="+os.Getenv("IMG")).CombinedOutput(); err != nil {
		t.Fatalf("make %s: %v\n%s", target, err, text)
	}
}
