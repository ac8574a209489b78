//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package olm

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/testing/engines"
)

// world is a test with its own namespaces. Only one test runs at a time, because OLM installs the operator's CRDs in
// the whole cluster. The test deletes them at its end.
type world struct {
	*testing.T
	// engines is the folder with the engines of the user. An upgrade of the operator does not change them.
	engines string
}

func newWorld(t *testing.T, namespaces ...string) world {
	t.Helper()
	w := world{t, engines.Current}
	for _, name := range namespaces {
		w.run("kubectl", "create", "namespace", name)
		w.run("kubectl", "label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted")
	}
	t.Cleanup(func() { w.clean(namespaces) })
	return w
}

// clean removes the clusters, the operator, and finally the CRDs, as documented. After a failure it first prints the
// state.
func (w world) clean(namespaces []string) {
	ctx := context.Background()
	if w.Failed() {
		for _, question := range []string{
			"get subscriptions,installplans,csv,operatorgroups,operatorconditions -A -o wide", "get operatorconditions -A -o yaml",
			"get databaseclusters,databasebackups,statefulsets,pods,jobs,persistentvolumeclaims -A -o wide", "describe databaseclusters -A",
			"get events -A --sort-by=.lastTimestamp",
		} {
			text, _ := kubectl(ctx, "", strings.Fields(question)...)
			w.Logf("kubectl %s\n%s", question, text)
		}
	}
	for _, step := range []string{
		"kubectl annotate databaseclusters -A --all database.dbcluster.io/skip-deletion-hooks=true --overwrite",
		"kubectl delete databaseclusters,databasebackups -A --all --timeout=3m",
		"kubectl delete subscriptions,csv,operatorgroups -A --all --timeout=1m",
		"kubectl delete deployments -A -l app.kubernetes.io/name=databasecluster-operator,control-plane=controller-manager --timeout=1m",
		"hack/uninstall.sh",
		"kubectl delete namespace --ignore-not-found --timeout=3m " + strings.Join(namespaces, " "),
	} {
		words := strings.Fields(step)
		if text, err := said(ctx, "", words[0], words[1:]...); err != nil {
			w.Errorf("%s: %v\n%s", step, err, text)
		}
	}
}

// say prints the current step.
func (w world) say(format string, arguments ...any) {
	w.Helper()
	w.Logf("%s  "+format, append([]any{time.Now().UTC().Format(time.TimeOnly)}, arguments...)...)
}

// run runs a command that must succeed, in the root of the repository.
func (w world) run(program string, arguments ...string) string {
	w.Helper()
	text, err := said(w.Context(), "", program, arguments...)
	if err != nil {
		w.Fatalf("%s %s: %v\n%s", program, strings.Join(arguments, " "), err, text)
	}
	return text
}

// do runs kubectl in a namespace.
func (w world) do(namespace string, arguments ...string) string {
	w.Helper()
	return w.run("kubectl", append([]string{"-n", namespace}, arguments...)...)
}

func (w world) apply(namespace, manifest string) {
	w.Helper()
	if text, err := kubectl(w.Context(), manifest, "-n", namespace, "apply", "-f", "-"); err != nil {
		w.Fatalf("apply: %v\n%s\n%s", err, text, manifest)
	}
}

// eventually waits until a command prints the expected output.
func (w world) eventually(namespace, want string, arguments ...string) {
	w.Helper()
	var got string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		var err error
		if got, err = kubectl(w.Context(), "", append([]string{"-n", namespace}, arguments...)...); err == nil && strings.Contains(got, want) {
			return
		}
	}
	w.Fatalf("kubectl -n %s %s printed %q, want %q", namespace, strings.Join(arguments, " "), got, want)
}

func (w world) await(namespace, cluster, condition string) {
	w.Helper()
	w.do(namespace, "wait", "--for=condition="+condition, "databasecluster/"+cluster, "--timeout="+patience.String())
}

// same fails if a value has changed.
func (w world) same(before, now, what string) {
	w.Helper()
	if before == "" || before != now {
		w.Errorf("%s changed: before\n%s\nnow\n%s", what, before, now)
		return
	}
	w.say("%s: unchanged\n%s", what, now)
}

// postgres creates PostgreSQL clusters, with additional lines in the spec.
func (w world) postgres(namespace, name string, replicas int, spec ...string) {
	w.Helper()
	engine, err := engines.Manifest(w.engines, "postgresql-single-v1")
	if err != nil {
		w.Fatal(err)
	}
	w.apply(namespace, engine)
	w.apply(namespace, fmt.Sprintf(`
apiVersion: v1
kind: Secret
metadata: {name: %[1]s}
stringData: {password: secret, owner-password: owner, pooler-password: pooler}
---
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata: {name: %[1]s}
spec:
  engine: %[5]s
  image: %[2]q
  credentials:
    secretName: %[1]s
  replicas: %[3]d
  storage: {size: 1Gi}
%[4]s`, name, postgresImage, replicas, strings.Join(spec, "\n"), engines.Independent))
}

// smallest creates a cluster with idle containers.
func (w world) smallest(namespace string) {
	w.Helper()
	w.apply(namespace, `
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata: {name: smallest}
spec: {replicas: 1, image: "localhost/pause:local", resources: {requests: {cpu: 1m}}, storage: {size: 10Mi}}`)
}

// sql runs a statement in a member and returns the bare rows.
func (w world) sql(namespace, pod, statement string) string {
	w.Helper()
	return w.do(namespace, "exec", pod, "-c", "database", "--", "psql", "-X", "-q", "-t", "-A", "-U", "postgres", "-c", statement)
}

// databases returns the pods of the members, with values that change when a pod is re-created or restarts.
func (w world) databases(namespace string) string {
	w.Helper()
	return w.do(namespace, "get", "pods", "-l", "app.kubernetes.io/component=database", "--sort-by=.metadata.name", "-o",
		`jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} restarts={.status.containerStatuses[*].restartCount} started={.status.containerStatuses[*].state.running.startedAt}{.metadata.deletionTimestamp}{"\n"}{end}`)
}

// template returns the pod template of the StatefulSet.
func (w world) template(namespace, name string) string {
	w.Helper()
	template := sha256.Sum256([]byte(w.do(namespace, "get", "statefulset", name, "-o", "jsonpath={.spec.template}")))
	return fmt.Sprintf("%s sha256:%x", w.do(namespace, "get", "statefulset", name, "-o", "jsonpath={.metadata.uid} {.status.updateRevision}"), template)
}

// volumes returns the claims with their volumes.
func (w world) volumes(namespace string) string {
	w.Helper()
	return w.do(namespace, "get", "persistentvolumeclaims", "--sort-by=.metadata.name", "-o",
		`jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.spec.volumeName} {.status.phase}{"\n"}{end}`)
}

// upgradeable returns the condition that the installed operator reports to OLM.
func (w world) upgradeable(namespace, v, want string) {
	w.Helper()
	path := `jsonpath={range .status.conditions[?(@.type=="Upgradeable")]}{.status} ({.reason}): {.message}{end}`
	w.eventually(namespace, want, "get", "operatorcondition", csv(v), "-o", path)
	w.say("Upgradeable of %s is %s", csv(v), w.do(namespace, "get", "operatorcondition", csv(v), "-o", path))
}

func (w world) must(ok bool, format string, arguments ...any) {
	w.Helper()
	if !ok {
		w.Errorf(format, arguments...)
	}
}

// wayOut is the command of docs/uninstall.md for a cluster whose operator no longer runs.
func (w world) wayOut() string {
	w.Helper()
	text, err := os.ReadFile("../../docs/uninstall.md")
	if err != nil {
		w.Fatal(err)
	}
	_, chapter, _ := strings.Cut(string(text), "## A cluster cannot be deleted, and the operator is not there")
	if blocks := strings.Split(chapter, "```"); len(blocks) > 1 && strings.Contains(blocks[1], "finalizer") {
		return blocks[1]
	}
	w.Fatal("docs/uninstall.md has no command that removes the finalizer")
	return ""
}
