//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

// Package install installs and uninstalls the operator on a real node with real databases: with Helm and with plain
// manifests, in the right and in the wrong order, with the commands of the documentation. No command may hang forever,
// and no volume may be lost. `make e2e-helm` and `make e2e-install` run it.
package install

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/config/crd"
	"github.com/dbcluster/databasecluster-operator/internal/testing/engines"
)

const (
	operatorNamespace = "databasecluster-operator-system"
	deployment        = "deployment/databasecluster-operator-controller-manager"
	finalizer         = "database.dbcluster.io/finalizer"
	// patience is the time limit of a wait. It is not a measurement.
	patience = 5 * time.Minute
)

var image, postgresImage, previousCRDs = os.Getenv("IMG"), os.Getenv("DBC_TEST_POSTGRES_IMG"), os.Getenv("DBC_PREVIOUS_CRDS")

func TestMain(m *testing.M) {
	kubeconfig := os.Getenv("DBC_TEST_KUBECONFIG")
	if kubeconfig == "" || postgresImage == "" || image == "" || previousCRDs == "" {
		fmt.Fprintln(os.Stderr, "tests of installation: run `make e2e-helm` or `make e2e-install`, which start a node")
		os.Exit(1)
	}
	if err := os.Setenv("KUBECONFIG", kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// world is a namespace for databases with Pod Security "restricted". It is kubectl's default namespace, so that
// commands of the documentation work unchanged.
type world struct {
	*testing.T
	namespace string
}

func newWorld(t *testing.T, name string) world {
	t.Helper()
	w := world{t, name}
	w.run("kubectl", "create", "namespace", name)
	w.run("kubectl", "label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted")
	w.run("kubectl", "config", "set-context", "--current", "--namespace="+name)
	w.run("kubectl", "create", "secret", "generic", "orders", "--from-literal=password=secret", "--from-literal=owner-password=owner", "--from-literal=pooler-password=pooler")
	t.Cleanup(w.tell)
	return w
}

// then runs a part of the story.
func (w world) then(what string, part func(world)) {
	w.Run(what, func(t *testing.T) { part(world{t, w.namespace}) })
}

// tell prints the state of the cluster after a failure.
func (w world) tell() {
	if !w.Failed() {
		return
	}
	for _, question := range []string{
		"get databaseclusters,statefulsets,pods,persistentvolumeclaims -A -o wide", "-n " + w.namespace + " describe databaseclusters",
		"-n " + operatorNamespace + " describe pods", "-n " + operatorNamespace + " logs " + deployment + " --tail=60", "get events -A",
	} {
		text, _ := said(context.Background(), "", "kubectl", strings.Fields(question)...)
		w.Logf("kubectl %s\n%s", question, text)
	}
}

func said(ctx context.Context, input, program string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, program, arguments...)
	command.Dir = "../.."
	command.Stdin = strings.NewReader(input)
	text, err := command.CombinedOutput()
	return strings.TrimSpace(string(text)), err
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

// shell runs a command line of the documentation.
func (w world) shell(line string) string {
	w.Helper()
	return w.run("bash", "-euo", "pipefail", "-c", line)
}

// refused runs a command that must fail with an explanation.
func (w world) refused(why []string, program string, arguments ...string) {
	w.Helper()
	text, err := said(w.Context(), "", program, arguments...)
	if err == nil {
		w.Errorf("%s %s did not fail:\n%s", program, strings.Join(arguments, " "), text)
	}
	for _, words := range why {
		if !strings.Contains(text, words) {
			w.Errorf("the output of %s %s lacks %q:\n%s", program, strings.Join(arguments, " "), words, text)
		}
	}
}

func (w world) get(arguments ...string) string {
	w.Helper()
	return w.run("kubectl", append([]string{"get"}, arguments...)...)
}

func (w world) apply(manifest string) {
	w.Helper()
	if text, err := said(w.Context(), manifest, "kubectl", "-n", w.namespace, "apply", "-f", "-"); err != nil {
		w.Fatalf("apply: %v\n%s\n%s", err, text, manifest)
	}
}

// cluster creates PostgreSQL clusters of this name.
func (w world) cluster(name string, replicas int) {
	w.Helper()
	engine, err := engines.Manifest(engines.Current, "postgresql-single-v1")
	if err != nil {
		w.Fatal(err)
	}
	w.apply(engine)
	w.apply(fmt.Sprintf(`
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata: {name: %s}
spec: {engine: %s, image: %q, credentials: {secretName: orders}, replicas: %d, storage: {size: 1Gi}}`, name, engines.Independent, postgresImage, replicas))
}

func (w world) await(name, condition string) {
	w.Helper()
	w.run("kubectl", "-n", w.namespace, "wait", "--for=condition="+condition, "databasecluster/"+name, "--timeout="+patience.String())
}

// eventually waits until a command prints the expected output.
func (w world) eventually(want func(string) bool, what string, arguments ...string) {
	w.Helper()
	var got string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		var err error
		if got, err = said(w.Context(), "", "kubectl", arguments...); err == nil && want(got) {
			return
		}
	}
	w.Fatalf("kubectl %s printed %q: %s", strings.Join(arguments, " "), got, what)
}

// databases returns the pods of the members, each with values that change when it is re-created or restarts.
func (w world) databases() string {
	w.Helper()
	return w.get("pods", "-n", w.namespace, "-l", "app.kubernetes.io/component=database", "--sort-by=.metadata.name", "-o",
		`jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.status.containerStatuses[*].restartCount} {.metadata.deletionTimestamp}{"\n"}{end}`)
}

// volumes returns the claims with their volumes.
func (w world) volumes() string {
	w.Helper()
	return w.get("persistentvolumeclaims", "-n", w.namespace, "--sort-by=.metadata.name", "-o",
		`jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.spec.volumeName} {.status.phase}{"\n"}{end}`)
}

// same fails if a value has changed.
func (w world) same(before, now, what string) {
	w.Helper()
	if before == "" || before != now {
		w.Errorf("%s changed: before\n%s\nnow\n%s", what, before, now)
	}
}

// protected fails unless the retained objects exist and the API server still denies the deletion of the CRDs.
func (w world) protected() {
	w.Helper()
	for _, name := range []string{"clusters", "claims", "definitions"} {
		w.get("validatingadmissionpolicy,validatingadmissionpolicybinding", "databasecluster-operator-protected-"+name)
	}
	for _, definition := range w.definitions() {
		w.refused([]string{"allow-deletion=true"}, "kubectl", "delete", "crd", definition)
	}
}

// definitions returns the names of the CRDs, which stay.
func (w world) definitions() []string {
	w.Helper()
	all, err := crd.Definitions()
	if err != nil || len(all) == 0 {
		w.Fatalf("%d CRDs: %v", len(all), err)
	}
	var names []string
	for _, definition := range all {
		names = append(names, definition.Name)
	}
	return names
}

// highlyAvailable waits for both replicas and a leader.
func (w world) highlyAvailable() {
	w.Helper()
	w.run("kubectl", "-n", operatorNamespace, "rollout", "status", deployment, "--timeout="+patience.String())
	w.same("2", w.get("-n", operatorNamespace, deployment, "-o", "jsonpath={.status.readyReplicas}"), "how many replicas are ready")
	w.get("-n", operatorNamespace, "poddisruptionbudget", "databasecluster-operator-controller-manager")
	w.led()
}

// led waits until one of the operator's pods holds the lease.
func (w world) led() {
	w.Helper()
	pods := strings.Fields(w.operators())
	w.eventually(func(holder string) bool {
		name, _, _ := strings.Cut(holder, "_")
		for _, pod := range pods {
			if strings.HasPrefix(pod, name+"=") && name != "" {
				return true
			}
		}
		return false
	}, "none of "+strings.Join(pods, ", ")+" leads", "-n", operatorNamespace, "get", "lease", "databasecluster-operator", "-o", "jsonpath={.spec.holderIdentity}")
}

// operators returns the operator's pods that are not terminating, as name=uid.
func (w world) operators() string {
	w.Helper()
	return w.get("pods", "-n", operatorNamespace, "-l", "control-plane=controller-manager", "--sort-by=.metadata.name", "-o",
		`go-template={{range .items}}{{if not .metadata.deletionTimestamp}}{{.metadata.name}}={{.metadata.uid}} {{end}}{{end}}`)
}

// documented returns the code block of a document that contains these words.
func documented(t *testing.T, file, words string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	for i, block := range strings.Split(string(text), "```") {
		if i%2 == 1 && strings.Contains(block, words) {
			return block
		}
	}
	t.Fatalf("%s has no block with %q", file, words)
	return ""
}
