//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// plugin is kubectl-dbc, built on first use.
var plugin = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "kubectl-dbc-test-")
	if err != nil {
		return "", err
	}
	removePlugin = func() { os.RemoveAll(dir) }
	path := filepath.Join(dir, "kubectl-dbc")
	if out, err := exec.Command("go", "build", "-o", path, "../../cmd/kubectl-dbc").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the plugin: %w: %s", err, out)
	}
	return path, nil
})

var removePlugin = func() {}

// dbc runs the plugin as a user ("" is the administrator) and returns its output and its exit code.
func dbc(t *testing.T, as string, args ...string) (string, int) {
	t.Helper()
	path, err := plugin()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), path, append(args, "--kubeconfig="+kubeconfig(t, as, ""), "--cache-dir="+t.TempDir())...)
	output, err := command.CombinedOutput()
	if _, is := errors.AsType[*exec.ExitError](err); err != nil && !is {
		t.Fatal(err)
	}
	return string(output), command.ProcessState.ExitCode()
}

// mustDbc runs the plugin, which must succeed with these texts in its output.
func mustDbc(t *testing.T, ns string, want []string, args ...string) string {
	t.Helper()
	output, code := dbc(t, "", append([]string{"-n", ns}, args...)...)
	if code != 0 {
		t.Fatalf("kubectl dbc %v ended with %d:\n%s", args, code, output)
	}
	mustContain(t, output, want...)
	return output
}

func TestThePluginShowsAClusterAndHandsOver(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	startElector(t, ns)
	cluster := smallest(ns, "orders")
	cluster.Spec.Engine = replicated(t, nil)
	create(t, cluster)
	awaitReady(t, cluster)
	await(t, cluster, "the role of each member", func() bool {
		return !slices.ContainsFunc(cluster.Status.Members, func(m dbv1.MemberStatus) bool { return m.Role == "" })
	})

	screen := mustDbc(t, ns, []string{"DatabaseCluster " + ns + "/orders   Ready", "Members: 3 of 3 ready", "none: spec.backup is not set"}, "status", "orders")
	if fields := strings.Join(strings.Fields(screen), " "); !strings.Contains(fields, "orders-0 Primary Ready") || !strings.Contains(fields, "orders-1 Replica Ready") {
		t.Errorf("got\n%s", screen)
	}
	mustDbc(t, ns, []string{"databasecluster.database.dbcluster.io/orders"}, "status", "dbc/orders", "-o", "name")
	mustDbc(t, ns, []string{"Ready is True"}, "why", "orders")
	mustDbc(t, ns, []string{"No change."}, "diff", "orders")

	mustDbc(t, ns, []string{"kubectl -n " + ns + " annotate databasecluster/orders database.dbcluster.io/hand-over=orders-2/"}, "hand-over", "orders", "orders-2", "--dry-run")
	if read(t, cluster).Annotations[dbv1.AnnotationHandOver] != "" {
		t.Error("a dry run has changed the cluster")
	}
	for _, asks := range []string{"hand-over", "restart"} {
		output, code := dbc(t, "", "-n", ns, asks, "orders")
		if code != 1 || !strings.Contains(output, "DatabaseCluster orders in namespace "+ns+" of context ") || !strings.Contains(output, "Add --yes") {
			t.Errorf("%s without a terminal: %d\n%s", asks, code, output)
		}
	}
	if is := read(t, cluster).Annotations; is[dbv1.AnnotationHandOver]+is[dbv1.AnnotationRestart] != "" {
		t.Errorf("a question has changed the cluster: %v", is)
	}
	mustDbc(t, ns, []string{"The request asks member orders-0 to hand over to member orders-2", "Completed"}, "hand-over", "orders", "orders-2", "--yes", "--wait", "--timeout=3m")
	if is := read(t, cluster); is.Status.Primary != "orders-2" || !strings.HasPrefix(is.Annotations[dbv1.AnnotationHandOver], "orders-2/") {
		t.Errorf("the primary is %s, after the request %s", is.Status.Primary, is.Annotations[dbv1.AnnotationHandOver])
	}

	output, code := dbc(t, "", "-n", ns, "hibernate", "orders")
	if code != 1 || !strings.Contains(output, "Add --yes") || read(t, cluster).Spec.Hibernated {
		t.Errorf("without a terminal: %d\n%s", code, output)
	}
	mustDbc(t, ns, []string{"The spec asks for a stop of all members"}, "hibernate", "orders", "--yes")
	if !read(t, cluster).Spec.Hibernated {
		t.Error("the cluster is not hibernated")
	}
	mustDbc(t, ns, []string{"The spec asks for a start of all members"}, "wake", "orders")
}

func TestThePluginListsVerifiesAndRestoresBackups(t *testing.T) {
	parallel(t)
	engine := restorer(t)
	cluster := created(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine })
	ns := cluster.Namespace
	startRestores(t, ns).message.Store(succeeds)
	awaitReady(t, cluster)
	completed(t, cluster, "first")
	mustDbc(t, ns, []string{"first", "Completed"}, "backups", "orders")
	mustDbc(t, ns, []string{"databasebackup.database.dbcluster.io/first"}, "backups", "-o", "name")

	manifest := mustDbc(t, ns, []string{"kind: DatabaseRestore", "mode: Replace", "name: first"}, "restore", "orders", "--dry-run", "--name", "dry")
	if output, code := dbc(t, "", "-n", ns, "restore", "orders"); code != 1 || !strings.Contains(output, "Add --yes") {
		t.Errorf("without a terminal: %d\n%s", code, output)
	}
	if restores := listed(t, ns, &dbv1.DatabaseRestoreList{}, nil).Items; len(restores) != 0 {
		t.Errorf("there are %d DatabaseRestores, after\n%s", len(restores), manifest)
	}
	mustDbc(t, ns, []string{"Backup: DatabaseBackup first", "Duration: ", "Result: DatabaseCluster yesterday-preview has the data",
		"databaserestore.database.dbcluster.io/yesterday created", "DatabaseCluster yesterday-preview has the data of DatabaseBackup first"},
		"restore", "orders", "--preview", "--name", "yesterday", "--wait", "--timeout=3m")
	restore := read(t, &dbv1.DatabaseRestore{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "yesterday"}})
	if restore.Spec.Mode != dbv1.RestorePreview || restore.Spec.Source.BackupRef.Name != "first" || !meta.IsStatusConditionTrue(restore.Status.Conditions, dbv1.ConditionReady) {
		t.Errorf("got %+v", restore)
	}

	mustDbc(t, ns, []string{"The request asks for a restore of DatabaseBackup first"}, "verify", "orders")
	first := read(t, &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "first"}})
	if first.Annotations[dbv1.AnnotationVerify] == "" {
		t.Error("the verification is not requested")
	}
}

func TestThePluginAnswersBadInputWithASentence(t *testing.T) {
	parallel(t)
	cluster := created(t, nil)
	ns := cluster.Namespace
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"status"}, 1, "name a DatabaseCluster: kubectl dbc status CLUSTER"},
		{[]string{"status", "order"}, 1, "DatabaseCluster order does not exist in namespace " + ns},
		{[]string{"status", "orders", "-o", "xml"}, 1, `unable to match a printer suitable for the output format "xml"`},
		{[]string{"why", "order"}, 2, "DatabaseCluster order does not exist"},
		{[]string{"why", "--nothing"}, 2, "unknown flag: --nothing"},
		{[]string{"restore", "orders", "--at", "yesterday"}, 1, `--at "yesterday" is no time: use RFC 3339`},
		{[]string{"restore", "orders", "--at", "1h"}, 1, "DatabaseCluster orders has no archive"},
		{[]string{"restore", "orders"}, 1, "DatabaseCluster orders has no complete backup: kubectl dbc backup orders creates one"},
		{[]string{"backup", "orders"}, 1, "DatabaseCluster orders has no spec.backup"},
		{[]string{"hand-over", "orders", "orders-1"}, 1, "no member reports a role"},
		{[]string{"rebuild", "orders"}, 1, "name the member: kubectl dbc rebuild orders MEMBER"},
		{[]string{"connect", "orders"}, 1, "DatabaseCluster orders has no connection Secret"},
		{[]string{"backups", "orders"}, 0, "DatabaseCluster orders has no DatabaseBackups"},
	} {
		if output, code := dbc(t, "", append([]string{"-n", ns}, c.args...)...); code != c.code || !strings.Contains(output, c.want) {
			t.Errorf("kubectl dbc %v ended with %d, want %d and %q:\n%s", c.args, code, c.code, c.want, output)
		}
	}
	if output, code := dbc(t, "a-stranger", "-n", ns, "status", "orders"); code != 1 || !strings.Contains(output, "forbidden") {
		t.Errorf("without rights: %d\n%s", code, output)
	}
}

func TestThePluginReportsWithoutSecrets(t *testing.T) {
	parallel(t)
	cluster := started(t, func(c *dbv1.DatabaseCluster) {
		c.Spec.Container.Env = []corev1.EnvVar{{Name: "ANYTHING", Value: "hunter22"}}
	}, healthy)
	create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "orders-credentials"}, StringData: map[string]string{"password": "correct-horse"}})
	change(t, cluster, annotated("example.test/note", "the password is correct-horse"))
	database := &dbv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "invoices"}}
	database.Spec.ClusterRef.Name, database.Spec.Name = cluster.Name, "invoices"
	create(t, database)
	u := userOf(cluster, "billing")
	u.Spec.SecretName = "of-billing"
	create(t, u)
	create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "of-billing"}, StringData: map[string]string{"password": "battery-staple"}})
	change(t, u, func(u *dbv1.DatabaseUser) { u.Annotations = map[string]string{"example.test/note": "battery-staple"} })
	ofOthers := map[string]string{dbv1.LabelInstance: cluster.Name, dbv1.LabelName: "web"}
	create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "web", Labels: ofOthers}})
	file := filepath.Join(t.TempDir(), "report.zip")
	mustDbc(t, cluster.Namespace, []string{file}, "report", "orders", "--no-logs", "--file", file)
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	names := map[string]bool{}
	for _, entry := range archive.File {
		names[entry.Name] = true
		body, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		if entry.Name == "README.txt" && !strings.Contains(string(content), "metrics of the operator: namespace databasecluster-operator-system has no pod of the operator") {
			t.Errorf("README.txt does not tell why the report has no metrics:\n%s", content)
		}
		for _, secret := range []string{"hunter22", "correct-horse", "battery-staple"} {
			if strings.Contains(string(content), secret) {
				t.Errorf("%s has %s:\n%s", entry.Name, secret, content)
			}
		}
	}
	for _, want := range []string{"README.txt", "status.txt", "events.txt", "objects/DatabaseCluster/orders.yaml", "objects/StatefulSet/orders.yaml", "objects/Pod/orders-0.yaml",
		"objects/Database/invoices.yaml", "objects/DatabaseUser/billing.yaml"} {
		if !names[want] {
			t.Errorf("the report has no %s: %v", want, names)
		}
	}
	if names["objects/ConfigMap/web.yaml"] {
		t.Error("the report has an object of another application")
	}
}
