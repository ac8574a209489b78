//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

// Package e2e runs users' stories on a real node with real databases, with the commands that users type. `make e2e`
// runs it.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const (
	operatorNamespace = "databasecluster-operator-system"
	deployment        = "databasecluster-operator-controller-manager"
	// patience is the timeout of each wait. It measures nothing.
	patience = 5 * time.Minute
)

var (
	postgresImage = os.Getenv("DBC_TEST_POSTGRES_IMG")
	// onAnotherCluster reports whether the tests run on the current context of the user.
	onAnotherCluster = os.Getenv("DBC_TEST_CLUSTER") == "current"
)

func TestMain(m *testing.M) {
	kubeconfig := os.Getenv("DBC_TEST_KUBECONFIG")
	if kubeconfig == "" || postgresImage == "" {
		fmt.Fprintln(os.Stderr, "e2e tests: DBC_TEST_KUBECONFIG and DBC_TEST_POSTGRES_IMG are not set: run the tests with `make e2e`, which starts a node")
		os.Exit(1)
	}
	if err := os.Setenv("KUBECONFIG", kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// onLocalNode skips a test on any cluster except that of bin/local, with the reason.
func onLocalNode(t *testing.T, because string) {
	t.Helper()
	if onAnotherCluster {
		t.Skip("needs the local node: " + because)
	}
}

// world is one namespace, which enforces Pod Security "restricted".
type world struct {
	*testing.T
	namespace string
	// replacements has words of manifests, each followed by its replacement.
	replacements []string
}

func newWorld(t *testing.T) world {
	t.Helper()
	t.Parallel()
	return newExclusiveWorld(t)
}

// withOrders returns a world with the sample cluster.
func withOrders(t *testing.T) world {
	t.Helper()
	w := newWorld(t)
	w.orders()
	w.await("orders", "Ready")
	return w
}

// newExclusiveWorld returns a world for a test that cannot run in parallel with others.
func newExclusiveWorld(t *testing.T) world {
	t.Helper()
	w := world{T: t, namespace: "e2e-" + strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(t.Name(), "Test")), "/", "-")}
	w.namespace = w.namespace[:min(len(w.namespace), 60)]
	w.begin()
	t.Cleanup(w.clean)
	return w
}

// begin creates the namespace. One that an interrupted run of the same test has left on a node that is kept is deleted first.
func (w world) begin() {
	w.Helper()
	const label = "e2e.dbcluster.io/test"
	if w.kubectl("get", "namespaces", "-l", label+"="+w.namespace, "-o", "name", "--ignore-not-found") != "" {
		w.remove()
	}
	w.kubectl("create", "namespace", w.namespace)
	w.kubectl("label", "namespace", w.namespace, "pod-security.kubernetes.io/enforce=restricted", label+"="+w.namespace)
}

// clean deletes the namespace. After a failure, it first logs the objects in it.
func (w world) clean() {
	if w.Failed() {
		for _, question := range [][]string{
			{"get", "databaseclusters,databasebackups,statefulsets,pods,jobs,persistentvolumeclaims", "-o", "wide"},
			{"describe", "databaseclusters"}, {"describe", "pods"}, {"get", "events"},
		} {
			text, _ := run(context.Background(), "", append([]string{"-n", w.namespace}, question...)...)
			w.Log(text)
		}
	}
	w.remove()
}

// remove deletes the namespace.
func (w world) remove() {
	w.Helper()
	_, _ = run(context.Background(), "", "-n", w.namespace, "annotate", "databaseclusters", "--all", "database.dbcluster.io/skip-deletion-hooks=true", "--overwrite")
	if text, err := run(context.Background(), "", "delete", "namespace", w.namespace, "--ignore-not-found", "--timeout=5m"); err != nil {
		w.Errorf("namespace %s is still terminating: %s", w.namespace, text)
	}
}

func run(ctx context.Context, input string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "kubectl", arguments...)
	command.Stdin = strings.NewReader(input)
	text, err := command.CombinedOutput()
	return strings.TrimSpace(string(text)), err
}

// kubectl runs a command that must succeed.
func (w world) kubectl(arguments ...string) string {
	w.Helper()
	text, err := run(w.Context(), "", arguments...)
	if err != nil {
		w.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), err, text)
	}
	return text
}

// do runs a command in the world's namespace.
func (w world) do(arguments ...string) string {
	w.Helper()
	return w.kubectl(append([]string{"-n", w.namespace}, arguments...)...)
}

func (w world) apply(manifest string) {
	w.Helper()
	manifest = strings.NewReplacer(w.replacements...).Replace(manifest)
	if text, err := run(w.Context(), manifest, "-n", w.namespace, "apply", "-f", "-"); err != nil {
		w.Fatalf("apply: %v\n%s\n%s", err, text, manifest)
	}
}

// await waits for a condition of a cluster.
func (w world) await(cluster, condition string) {
	w.Helper()
	w.do("wait", "--for=condition="+condition, "databasecluster/"+cluster, "--timeout="+patience.String())
}

// eventually waits until a command prints the expected text.
func (w world) eventually(want string, arguments ...string) {
	w.Helper()
	var got string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		var err error
		if got, err = run(w.Context(), "", append([]string{"-n", w.namespace}, arguments...)...); err == nil && strings.Contains(got, want) {
			return
		}
	}
	w.Fatalf("kubectl %s printed %q, want %q", strings.Join(arguments, " "), got, want)
}

// sql runs a statement on a host from a member's pod and returns the bare rows.
func (w world) sql(from, host, statement string) string {
	w.Helper()
	return w.do("exec", from, "--", "sh", "-c", `PGPASSWORD=$POSTGRES_PASSWORD exec psql -X -q -t -A -h "$1" -U postgres -c "$2"`, "sh", host, statement)
}

// orders creates the cluster of config/samples with some words replaced.
func (w world) orders(replacements ...string) {
	w.Helper()
	text, err := os.ReadFile("../../config/samples/database_v1alpha1_databasecluster.yaml")
	if err != nil {
		w.Fatal(err)
	}
	w.do("create", "secret", "generic", "orders", "--from-literal=password=secret")
	w.apply(strings.NewReplacer(append(replacements, "docker.io/library/postgres:17", postgresImage)...).Replace(string(text)))
}

func (w world) must(ok bool, format string, arguments ...any) {
	w.Helper()
	if !ok {
		w.Errorf(format, arguments...)
	}
}
