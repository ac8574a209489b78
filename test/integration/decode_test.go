//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/testing/sample"
)

type schema = apiextensionsv1.JSONSchemaProps

// kinds has plain objects of kinds whose samples have more than they need, and paths that the test must attempt. Without an entry, a kind
// has its sample, and the paths that every status has.
var kinds = map[string]struct {
	plain  func(ns string, spec map[string]any) *unstructured.Unstructured
	spec   []string
	status []string
}{
	"databaseclusters": {
		func(ns string, spec map[string]any) *unstructured.Unstructured { return manifest(ns, "orders", spec) },
		[]string{
			".resources", ".container.env", ".container.readinessProbe", ".pod.volumes[0].secret", ".pod.volumes[0].emptyDir", ".pod.initContainers[0].resources",
			".pod.sidecars[0].readinessProbe", ".pod.sidecars[0].ports", ".updateStrategy.minReadySeconds",
			".backup.unhealthyAfter", ".backup.deadlineSeconds", ".backup.schedules[0].retention.period", ".backup.schedules[0].retention.count",
			".backup.resources", ".helpers.resources", ".backup.verification.deadlineSeconds", ".deletion.hookDeadlineSeconds",
		},
		[]string{
			".members[0].ordinal", ".members[0].volume.capacity", ".storage.requested", ".storage.capacity", ".observedGeneration",
			".conditions[0].lastTransitionTime", ".backup.nextScheduleTime", ".restore.totalBytes", ".hooks[0].stopped[0].exitCode",
		},
	},
	"databasebackups": {
		func(ns string, spec map[string]any) *unstructured.Unstructured { return request(ns, "first", spec) },
		[]string{".destination.url"},
		[]string{
			".replicas", ".bytes", ".storedBytes", ".streams[0].ordinal", ".streams[0].bytes", ".startTime", ".completionTime",
			".verification.startTime", ".conditions[0].observedGeneration",
		},
	},
	"databaseengines": {
		func(_ string, spec map[string]any) *unstructured.Unstructured {
			return declaration("test-decode", spec)
		},
		[]string{".container.port", ".container.runAsUser", ".container.terminationGracePeriodSeconds", ".container.readinessProbe.httpGet.port"},
		nil,
	},
}

// If the API server stores an object that Go cannot decode, no client can list that kind. Any user with the right to
// create one could stop the operator for all users.
func TestGoDecodesEveryObjectThatTheAPIServerAdmits(t *testing.T) {
	parallel(t)
	for _, definition := range definitions(t) {
		plural, root := definition.Spec.Names.Plural, definition.Spec.Versions[0].Schema.OpenAPIV3Schema
		spec, status := root.Properties["spec"], root.Properties["status"]
		ns, build := ownNamespace(t), plain(t, plural)
		into := func() any {
			empty, err := admin.Scheme().New(dbv1.GroupVersion.WithKind(definition.Spec.Names.Kind))
			if err != nil {
				t.Fatal(err)
			}
			return empty
		}
		t.Run(plural+"/spec", func(t *testing.T) {
			mustDecode(t, &spec, into, func(value map[string]any) (*unstructured.Unstructured, error) {
				object := build(ns, value)
				return object, admin.Create(t.Context(), object.DeepCopy(), client.DryRunAll)
			}, kinds[plural].spec...)
		})
		if definition.Spec.Scope == apiextensionsv1.ClusterScoped { // a stored object would be there for other tests
			continue
		}
		t.Run(plural+"/status", func(t *testing.T) {
			stored := build(ns, nil)
			create(t, stored)
			mustDecode(t, &status, into, func(value map[string]any) (*unstructured.Unstructured, error) {
				object := stored.DeepCopy()
				object.Object["status"] = value
				return object, admin.Status().Update(t.Context(), object.DeepCopy(), client.DryRunAll)
			}, append(kinds[plural].status, ".observedGeneration", ".conditions[0].lastTransitionTime")...)
		})
	}
}

// mustDecode sends extreme values of a schema and decodes the admitted objects. The test must attempt the given
// paths, so that it cannot pass without a check.
func mustDecode(t *testing.T, s *schema, into func() any, send func(map[string]any) (*unstructured.Unstructured, error), paths ...string) {
	t.Helper()
	all := extremes(s)
	field := func(path string) string { path, _, _ = strings.Cut(path, "="); return path }
	attempted, admitted := sample.OneIn(5, t.Name(), slices.Sorted(maps.Keys(all)), field), 0
	for _, path := range attempted {
		object, err := send(all[path].(map[string]any))
		if err != nil {
			continue
		}
		admitted++
		if err := decode(object, into()); err != nil {
			t.Errorf("the API server admits %s, but %v", path, err)
		}
	}
	for _, path := range paths {
		if !slices.ContainsFunc(attempted, func(p string) bool { return strings.HasPrefix(p, path) }) {
			t.Errorf("the test attempted no value at %s", path)
		}
	}
	if admitted == 0 {
		t.Error("the API server admitted no value, so the test checks nothing")
	}
	t.Logf("%d of %d values attempted, DBC_SEED=%d, %d admitted", len(attempted), len(all), sample.Seed(), admitted)
}

func decode(object *unstructured.Unstructured, into any) error {
	text, err := json.Marshal(object.Object)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// extremes returns values of a schema with one extreme leaf each, by the path of the leaf.
func extremes(s *schema) map[string]any {
	all := map[string]any{}
	switch {
	case s.XIntOrString:
		for _, value := range []any{int64(math.MaxInt32 + 1), int64(math.MaxInt64), int64(-1), "1e99", "1e999999", "1e99999999999999999999", "100u", "1e1.5", ".5", "+1", "x"} {
			all[label(value)] = value
		}
	case s.Type == "integer":
		for _, value := range []any{int64(math.MaxInt32 + 1), int64(math.MinInt32 - 1), int64(math.MaxInt64), 1e19, -1e19, float64(math.MaxInt64)} {
			all[label(value)] = value
		}
	case s.Type == "string" && s.Format == "date-time":
		for _, value := range []any{
			"", "now", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01t00:00:00z", "2026-01-01 00:00:00Z", "2026-02-31T00:00:00Z", "2026-01-01T24:00:00Z",
			"2026-01-01T00:00:60Z", "2026-01-01T00:00:00+99:99", "2026-01-01T00:00:00.1234567890123456789Z", "2026-01-01T00:00:00,5Z", "0000-01-01T00:00:00Z", "2026-01-01T00:00:00Z",
		} {
			all[label(value)] = value
		}
	case s.Type == "string" && s.Format == "" && len(s.Enum) == 0:
		// A duration is a string, too, and the schema does not distinguish it from other strings.
		for _, value := range []any{"", "x", "1d", "-1h", "1e3h", "9999999h", "999999h999999m999999s", "1h1h", ".h", "1.h", "1h30", "１h", "26h0m0.5s"} {
			all[label(value)] = value
		}
	case s.Type == "array":
		for path, value := range extremes(s.Items.Schema) {
			all["[0]"+path] = []any{value}
		}
	case s.AdditionalProperties != nil:
		for path, value := range extremes(s.AdditionalProperties.Schema) {
			all[".cpu"+path] = map[string]any{"cpu": value}
		}
	case s.Type == "object":
		for name, property := range s.Properties {
			for path, value := range extremes(&property) {
				object := required(s)
				object[name] = value
				all["."+name+path] = object
			}
		}
	}
	return all
}

func label(value any) string {
	text, _ := json.Marshal(value)
	return "=" + string(text)
}

// plains are values of fields that CEL rules restrict.
var plains = map[string]string{"url": "s3://backups", "schedule": "@daily"}

// required returns plain values of the required fields.
func required(s *schema) map[string]any {
	object := map[string]any{}
	for _, name := range s.Required {
		property := s.Properties[name]
		if object[name] = plainValue(&property); plains[name] != "" {
			object[name] = plains[name]
		}
		if name == "url" { // a bucket needs credentials
			object["credentials"] = "WorkloadIdentity"
		}
	}
	return object
}

func plainValue(s *schema) any {
	switch {
	case len(s.Enum) > 0:
		var value any
		_ = json.Unmarshal(s.Enum[0].Raw, &value)
		return value
	case s.XIntOrString, s.Type == "integer":
		return int64(1)
	case s.Type == "boolean":
		return true
	case s.Type == "array":
		return []any{plainValue(s.Items.Schema)}
	case s.Type == "object":
		return required(s)
	case s.Format == "date-time":
		return "2026-01-01T00:00:00Z"
	default:
		return "x"
	}
}
