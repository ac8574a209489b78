//go:build helm

/*
SPDX-License-Identifier: Apache-2.0
*/

package packaging

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestAWrongValueIsRefusedWithASentenceThatNamesIt(t *testing.T) {
	cases := map[string]struct {
		set  string
		says []string
	}{
		"a value that does not exist":     {"replicaCount=3", []string{"additional properties 'replicaCount' not allowed"}},
		"one below another":               {"image.name=x", []string{"'/image'", "'name' not allowed"}},
		"no replica":                      {"replicas=0", []string{"'/replicas'", "got 0, want 1"}},
		"a word for a number":             {"replicas=two", []string{"'/replicas'", "want integer"}},
		"a tag in the repository":         {"image.repository=example.org/operator:1", []string{"'/image/repository'", "example.org/operator:1"}},
		"a repository in capitals":        {"image.repository=example.org/Operator", []string{"'/image/repository'", "example.org/Operator"}},
		"a priority class that is none":   {"priorityClassName=very high", []string{"'/priorityClassName'", "very high"}},
		"a digest that is none":           {"image.digest=abc", []string{"'/image/digest'", "abc"}},
		"a namespace that is none":        {"watchNamespaces={Shop}", []string{"'/watchNamespaces/0'", "Shop"}},
		"a namespace twice":               {"watchNamespaces={shop,shop}", []string{"'/watchNamespaces'"}},
		"namespaces in one string":        {"watchNamespaces=shop", []string{"'/watchNamespaces'", "want array"}},
		"a flag that a value sets":        {"extraArgs={--watch-namespace=shop}", []string{"extraArgs", "--watch-namespace=shop", "set watchNamespaces"}},
		"two leaders":                     {"extraArgs={-leader-elect=false}", []string{"extraArgs", "-leader-elect=false", "only one replica must work at a time"}},
		"a lease that it may not hold":    {"extraArgs={--leader-election-namespace=shop}", []string{"extraArgs", "the Role for the lease"}},
		"metrics for any namespace":       {"networkPolicy.metricsNamespaceLabels=null", []string{"'/networkPolicy'", "missing property 'metricsNamespaceLabels'"}},
		"a variable that a value sets":    {"extraEnv[0].name=TRANSFER_IMAGE,extraEnv[0].value=x", []string{"extraEnv", "TRANSFER_IMAGE", "set image"}},
		"no ServiceAccount":               {"serviceAccount.create=false", []string{"serviceAccount.name is empty"}},
		"alerts on metrics that are not":  {"metrics.enabled=false,metrics.prometheusRule.enabled=true", []string{"metrics.enabled is false"}},
		"an affinity of another kind":     {"affinity.nodes=x", []string{"'/affinity'", "'nodes' not allowed"}},
		"no image":                        {"image=null", []string{"missing property 'image'"}},
		"no number of replicas":           {"replicas=null", []string{"missing property 'replicas'"}},
		"no dashboard to turn off":        {"metrics.dashboard=null", []string{"'/metrics'", "missing property 'dashboard'"}},
		"a label by which pods are found": {"podLabels.control-plane=x", []string{`podLabels has "control-plane"`}},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			_, err := template("--set", c.set)
			if err == nil {
				t.Fatalf("%s was accepted", c.set)
			}
			for _, words := range c.says {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("the error of helm lacks %q: %v", words, err)
				}
			}
		})
	}
}

// schema is the part of a JSON schema that the test compares with values.yaml.
type schema struct {
	Properties map[string]schema `json:"properties"`
}

func TestTheSchemaKnowsTheValuesAndNoOthers(t *testing.T) {
	var values map[string]any
	var known schema
	for name, into := range map[string]any{"values.yaml": &values, "values.schema.json": &known} {
		text, err := os.ReadFile(filepath.Join(chart, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	delete(known.Properties, "global") // values of a parent chart for all its subcharts
	hold(t, "", values, known)
}

func hold(t *testing.T, path string, values map[string]any, known schema) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(known.Properties)) {
		value, found := values[name]
		below, isMap := value.(map[string]any)
		switch {
		case !found && path != "resources.":
			t.Errorf("values.schema.json has %s%s, and values.yaml has not", path, name)
		case isMap && len(below) > 0:
			hold(t, path+name+".", below, known.Properties[name])
		}
	}
	for name := range values {
		if _, found := known.Properties[name]; !found && len(known.Properties) > 0 {
			t.Errorf("values.yaml has %s%s, and values.schema.json has not", path, name)
		}
	}
}

// The values of an administrator must appear, and a second release must not change shared objects.
func TestASecondReleaseSharesNothingWithTheFirst(t *testing.T) {
	const alone = "crds.install=false,admissionPolicies.install=false"
	first := rendered(t)
	for name := range rendered(t, "--set", alone+",fullnameOverride=second") {
		if first[name] != nil {
			t.Errorf("%s is in both releases", name)
		}
	}
}

// Kubernetes allows these names for namespaces and ServiceAccounts, but YAML reads them as numbers or booleans.
func TestANameThatLooksLikeANumberStaysAString(t *testing.T) {
	text, err := run("template", "2024", chart, "--namespace", "1e3", "--values", filepath.Join(chart, "ci", "full-values.yaml"), "--set-json",
		`watchNamespaces=["2024","true"]`, "--set-json", `serviceAccount={"create":true,"name":"007"}`, "--set-string", "priorityClassName=10")
	if err != nil {
		t.Fatal(err)
	}
	spaces := map[string]int{}
	for name, object := range decode(t, text) {
		if instance := object.GetLabels()["app.kubernetes.io/instance"]; instance != "2024" {
			t.Errorf("%s has the label app.kubernetes.io/instance=%q", name, instance)
		}
		spaces[object.GetNamespace()]++
		walk(object.Object, func(node map[string]any) {
			for _, field := range []string{"name", "namespace", "serviceAccountName", "priorityClassName", "app.kubernetes.io/instance"} {
				if value, found := node[field]; found {
					if _, isText := value.(string); !isText {
						t.Errorf("%s has the %s %v, which is not a string", name, field, value)
					}
				}
			}
		})
	}
	for _, want := range []string{"1e3", "2024", "true"} {
		if spaces[want] == 0 {
			t.Errorf("nothing is in namespace %s: %v", want, spaces)
		}
	}
}

func TestAReleaseAfterWhichNoServiceCanBeNamedIsRefused(t *testing.T) {
	if _, err := run("template", "2024", chart); err == nil || !strings.Contains(err.Error(), "set fullnameOverride") {
		t.Errorf("the error of helm is %v", err)
	}
}

func TestTheChartIsOfTheVersionOfTheMakefile(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(makefile), "\nVERSION ?= ")
	want, _, _ := strings.Cut(rest, "\n")
	text, err := os.ReadFile(filepath.Join(chart, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var about struct{ Version, AppVersion string }
	if err := yaml.Unmarshal(text, &about); err != nil {
		t.Fatal(err)
	}
	if about.Version != want || about.AppVersion != want {
		said, _ := json.Marshal(about)
		t.Errorf("Chart.yaml has version %s, but the Makefile %s: run `make chart`", said, want)
	}
}
