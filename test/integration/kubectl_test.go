//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// kubectlPath returns the kubectl of the API server's version.
var kubectlPath = sync.OnceValues(func() (string, error) {
	path, err := exec.Command("../../bin/local", "tool", "kubectl").Output()
	return strings.TrimSpace(string(path)), err
})

// kubectl runs a command as a user ("" is the administrator) and returns its output. One argument may contain several
// words.
func kubectl(t *testing.T, as string, args ...string) (string, error) {
	t.Helper()
	path, err := kubectlPath()
	if err != nil {
		t.Fatalf("kubectl: %v: run the tests with `make test-integration`, which builds bin/local", err)
	}
	command := exec.CommandContext(t.Context(), path, "--kubeconfig="+kubeconfig(t, as, ""), "--cache-dir="+t.TempDir())
	for _, arg := range args {
		command.Args = append(command.Args, strings.Fields(arg)...)
	}
	output, err := command.CombinedOutput()
	return string(output), err
}

// explainedBy adds the output of a command to its error.
func explainedBy(output string, err error) error {
	if err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	return nil
}

// manifestFile writes an object to a file for kubectl.
func manifestFile(t *testing.T, object client.Object) string {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestKubectlKnowsTheKindsByShortNamesAndCategories(t *testing.T) {
	parallel(t)
	output, err := kubectl(t, "", "api-resources --api-group=database.dbcluster.io --no-headers -o wide")
	if err != nil {
		t.Fatal(err, output)
	}
	var got []string
	for line := range strings.Lines(output) {
		f := strings.Fields(line) // name, short names, version, namespaced, kind, verbs, categories
		got = append(got, strings.Join(slices.Concat(f[:5], f[6:]), " "))
	}
	var want []string // a test beside the types checks what the CRDs have
	for _, definition := range definitions(t) {
		names, namespaced := definition.Spec.Names, definition.Spec.Scope == apiextensionsv1.NamespaceScoped
		want = append(want, fmt.Sprintf("%s %s %s %t %s %s",
			names.Plural, names.ShortNames[0], dbv1.GroupVersion, namespaced, names.Kind, strings.Join(names.Categories, ",")))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestKubectlGetPrintsTheState(t *testing.T) {
	parallel(t)
	cluster := created(t, nil)
	backup(t, cluster, "before", dbv1.BackupRetain)
	for command, columns := range map[string]string{
		"get dbc":         "NAME REPLICAS READY STATUS AGE",
		"get dbc -o wide": "NAME REPLICAS READY STATUS AGE PRIMARY IMAGE VERSION RECOVERABLE MESSAGE",
		"get dbb":         "NAME CLUSTER PHASE SIZE DURATION VERIFIED AGE",
		"get dbb -o wide": "NAME CLUSTER PHASE SIZE DURATION VERIFIED AGE RATE LOCATION MESSAGE",
		"get dbe":         "NAME ACCEPTED TOPOLOGY DESCRIPTION AGE",
	} {
		output, err := kubectl(t, "", "-n", cluster.Namespace, command)
		header, _, _ := strings.Cut(output, "\n")
		if err != nil || strings.Join(strings.Fields(header), " ") != columns {
			t.Errorf("%s: %v: %s", command, err, output)
		}
	}
	for command, named := range map[string][]string{
		"get all -o name":       {"databasecluster.database.dbcluster.io/orders", "databasebackup.database.dbcluster.io/before"},
		"get dbcluster -o name": {"databasecluster.database.dbcluster.io/orders", "databasebackup.database.dbcluster.io/before", "databaseengine.database.dbcluster.io/postgresql-single-v1"},
	} {
		output, err := kubectl(t, "", "-n", cluster.Namespace, command)
		for _, name := range named {
			if err != nil || !strings.Contains(output, name+"\n") {
				t.Errorf("%s: no %s: %v: %s", command, name, err, output)
			}
		}
	}
}

// A test beside the types checks the descriptions. This test checks the output of kubectl.
func TestKubectlExplainsEveryField(t *testing.T) {
	parallel(t)
	commands := map[string][]string{
		"explain databasecluster":                    {"DatabaseCluster runs a stateful database", "spec is the desired state of the cluster."},
		"explain dbc.spec.storage.size":              {"FIELD: size <", "for example 10Gi"},
		"explain dbc.spec.updateStrategy.type":       {"ENUM: RollingUpdate OnDelete", "Default: RollingUpdate."},
		"explain dbc.spec.deletion.hooks":            {"FIELD: hooks <[]Object>", "enum: Backup, Command, Shutdown", "name is the name of the hook", "-required-"},
		"explain dbc.spec.backup.schedules.schedule": {`for example "30 3 * * *"`},
		"explain databasebackup.status":              {"storedBytes is the size of what this backup stored at the destination, in bytes."},
		"explain databaseengine.spec.actions":        {"backup writes the data of the member DBC_MEMBER to standard output."},
		"explain dbc.spec --recursive":               {"deadlineSeconds\t<integer>", "fromBackup\t<Object>", "terminationGracePeriodSeconds\t<integer>"},
		"explain dbb --recursive":                    {"deletionPolicy\t<string>"},
		"explain dbe --recursive":                    {"secretKeys\t<[]Object>"},
	}
	for _, definition := range definitions(t) {
		root := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
		kind, _, _ := strings.Cut(root.Description, ".")
		status, _, _ := strings.Cut(root.Properties["status"].Description, ".")
		commands["explain "+definition.Spec.Names.Plural] = []string{kind, status}
	}
	for command, want := range commands {
		output, err := kubectl(t, "", command)
		flat := strings.Join(strings.Fields(output), " ")
		for _, text := range want {
			if err != nil || !strings.Contains(output, text) && !strings.Contains(flat, text) {
				t.Errorf("%s: %v: no %q in\n%s", command, err, text, output)
			}
		}
		if nothing := regexp.MustCompile(`<no description>|<empty>`).FindString(output); nothing != "" {
			t.Errorf("%s: %s in\n%s", command, nothing, output)
		}
	}
}
