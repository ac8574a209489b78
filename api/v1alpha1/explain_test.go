/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type jsonSchema = apiextensionsv1.JSONSchemaProps

// The comment of a Go field is its description in `kubectl explain` and docs/api.md. Each starts with the name of
// the field, and has the default, bounds, values and unit, if there are any.
func TestEveryFieldHasADescription(t *testing.T) {
	total := 0
	for _, k := range kinds(t) {
		names, root := k.definition.Spec.Names, k.definition.Spec.Versions[0].Schema.OpenAPIV3Schema
		text, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.IndexAny(text, "“”"); i >= 0 {
			t.Errorf("%s: typographic quotes, which gofmt makes of two single ones: %s", names.Plural, text[max(0, i-40):min(i+20, len(text))])
		}
		explained(t, names.Singular, k.of, root)
		seen := explainedFields(t, names.Singular, k.of, root)
		if seen < 5 {
			t.Errorf("%s: only %d fields were found", names.Plural, seen)
		}
		total += seen
	}
	if total < 300 {
		t.Errorf("only %d fields were found", total)
	}
}

// explainedFields checks the fields of a type of this API and of its nested types, and counts them.
func explainedFields(t *testing.T, at string, of reflect.Type, object *jsonSchema) (count int) {
	t.Helper()
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "metadata" {
			continue // Kubernetes explains them: apiVersion and kind, and metadata
		}
		path := at + "." + name
		property, found := object.Properties[name]
		if !found {
			t.Errorf("%s is not in the CRD", path)
			continue
		}
		count++
		for _, lack := range lacks(name, field.Type, &property) {
			t.Errorf("%s: %s: %q", path, lack, property.Description)
		}
		leaf := property.Type != "object" || len(property.Properties) == 0
		if optional := !slices.Contains(object.Required, name); optional && leaf && strings.Contains(at, ".spec") && !strings.Contains(property.Description, "Default") {
			t.Errorf("%s: it does not give its default: %q", path, property.Description)
		}
		inner, below := field.Type, &property
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			if inner.Kind() == reflect.Slice && below.Items != nil {
				below = below.Items.Schema
			}
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner.PkgPath() == of.PkgPath() {
			count += explainedFields(t, path, inner, below)
		}
	}
	return count
}

// lacks reports the mistakes in the description of a field.
func lacks(name string, of reflect.Type, field *jsonSchema) []string {
	var all []string
	text := " " + strings.Join(strings.Fields(field.Description), " ")
	want := func(holds bool, format string, args ...any) {
		if !holds {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	want(strings.HasPrefix(text, " "+name+" "), "it does not begin with the name")
	want(!strings.HasPrefix(text, " "+name+" of "), "it has no verb")
	want(strings.HasSuffix(text, "."), "it does not end with a period")
	want(len(text) >= 30, "it is too short")
	if field.Default != nil && field.Type != "object" {
		value := strings.Trim(string(field.Default.Raw), `"`)
		want(strings.Contains(text, "Default: "+value), "it does not give the default %s", value)
	}
	for _, value := range field.Enum {
		want(strings.Contains(text, strings.Trim(string(value.Raw), `"`)), "it does not name the value %s", value.Raw)
	}
	if bounded(field) {
		bounds := strconv.Itoa(int(*field.Minimum)) + " to " + strconv.Itoa(int(*field.Maximum))
		want(strings.Contains(text, bounds), "it does not state %s", bounds)
	}
	switch {
	case strings.HasSuffix(name, "Seconds"):
		want(strings.Contains(text, " in seconds"), `it does not state the unit "in seconds"`)
	case strings.HasSuffix(strings.ToLower(name), "bytes"):
		want(strings.Contains(text, " in bytes"), `it does not state the unit "in bytes"`)
	case of == reflect.TypeFor[resource.Quantity](), of == reflect.TypeFor[*resource.Quantity](), of == reflect.TypeFor[*metav1.Duration]():
		want(strings.Contains(text, "for example "), "it gives no example of the unit")
	}
	return all
}

// bounded reports whether an integer has bounds besides those of its type.
func bounded(field *jsonSchema) bool {
	return field.Type == "integer" && field.Minimum != nil && field.Maximum != nil && *field.Minimum >= 0 && *field.Maximum < 1<<31-1
}

// explained checks the description of a kind.
func explained(t *testing.T, at string, of reflect.Type, root *jsonSchema) {
	t.Helper()
	if !strings.HasPrefix(root.Description, of.Name()+" ") || !strings.HasSuffix(root.Description, ".") {
		t.Errorf("%s: no sentence: %q", at, root.Description)
	}
}
