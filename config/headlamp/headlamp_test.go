/*
SPDX-License-Identifier: Apache-2.0
*/

// Package headlamp compares the plugin for Headlamp with the API, without npm.
package headlamp

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/config/crd"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestThePluginKnowsEveryConditionOfACluster(t *testing.T) {
	_, lists, _ := strings.Cut(read(t, "src/model/conditions.ts"), "const trueIsGood")
	lists, _, _ = strings.Cut(lists, "/** conditionTypes")
	var known []string
	for _, quoted := range regexp.MustCompile(`'(\w+)'`).FindAllStringSubmatch(lists, -1) {
		known = append(known, quoted[1])
	}
	want := slices.Clone(dbv1.ClusterConditions)
	slices.Sort(known)
	slices.Sort(want)
	if !slices.Equal(known, want) {
		t.Errorf("src/model/conditions.ts has the conditions %v, and the operator %v", known, want)
	}
}

// schemaOf returns the schema of a place in a CRD, such as "status.members[]".
func schemaOf(t *testing.T, plural, place string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	all, err := crd.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(d apiextensionsv1.CustomResourceDefinition) bool { return d.Spec.Names.Plural == plural })
	if at < 0 {
		t.Fatalf("there is no CRD of %s", plural)
	}
	schema := *all[at].Spec.Versions[0].Schema.OpenAPIV3Schema
	for part := range strings.SplitSeq(place, ".") {
		name, isList := strings.CutSuffix(part, "[]")
		schema = schema.Properties[name]
		if isList {
			schema = *schema.Items.Schema
		}
	}
	return schema
}

func TestEveryFieldThatThePluginReadsIsInACRD(t *testing.T) {
	declared := regexp.MustCompile(`(?s)/\*\* schema: (\w+) (\S+) \*/\nexport interface \w+ \{\n(.*?)\n\}`)
	field := regexp.MustCompile(`(?m)^  (\w+)\??:`)
	interfaces := declared.FindAllStringSubmatch(read(t, "src/model/types.ts"), -1)
	if len(interfaces) < 10 {
		t.Fatalf("found only %d interfaces with a schema", len(interfaces))
	}
	for _, is := range interfaces {
		properties := schemaOf(t, is[1], is[2]).Properties
		for _, name := range field.FindAllStringSubmatch(is[3], -1) {
			if _, exists := properties[name[1]]; !exists {
				t.Errorf("%s have no field %s.%s", is[1], is[2], name[1])
			}
		}
	}
}

func TestThePluginListsTheKindsOfTheAPI(t *testing.T) {
	resources := read(t, "src/resources.ts")
	for _, kind := range []string{"DatabaseCluster", "DatabaseBackup"} {
		want := "kind = '" + kind + "';\n  static apiName = '" + strings.ToLower(kind) + "s';\n" +
			"  static apiVersion = '" + dbv1.GroupVersion.String() + "';"
		if !strings.Contains(resources, want) {
			t.Errorf("src/resources.ts lacks %q", want)
		}
	}
}

func TestThePluginOnlyReads(t *testing.T) {
	writes := regexp.MustCompile(`\b(fetch|ApiProxy|apiEndpoint|XMLHttpRequest|WebSocket)\b|\.(delete|patch|put|post|update|scale|create)\(`)
	files := 0
	err := fs.WalkDir(os.DirFS("src"), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".ts", ".tsx"}, path.Ext(file)) {
			return err
		}
		files++
		if found := writes.FindString(read(t, path.Join("src", file))); found != "" {
			t.Errorf("src/%s has %s: pages only list and watch, by useList", file, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Errorf("found only %d files", files)
	}
}

func TestPackagesArePinnedAndNoRegistryIsNamed(t *testing.T) {
	var wanted struct {
		DevDependencies, Dependencies map[string]string
	}
	if err := json.Unmarshal([]byte(read(t, "package.json")), &wanted); err != nil {
		t.Fatal(err)
	}
	exact := regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	for name, version := range wanted.DevDependencies {
		if !exact.MatchString(version) {
			t.Errorf("package.json does not pin %s: %s", name, version)
		}
	}
	if len(wanted.Dependencies) > 0 {
		t.Errorf("the plugin must get its libraries from Headlamp: %v", wanted.Dependencies)
	}
	lock := read(t, "package-lock.json")
	if strings.Contains(lock, `"resolved"`) {
		t.Error("package-lock.json names a registry: run npm install with the .npmrc of this folder")
	}
	var locked struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	if err := json.Unmarshal([]byte(lock), &locked); err != nil {
		t.Fatal(err)
	}
	for name, is := range locked.Packages {
		if name != "" && (is.Version == "" || is.Integrity == "") {
			t.Errorf("package-lock.json does not pin %s", name)
		}
	}
}
