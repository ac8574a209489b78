/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"reflect"
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestEveryActionOfADeclarationIsOffered(t *testing.T) {
	fields := reflect.TypeFor[dbv1.EngineActions]()
	for field := range fields.Fields() {
		var actions dbv1.EngineActions
		reflect.ValueOf(&actions).Elem().FieldByIndex(field.Index).Set(reflect.New(field.Type.Elem()))
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		var got []string
		for _, o := range offers {
			if o.of(actions) != nil {
				got = append(got, o.name)
			}
		}
		if len(got) != 1 || got[0] != name {
			t.Errorf("DatabaseEngine.spec.actions.%s is %q in the table offers, want %q: correct internal/engine/actions.go", name, got, name)
		}
	}
	if len(offers) != fields.NumField() {
		t.Errorf("the table offers has %d actions, and DatabaseEngine.spec.actions has %d fields", len(offers), fields.NumField())
	}
}

func TestOnlyTheEngineOfABackupNamesTheFactThatIdentifiesItsDatabase(t *testing.T) {
	declared := &dbv1.DatabaseEngine{}
	declared.Name = "ledger-v1"
	if got := IdentityFact(declared, "ledger-v1"); got != "" {
		t.Errorf("an engine without a check names %q", got)
	}
	declared.Spec.Actions.Check = &dbv1.EngineCheck{Identity: "system"}
	for name, want := range map[string]string{"ledger-v1": "system", "ledger-v2": "", "": ""} {
		if got := IdentityFact(declared, name); got != want {
			t.Errorf("of engine %q it is %q, want %q", name, got, want)
		}
	}
	if got := RecordedIdentity(declared, "ledger-v1"); got != "" {
		t.Errorf("a fact that is not compared is recorded as %q, although it may differ after the backup", got)
	}
	declared.Spec.Actions.Check.Facts = []dbv1.EngineFact{{Name: "system", Compare: dbv1.CompareEqual}}
	if got := RecordedIdentity(declared, "ledger-v1"); got != "system" {
		t.Errorf("the recorded fact is %q", got)
	}
	if got := IdentityFact(nil, ""); got != "" {
		t.Errorf("no engine names %q", got)
	}
}
