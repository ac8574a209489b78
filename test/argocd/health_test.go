/*
SPDX-License-Identifier: Apache-2.0
*/

// Package argocd runs the health check of config/argocd the way Argo CD runs them.
package argocd

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/config/crd"
)

const folder = "../../config/argocd"

// healths are the statuses that Argo CD knows; a script that returns another one has the health Unknown.
var healths = []string{"Healthy", "Progressing", "Degraded", "Suspended", "Missing"}

// A story is an object as the API server stores it, and what Argo CD shows for it.
type story struct {
	Kind    string         `json:"kind"`
	Object  map[string]any `json:"object"`
	Health  string         `json:"health"`
	Message string         `json:"message"`
}

func stories(t *testing.T) map[string]story {
	t.Helper()
	content, err := os.ReadFile("testdata/stories.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]story{}
	if err := yaml.UnmarshalStrict(content, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEveryStateHasItsHealth(t *testing.T) {
	all := stories(t)
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			s.Object["kind"] = s.Kind
			health, message := run(t, s.Object)
			if health != s.Health || message != s.Message {
				t.Errorf("got %s %q, want %s %q", health, message, s.Health, s.Message)
			}
		})
	}
	if len(all) < 40 {
		t.Errorf("there are only %d stories", len(all))
	}
}

func TestConditionsOfOtherControllersDoNotChangeTheHealth(t *testing.T) {
	condition := func(kind, status string) map[string]any {
		return map[string]any{"type": kind, "status": status, "message": kind}
	}
	for kind, own := range map[string]string{"DatabaseEngine": "Accepted", "DatabaseCluster": "Ready"} {
		other := map[string]string{"Accepted": "Ready", "Ready": "Accepted"}[own]
		health, _ := run(t, map[string]any{
			"kind": kind, "metadata": map[string]any{},
			"status": map[string]any{"conditions": []any{condition(own, "True"), condition(other, "False")}},
		})
		if health != "Healthy" {
			t.Errorf("%s whose %s is False: %s", kind, other, health)
		}
	}
}

// The sample of a kind has the status of an object that matches its spec.
func TestTheSampleOfEveryKindIsHealthyWhileItsConditionsAreTrue(t *testing.T) {
	for _, kind := range kinds(t) {
		text, err := os.ReadFile("../../config/samples/database_v1alpha1_" + strings.ToLower(kind) + ".yaml")
		if err != nil {
			t.Error(err)
			continue
		}
		var object map[string]any
		if err := yaml.Unmarshal(text, &object); err != nil {
			t.Fatal(err)
		}
		if health, message := run(t, object); health != "Healthy" {
			t.Errorf("the sample of %s is %s: %s", kind, health, message)
		}
		for _, c := range conditions(object) {
			c["status"] = "False"
		}
		if health, message := run(t, object); health == "Healthy" {
			t.Errorf("the sample of %s is Healthy without a true condition: %s", kind, message)
		}
	}
}

// Ready has the reason and the message of the condition that explains why the cluster is not ready, as the operator sets it.
func TestReadyOfEveryStoryQuotesACondition(t *testing.T) {
	quoted := 0
	for name, s := range stories(t) {
		cluster := &dbv1.DatabaseCluster{}
		if s.Kind != "DatabaseCluster" || runtime.DefaultUnstructuredConverter.FromUnstructured(s.Object, cluster) != nil {
			continue
		}
		ready := meta.FindStatusCondition(cluster.Status.Conditions, dbv1.ConditionReady)
		if ready == nil || ready.Status != metav1.ConditionFalse {
			continue
		}
		quoted++
		if !slices.ContainsFunc(cluster.Status.Conditions, func(c metav1.Condition) bool {
			return c.Type != dbv1.ConditionReady && c.Reason == ready.Reason && strings.HasSuffix(ready.Message, ": "+c.Message)
		}) {
			t.Errorf("%s: no condition is like Ready: %s %q", name, ready.Reason, ready.Message)
		}
	}
	if quoted < 5 {
		t.Errorf("only %d stories have a cluster that is not ready", quoted)
	}
}

// An object may have any part of its status, as when an older operator wrote it: the script never fails for that.
func TestNoPartOfAStatusIsRequired(t *testing.T) {
	for _, object := range []map[string]any{
		{"metadata": map[string]any{}},
		{"metadata": map[string]any{"generation": int64(1)}, "status": map[string]any{}},
		{"metadata": map[string]any{"generation": int64(1)}, "status": map[string]any{"conditions": []any{}}},
		{"metadata": map[string]any{"deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": map[string]any{"conditions": []any{}}},
	} {
		if health, _ := run(t, object); health != "Progressing" {
			t.Errorf("%v is %s, want Progressing", object, health)
		}
	}
}

// The stories use conditions and reasons that exist, so that a renamed one fails here.
func TestStoriesAndTheScriptNameConditionsAndReasonsOfTheAPI(t *testing.T) {
	source, err := os.ReadFile("../../api/v1alpha1/conditions.go")
	if err != nil {
		t.Fatal(err)
	}
	known := func(word string) bool { return strings.Contains(string(source), `= "`+word+`"`) }
	for name, s := range stories(t) {
		for _, c := range conditions(s.Object) {
			for _, field := range []string{"type", "reason"} {
				if word, _ := c[field].(string); !known(word) {
					t.Errorf("%s: the API has no %s %q", name, field, word)
				}
			}
		}
	}
	for _, word := range []string{
		dbv1.ConditionReady, dbv1.ConditionAvailable, dbv1.ConditionProgressing, dbv1.ConditionDegraded, dbv1.ConditionStalled,
		dbv1.ConditionPaused, dbv1.ConditionHibernated, dbv1.ConditionBackupHealthy, dbv1.ConditionBackupVerified,
		dbv1.ConditionProtectionEnforced, dbv1.ConditionDeletionBlocked,
		dbv1.ConditionVerified, dbv1.ConditionAccepted, dbv1.ReasonRolloutPaused, dbv1.ReasonWaitingForUser, dbv1.ReasonNotProtected,
	} {
		if !strings.Contains(script(t), word) {
			t.Errorf("the script does not name %s", word)
		}
	}
}

func TestTheConfigMapHasTheScriptForEveryKind(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(folder, "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var kustomization struct {
		ConfigMapGenerator []struct {
			Name  string   `json:"name"`
			Files []string `json:"files"`
		} `json:"configMapGenerator"`
	}
	if err := yaml.Unmarshal(content, &kustomization); err != nil {
		t.Fatal(err)
	}
	if len(kustomization.ConfigMapGenerator) != 1 || kustomization.ConfigMapGenerator[0].Name != "argocd-cm" {
		t.Fatalf("the ConfigMap is not argocd-cm alone: %+v", kustomization.ConfigMapGenerator)
	}
	var want []string
	for _, kind := range kinds(t) {
		want = append(want, "resource.customizations.health."+dbv1.GroupVersion.Group+"_"+kind+"=health.lua")
	}
	got := slices.Sorted(slices.Values(kustomization.ConfigMapGenerator[0].Files))
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("the ConfigMap has %v, want %v", got, want)
	}
}

// kinds are the API kinds.
func kinds(t *testing.T) []string {
	t.Helper()
	definitions, err := crd.Definitions()
	if err != nil || len(definitions) == 0 {
		t.Fatalf("%d CRDs: %v", len(definitions), err)
	}
	var all []string
	for _, definition := range definitions {
		all = append(all, definition.Spec.Names.Kind)
	}
	return all
}

func script(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "health.lua"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// run gives the script what Argo CD gives one: the object as obj, the libraries base, package and table, one second.
func run(t *testing.T, object map[string]any) (health, message string) {
	t.Helper()
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("obj", value(state, object))
	if err := state.DoString(script(t)); err != nil {
		t.Fatal(err)
	}
	result, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("the script returned %s, want a table", state.Get(-1).Type())
	}
	health, message = lua.LVAsString(result.RawGetString("status")), lua.LVAsString(result.RawGetString("message"))
	if !slices.Contains(healths, health) {
		t.Errorf("Argo CD knows no health %q", health)
	}
	return health, message
}

// value is a decoded object as a value of Lua.
func value(state *lua.LState, of any) lua.LValue {
	switch of := of.(type) {
	case bool:
		return lua.LBool(of)
	case int64:
		return lua.LNumber(of)
	case float64:
		return lua.LNumber(of)
	case string:
		return lua.LString(of)
	case []any:
		table := state.NewTable()
		for _, item := range of {
			table.Append(value(state, item))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for _, key := range slices.Sorted(maps.Keys(of)) {
			table.RawSetString(key, value(state, of[key]))
		}
		return table
	default:
		return lua.LNil
	}
}

func conditions(object map[string]any) []map[string]any {
	status, _ := object["status"].(map[string]any)
	list, _ := status["conditions"].([]any)
	var all []map[string]any
	for _, c := range list {
		if condition, is := c.(map[string]any); is {
			all = append(all, condition)
		}
	}
	return all
}
