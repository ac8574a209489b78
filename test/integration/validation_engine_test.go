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

// check returns an engine's check action with these fields.
func check(given fields) fields {
	return fields{"actions": fields{"check": with(fields{"command": list("a")}, given)}}
}

func TestTheAPIServerRefusesInvalidDatabaseEnginesWithAMessage(t *testing.T) {
	parallel(t)
	const (
		badScript   = "spec.scripts: a name must have 1 to 48 letters, digits, '-', '_' or '.', and begin and end with a letter or digit"
		badVariable = "spec.container.env[].name must have letters, digits and '_' only, must not begin with a digit or with 'DBC_', which is reserved for the operator"
		badPath     = "spec.container.dataPath must be an absolute path without ':' or '..'"
		badDefault  = "spec.parameters[].default must match pattern or enum, or be empty"
	)
	eachIsRefused(t, "databaseengines", refusals{
		"no topology":                             {fields{"topology": nil}, "spec.topology: Required value"},
		"port zero":                               {container("port", int64(0)), "spec.container.port in body should be greater than or equal to 1"},
		"a port too high":                         {container("port", int64(65536)), "spec.container.port in body should be less than or equal to 65535"},
		"a relative data path":                    {container("dataPath", "data"), badPath},
		"a data path with ..":                     {container("dataPath", "/a/../b"), badPath},
		"root":                                    {container("runAsUser", int64(0)), "spec.container.runAsUser in body should be greater than or equal to 1"},
		"a negative grace period":                 {container("terminationGracePeriodSeconds", int64(-1)), "spec.container.terminationGracePeriodSeconds in body should be greater than or equal to 0"},
		"a grace period over a day":               {container("terminationGracePeriodSeconds", int64(86401)), "spec.container.terminationGracePeriodSeconds in body should be less than or equal to 86400"},
		"a variable of the operator":              {container("env", list(fields{"name": "DBC_CLUSTER"})), badVariable},
		"a variable with a dash":                  {container("env", list(fields{"name": "a-b"})), badVariable},
		"two variables of one name":               {container("env", list(fields{"name": "A"}, fields{"name": "A"})), "spec.container.env[1]: Duplicate value"},
		"a script with a slash":                   {scripts("a/b", "x"), badScript},
		"a script that ends in a dot":             {scripts("a.", "x"), badScript},
		"a script's name of 49":                   {scripts(strings.Repeat("a", 49), "x"), badScript},
		"an empty script":                         {scripts("a", ""), "spec.scripts.a in body should be at least 1 chars long"},
		"a script of members that does not exist": {container("scripts", list("start")), "spec.container.scripts has a name that is not in spec.scripts: correct the name, or add the script"},
		"no script of members":                    {container("scripts", []any{}), "spec.container.scripts in body should have at least 1 items"},
		"scripts over the limit of a pod":         {scripts("a", strings.Repeat("x", 65536), "b", strings.Repeat("x", 65536), "c", strings.Repeat("x", 65536), "d", "x"), "spec.scripts must have at most 196608 characters in all, because pods have them as annotations"},
		"an invalid key":                          {fields{"secretKeys": list(fields{"name": "a/b"})}, "spec.secretKeys[].name must have letters, digits, '-', '_' and '.' only"},
		"a key twice":                             {fields{"secretKeys": list(fields{"name": "a"}, fields{"name": "a"})}, "spec.secretKeys[1]: Duplicate value"},
		"a short generated value":                 {fields{"secretKeys": list(fields{"name": "a", "generate": fields{"length": int64(8)}})}, "spec.secretKeys[0].generate.length in body should be greater than or equal to 16"},
		"few characters":                          {fields{"secretKeys": list(fields{"name": "a", "generate": fields{"characters": "abc"}})}, "spec.secretKeys[].generate.characters must have 10 to 94 visible ASCII characters"},
		"an owner with a space":                   {fields{"bootstrap": fields{"owner": "a b"}}, "spec.bootstrap.owner must start with a letter or '_'"},
		"a connection without a type":             {fields{"connection": fields{}}, "spec.connection.type: Required value"},
		"an entry of the operator":                {fields{"connection": fields{"type": "a", "entries": fields{"host": "x"}}}, "must not be type, provider, host, port or ca.crt"},
		"a parameter without a name":              {parameter(fields{"name": nil}), "spec.parameters[0].name: Required value"},
		"a parameter with a capital":              {parameter(fields{"name": "workMem"}), "the name of a parameter must start with a lowercase letter and have lowercase letters, digits, '-', '_' and '.' only"},
		"a parameter twice":                       {fields{"parameters": list(fields{"name": "a"}, fields{"name": "a"})}, "spec.parameters[1]: Duplicate value"},
		"two parameters of one variable":          {fields{"parameters": list(fields{"name": "a-b"}, fields{"name": "a_b"})}, "spec.parameters: two names that differ only in '-', '_' and '.' would have the same environment variable"},
		"a pattern and an enum":                   {parameter(fields{"pattern": "x", "enum": list("x")}), "spec.parameters[]: set pattern or enum, not both"},
		"an invalid pattern":                      {parameter(fields{"pattern": "(x"}), "missing closing )"},
		"a default that does not match":           {parameter(fields{"pattern": "[0-9]+MB", "default": "4MBx"}), badDefault},
		"a default outside the enum":              {parameter(fields{"enum": list("a", "b"), "default": "c"}), badDefault},
		"a preview outside the enum":              {parameter(fields{"enum": list("a", "b"), "preview": "c"}), "spec.parameters[].preview must match pattern or enum, or be empty"},
		"a duplicate in the enum":                 {parameter(fields{"enum": list("a", "a")}), "spec.parameters[0].enum[1]: Duplicate value"},
		"an action without a command":             {fields{"actions": fields{"backup": fields{}}}, "spec.actions.backup.command: Required value"},
		"an action with an empty command":         {fields{"actions": fields{"restore": fields{"command": []any{}}}}, "spec.actions.restore.command in body should have at least 1 items"},
		"a check without a command":               {check(fields{"command": nil}), "spec.actions.check.command: Required value"},
		"a fact without a comparison":             {check(fields{"facts": list(fields{"name": "rows"})}), "spec.actions.check.facts[0].compare: Required value"},
		"an unknown comparison":                   {check(fields{"facts": list(fields{"name": "rows", "compare": "Less"})}), `spec.actions.check.facts[0].compare: Unsupported value: "Less": supported values: "Equal", "AtLeast"`},
		"a fact with a dot":                       {check(fields{"facts": list(fields{"name": "a.b", "compare": "Equal"})}), "the name of a fact must be a letter, then letters, digits, '_' and '-'"},
		"a fact twice":                            {check(fields{"facts": list(fields{"name": "a", "compare": "Equal"}, fields{"name": "a", "compare": "AtLeast"})}), "spec.actions.check.facts[1]: Duplicate value"},
		"sixty-five scripts": {fields{"scripts": func() fields {
			all := fields{}
			for i := range 65 {
				all[nameOf(i)] = "x"
			}
			return all
		}()}, "spec.scripts: Too many: 65: must have at most 64 items"},
	})
}

func TestTheAPIServerAcceptsDatabaseEnginesAtTheLimits(t *testing.T) {
	parallel(t)
	eachIsAccepted(t, "databaseengines", map[string]fields{
		"the smallest": nil,
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
			"runAsUser": int64(2147483647), "terminationGracePeriodSeconds": int64(86400), "readinessProbe": fields{"exec": fields{"command": list("a")}},
		}},
	})
}

// The engine of running members does not change.
func TestADatabaseEngineCannotBeChanged(t *testing.T) {
	parallel(t)
	engine := declaration("test-immutable", parameter(nil))
	createFor(t, engine)
	// From then on the operator does not write to it, so no update conflicts.
	awaitAccepted(t, &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: "test-immutable"}}, "True", dbv1.ReasonAccepted)
	for what, spec := range map[string]fields{
		"an extra parameter": {"parameters": list(fields{"name": "work_mem"}, fields{"name": "x"})},
		"a description":      with(parameter(nil), fields{"description": "x"}),
		"nothing left":       nil,
	} {
		t.Run(what, func(t *testing.T) {
			object := read(t, engine.DeepCopy())
			object.Object["spec"] = declaration("", spec).Object["spec"]
			mustAnswer(t, admin.Update(t.Context(), object, client.DryRunAll),
				"spec cannot be changed: create a DatabaseEngine with another name, for example the next version, and set it in spec.engine of the clusters")
		})
	}
	change(t, engine.DeepCopy(), func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"a": "b"}) })
	if err := admin.Update(t.Context(), read(t, engine), client.DryRunAll); err != nil {
		t.Error(err)
	}
}
