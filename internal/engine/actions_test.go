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
