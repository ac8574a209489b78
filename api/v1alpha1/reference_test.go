/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// section is the part of docs/reference.md below a heading, up to the next of the same level or above.
func section(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/reference.md has no heading %q", heading)
	}
	level, _, _ := strings.Cut(heading, " ")
	next := regexp.MustCompile(`(?m)^#{1,` + strconv.Itoa(len(level)) + `} `).FindStringIndex(rest)
	if next == nil {
		return rest
	}
	return rest[:next[0]]
}

// rows are the rows of the tables of a text, by the name in their first cell.
func rows(text string) map[string]string {
	all := map[string]string{}
	for _, found := range regexp.MustCompile("(?m)^\\| `([^`]+)`.*$").FindAllStringSubmatch(text, -1) {
		all[found[1]] = found[0]
	}
	return all
}

// fields are the paths below a type, down to types that are not the API's own. Further containers have a
// table of their own.
func fields(of reflect.Type, at string) []string {
	var paths []string
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner, list := field.Type, ""
		if inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if field.Type.Kind() == reflect.Slice {
			list = "[]"
		}
		switch own := inner.Kind() == reflect.Struct && inner.PkgPath() == of.PkgPath(); {
		case field.Anonymous:
			paths = append(paths, fields(inner, at)...)
		case own && at+name != "template.initContainers" && at+name != "template.sidecars":
			paths = append(paths, fields(inner, at+name+list+".")...)
		default:
			paths = append(paths, at+name)
		}
	}
	return paths
}

// same tells which names of the code and of a table are not in both. Lists may be marked in the table.
func same(t *testing.T, where string, code []string, table map[string]string) {
	t.Helper()
	for name := range table {
		if !slices.Contains(code, strings.TrimSuffix(name, "[]")) {
			t.Errorf("docs/reference.md, %s: %s is not in the API", where, name)
		}
	}
	for _, name := range code {
		if table[name] == "" && table[name+"[]"] == "" {
			t.Errorf("docs/reference.md, %s: %s is missing", where, name)
		}
	}
}

func TestTheReferenceNamesEveryFieldAndNoOther(t *testing.T) {
	spec, containers, _ := strings.Cut(section(t, "### spec"), "| field of a container |")
	same(t, "spec", fields(reflect.TypeFor[DatabaseClusterSpec](), ""), rows(spec))
	same(t, "status", fields(reflect.TypeFor[DatabaseClusterStatus](), ""), rows(section(t, "### status")))
	var own []string
	for _, path := range fields(reflect.TypeFor[Sidecar](), "") {
		name, _, _ := strings.Cut(path, ".")
		own = append(own, strings.TrimSuffix(name, "[]"))
	}
	same(t, "containers", own, rows(containers))

	same(t, "spec of a DatabaseBackup", fields(reflect.TypeFor[DatabaseBackupSpec](), ""), rows(section(t, "### spec of a DatabaseBackup")))
	same(t, "status of a DatabaseBackup", fields(reflect.TypeFor[DatabaseBackupStatus](), ""), rows(section(t, "### status of a DatabaseBackup")))
	same(t, "spec of a DatabaseEngine", fields(reflect.TypeFor[DatabaseEngineSpec](), ""), rows(section(t, "### spec of a DatabaseEngine")))
	same(t, "status of a DatabaseEngine", fields(reflect.TypeFor[DatabaseEngineStatus](), ""), rows(section(t, "### status of a DatabaseEngine")))
}

// specSchema is the schema of the spec in a generated CRD.
func specSchema(t *testing.T, plural string) map[string]any {
	t.Helper()
	text, err := os.ReadFile("../../config/crd/bases/database.dbcluster.io_" + plural + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	return property(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, "spec")
}

func property(schema map[string]any, name string) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	found, _ := properties[name].(map[string]any)
	return found
}

// descend follows a path; what is marked as a list in the middle of it is its elements.
func descend(schema map[string]any, path string) map[string]any {
	for name := range strings.SplitSeq(path, ".") {
		schema = property(schema, strings.TrimSuffix(name, "[]"))
		if items, list := schema["items"].(map[string]any); list && strings.HasSuffix(name, "[]") {
			schema = items
		}
	}
	return schema
}

func TestTheReferenceGivesEveryDefaultAndBoundOfTheSpecs(t *testing.T) {
	clusters, _, _ := strings.Cut(section(t, "### spec"), "| field of a container |")
	for plural, table := range map[string]string{
		"databaseclusters": clusters, "databasebackups": section(t, "### spec of a DatabaseBackup"), "databaseengines": section(t, "### spec of a DatabaseEngine"),
	} {
		spec := specSchema(t, plural)
		for name, row := range rows(table) {
			schema := descend(spec, strings.TrimSuffix(name, "[]"))
			if schema == nil {
				t.Errorf("the CRD of %s has no spec.%s", plural, name)
			}
			for _, bound := range bounds(schema) {
				if !strings.Contains(row, bound) {
					t.Errorf("docs/reference.md: the row of spec.%s of %s does not give its bound or default %s", name, plural, bound)
				}
			}
		}
	}
}

// bounds are what a schema says of a value, and of those of a list. A default of a whole object is told field
// by field, a quantity is bounded as text.
func bounds(schema map[string]any) []string {
	var all []string
	for _, key := range []string{"default", "minimum", "maximum", "maxLength", "minItems", "maxItems", "maxProperties"} {
		bounded := key == "minimum" || key == "maximum"
		switch value := schema[key].(type) {
		case nil, map[string]any:
		case float64:
			if !bounded || schema["type"] == "integer" {
				all = append(all, strconv.FormatFloat(value, 'f', -1, 64))
			}
		default:
			all = append(all, fmt.Sprint(value))
		}
	}
	if enum, _ := schema["enum"].([]any); enum != nil {
		for _, value := range enum {
			all = append(all, fmt.Sprintf("`%v`", value))
		}
	}
	return all
}

// constants are the string constants of a file of this package whose names pass.
func constants(t *testing.T, file string, named func(string) bool) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	ast.Inspect(parsed, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !named(spec.Names[0].Name) {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			all[spec.Names[0].Name] = value
		}
		return true
	})
	return all
}

func TestTheReferenceNamesEveryConditionAndReasonAndNoOther(t *testing.T) {
	text := section(t, "## Conditions and reasons")
	known := constants(t, "conditions.go", func(string) bool { return true })
	for name, value := range known {
		if !strings.Contains(text, "`"+value+"`") {
			t.Errorf("docs/reference.md does not name %s (%s)", value, name)
		}
	}
	for name := range rows(text) {
		found := false
		for _, value := range known {
			found = found || value == name
		}
		if !found {
			t.Errorf("docs/reference.md: %s is no condition or reason", name)
		}
	}
}

func TestTheReferenceNamesEveryLabelAndAnnotationAndNoOther(t *testing.T) {
	var keys []string
	for _, value := range constants(t, "labels.go", func(string) bool { return true }) {
		if strings.Contains(value, "/") {
			keys = append(keys, value)
		}
	}
	same(t, "labels and annotations", keys, rows(section(t, "## Labels and annotations")))
}
