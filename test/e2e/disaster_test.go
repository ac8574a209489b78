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

// The runbook of docs/backup-and-restore.md, as somebody follows it for whom only the bucket is left. The bucket
// is in another namespace. No other story can run meanwhile: the operator goes.
func TestOnlyTheBucketIsLeft(t *testing.T) {
	onLocalNode(t, "it removes the operator and its CRDs")
	away := aloneInTheWorld(t)
	away.s3()
	endpoint := "http://s3." + away.namespace + ":7070"
	shop := world{T: t, namespace: away.namespace + "-shop"}
	t.Cleanup(shop.clean)
	shop.opens()
	shop.postgres("orders", "backup: {destination: {url: s3://backups/prod, endpoint: "+`"`+endpoint+`"`+", credentialsSecretName: backup-credentials}}")
	shop.await("orders", "Ready")
	shop.million("orders-0")
	want := shop.fingerprint("orders-0")
	shop.backup("earlier", "orders")
	shop.backup("last", "orders")
	shop.completed("earlier")
	shop.completed("last")
	location := shop.of("databasebackup/last", "{.status.location}")

	shop.kubectl("delete", "namespace", shop.namespace, "--timeout=5m")
	t.Cleanup(func() { making(t, "deploy") }) // for the other stories, however this one ends
	making(t, "undeploy")
	making(t, "uninstall")
	text, err := run(t.Context(), "", "get", "databaseclusters", "-A")
	shop.must(err != nil, "something of the operator is left: %s", text)

	making(t, "deploy")
	shop.eventually("postgresql-single-v1", "get", "databaseengines", "-o", "name")
	shop.opens()
	list := strings.NewReplacer("-n shop", "-n "+shop.namespace, "https://s3.example.org", endpoint,
		"ghcr.io/dbcluster/databasecluster-operator:v0.3.0", os.Getenv("IMG")).Replace(runbook(t, "run list"))
	said, err := exec.CommandContext(t.Context(), "bash", "-c", list).CombinedOutput()
	t.Logf("%s\n%s", list, said)
	shop.must(err == nil && strings.Contains(string(said), location), "the list does not name %s: %v", location, err)
	shop.must(strings.Index(string(said), "/last-") < strings.Index(string(said), "/earlier-"), "the newest is not the first")
	shop.restored("orders", `{location: {url: "`+location+`", endpoint: "`+endpoint+`", credentialsSecretName: backup-credentials}}`, want)
}

// opens makes the namespace and the Secret with the keys of the bucket.
func (w world) opens() {
	w.Helper()
	w.kubectl("create", "namespace", w.namespace)
	w.kubectl("label", "namespace", w.namespace, "pod-security.kubernetes.io/enforce=restricted")
	w.manifest("v1", "Secret", "backup-credentials", "stringData: {AWS_ACCESS_KEY_ID: test, AWS_SECRET_ACCESS_KEY: test-secret}")
}

// runbook is the block of the runbook that has the words in it.
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
