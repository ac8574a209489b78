//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// declaration is a DatabaseEngine as an administrator writes it.
func declaration(name string, spec fields) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: fields{"spec": with(fields{"topology": "Independent"}, spec)}}
	object.SetGroupVersionKind(dbv1.GroupVersion.WithKind("DatabaseEngine"))
	object.SetName(name)
	return object
}

func container(name string, value any) fields { return fields{"container": fields{name: value}} }

func parameter(changed fields) fields {
	return fields{"parameters": list(with(fields{"name": "work_mem"}, changed))}
}

func scripts(all ...string) fields {
	texts := fields{}
	for i := 0; i < len(all); i += 2 {
		texts[all[i]] = all[i+1]
	}
	return fields{"scripts": texts}
}

// check is an engine's action check with these fields.
func check(given fields) fields {
	all := fields{"command": list("a")}
	for name, value := range given {
		all[name] = value
		if value == nil {
			delete(all, name)
		}
	}
	return fields{"actions": fields{"check": all}}
}

func TestTheAPIServerRefusesBadDatabaseEnginesWithASentence(t *testing.T) {
	parallel(t)
	const (
		badScript   = "spec.scripts: a name must have 1 to 48 letters, digits, '-', '_' or '.', and begin and end with a letter or digit"
		badVariable = "spec.container.env[].name must have letters, digits and '_' only, must not begin with a digit, nor with 'DBC_', which is the operator's"
		badPath     = "spec.container.dataPath must be an absolute path without ':' or '..'"
		badDefault  = "spec.parameters[].default must be a value that pattern or enum takes, or empty"
	)
	cases := map[string]struct {
		name  string
		spec  fields
		wants string
	}{
		"a name of 64":                   {name: strings.Repeat("a", 64), wants: "metadata.name must be at most 63 characters long"},
		"no topology":                    {spec: fields{"topology": nil}, wants: "spec.topology: Required value"},
		"a topology that is to come":     {spec: fields{"topology": "Consensus"}, wants: `spec.topology: Unsupported value: "Consensus": supported values: "Independent"`},
		"port zero":                      {spec: container("port", int64(0)), wants: "spec.container.port in body should be greater than or equal to 1"},
		"a port too high":                {spec: container("port", int64(65536)), wants: "spec.container.port in body should be less than or equal to 65535"},
		"a relative data path":           {spec: container("dataPath", "data"), wants: badPath},
		"a data path that climbs":        {spec: container("dataPath", "/a/../b"), wants: badPath},
		"root":                           {spec: container("runAsUser", int64(0)), wants: "spec.container.runAsUser in body should be greater than or equal to 1"},
		"a negative grace period":        {spec: container("terminationGracePeriodSeconds", int64(-1)), wants: "spec.container.terminationGracePeriodSeconds in body should be greater than or equal to 0"},
		"a grace period over a day":      {spec: container("terminationGracePeriodSeconds", int64(86401)), wants: "spec.container.terminationGracePeriodSeconds in body should be less than or equal to 86400"},
		"a variable of ours":             {spec: container("env", list(fields{"name": "DBC_CLUSTER"})), wants: badVariable},
		"a variable with a dash":         {spec: container("env", list(fields{"name": "a-b"})), wants: badVariable},
		"two variables of one name":      {spec: container("env", list(fields{"name": "A"}, fields{"name": "A"})), wants: "spec.container.env[1]: Duplicate value"},
		"a script with a slash":          {spec: scripts("a/b", "x"), wants: badScript},
		"a script that ends in a dot":    {spec: scripts("a.", "x"), wants: badScript},
		"a script's name of 49":          {spec: scripts(strings.Repeat("a", 49), "x"), wants: badScript},
		"an empty script":                {spec: scripts("a", ""), wants: "spec.scripts.a in body should be at least 1 chars long"},
		"scripts that no pod can carry":  {spec: scripts("a", strings.Repeat("x", 40000), "b", strings.Repeat("x", 40000)), wants: "spec.scripts must have at most 65536 characters in all, because pods carry them as annotations"},
		"a key that cannot be":           {spec: fields{"secretKeys": list("a/b")}, wants: "spec.secretKeys[0] in body should match"},
		"a key twice":                    {spec: fields{"secretKeys": list("a", "a")}, wants: "spec.secretKeys[1]: Duplicate value"},
		"a parameter without a name":     {spec: parameter(fields{"name": nil}), wants: "spec.parameters[0].name: Required value"},
		"a parameter with a capital":     {spec: parameter(fields{"name": "workMem"}), wants: "spec.parameters[0].name in body should match"},
		"a parameter twice":              {spec: fields{"parameters": list(fields{"name": "a"}, fields{"name": "a"})}, wants: "spec.parameters[1]: Duplicate value"},
		"two parameters of one variable": {spec: fields{"parameters": list(fields{"name": "a-b"}, fields{"name": "a_b"})}, wants: "spec.parameters: two names that differ only in '-', '_' and '.' would be the same environment variable"},
		"a pattern and an enum":          {spec: parameter(fields{"pattern": "x", "enum": list("x")}), wants: "spec.parameters[]: give pattern or enum, not both"},
		"a pattern that is none":         {spec: parameter(fields{"pattern": "(x"}), wants: "missing closing )"},
		"a default that does not match":  {spec: parameter(fields{"pattern": "[0-9]+MB", "default": "4MBx"}), wants: badDefault},
		"a default that is no choice":    {spec: parameter(fields{"enum": list("a", "b"), "default": "c"}), wants: badDefault},
		"a choice twice":                 {spec: parameter(fields{"enum": list("a", "a")}), wants: "spec.parameters[0].enum[1]: Duplicate value"},
		"an action without a command":    {spec: fields{"actions": fields{"backup": fields{}}}, wants: "spec.actions.backup.command: Required value"},
		"an action of nothing":           {spec: fields{"actions": fields{"restore": fields{"command": []any{}}}}, wants: "spec.actions.restore.command in body should have at least 1 items"},
		"a check without a command":      {spec: check(fields{"command": nil}), wants: "spec.actions.check.command: Required value"},
		"a fact without a comparison":    {spec: check(fields{"facts": list(fields{"name": "rows"})}), wants: "spec.actions.check.facts[0].compare: Required value"},
		"an unknown comparison":          {spec: check(fields{"facts": list(fields{"name": "rows", "compare": "Less"})}), wants: `spec.actions.check.facts[0].compare: Unsupported value: "Less": supported values: "Equal", "AtLeast"`},
		"a fact with a dot":              {spec: check(fields{"facts": list(fields{"name": "a.b", "compare": "Equal"})}), wants: "spec.actions.check.facts[0].name in body should match"},
		"a fact twice":                   {spec: check(fields{"facts": list(fields{"name": "a", "compare": "Equal"}, fields{"name": "a", "compare": "AtLeast"})}), wants: "spec.actions.check.facts[1]: Duplicate value"},
		"seventeen scripts": {spec: fields{"scripts": func() fields {
			all := fields{}
			for i := range 17 {
				all[nameOf(i)] = "x"
			}
			return all
		}()}, wants: "spec.scripts: Too many: 17: must have at most 16 items"},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			name := c.name
			if name == "" {
				name = "test"
			}
			mustRefuse(t, admin.Create(t.Context(), declaration(name, c.spec), client.DryRunAll), c.wants)
		})
	}
}

func TestTheAPIServerTakesDatabaseEnginesThatAreJustWithinTheBounds(t *testing.T) {
	parallel(t)
	for what, spec := range map[string]fields{
		"the smallest": nil,
		"a name of 63": nil,
		"sixty-four parameters": {"parameters": many(64, func(i int) any {
			return fields{"name": "x" + nameOf(i%60) + string(rune('a'+i%26)) + string(rune('a'+i/26)), "pattern": "[a-z]*", "default": "x"}
		})},
		"one long script":         scripts("a", strings.Repeat("x", 65536)),
		"a default that matches":  parameter(fields{"pattern": "[0-9]+MB|", "default": "4MB"}),
		"a default of the choice": parameter(fields{"enum": list("a", "b"), "default": "b"}),
		"no default, for not set": parameter(fields{"pattern": "[0-9]+MB", "default": ""}),
		"every action":            {"actions": fields{"probe": fields{"command": list("a")}, "backup": fields{"command": list("a")}, "restore": fields{"command": list("a")}}},
		"a check of twenty facts": check(fields{"facts": many(20, func(i int) any { return fields{"name": "f" + nameOf(i), "compare": "Equal"} })}),
		"a whole container": {"container": fields{
			"command": list("a"), "args": list("$(DBC_PARAM_A)"), "env": list(fields{"name": "A", "value": "b"}), "port": int64(65535), "dataPath": "/data",
			"runAsUser": int64(2147483647), "terminationGracePeriodSeconds": int64(86400), "probes": fields{"readiness": fields{"exec": fields{"command": list("a")}}},
		}},
	} {
		t.Run(what, func(t *testing.T) {
			name := "test"
			if what == "a name of 63" {
				name = strings.Repeat("a", 63)
			}
			if err := admin.Create(t.Context(), declaration(name, spec), client.DryRunAll); err != nil {
				t.Error(err)
			}
		})
	}
}

// What members run by does not change under them.
func TestADatabaseEngineCannotBeChanged(t *testing.T) {
	parallel(t)
	engine := declaration("test-immutable", parameter(nil))
	createFor(t, engine)
	// From then on the operator leaves it alone, and no update is a conflict.
	awaitAccepted(t, &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: "test-immutable"}}, "True", dbv1.ReasonAccepted)
	for what, spec := range map[string]fields{
		"a parameter more": {"parameters": list(fields{"name": "work_mem"}, fields{"name": "x"})},
		"a description":    with(parameter(nil), fields{"description": "x"}),
		"nothing left":     nil,
	} {
		t.Run(what, func(t *testing.T) {
			object := read(t, engine.DeepCopy())
			object.Object["spec"] = declaration("", spec).Object["spec"]
			mustRefuse(t, admin.Update(t.Context(), object, client.DryRunAll),
				"spec cannot be changed: create a DatabaseEngine of another name, such as the next version, and name it in the clusters' spec.engine")
		})
	}
	change(t, engine.DeepCopy(), func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"a": "b"}) })
	if err := admin.Update(t.Context(), read(t, engine), client.DryRunAll); err != nil {
		t.Error(err)
	}
}
