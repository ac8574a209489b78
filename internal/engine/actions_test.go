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
	for field := range reflect.TypeFor[dbv1.EngineActions]().Fields() {
		var actions dbv1.EngineActions
		reflect.ValueOf(&actions).Elem().FieldByIndex(field.Index).Set(reflect.New(field.Type.Elem()))
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		var got []string
		for _, action := range Actions {
			if offered(actions, action) {
				got = append(got, action)
			}
		}
		if len(got) != 1 || got[0] != name {
			t.Errorf("DatabaseEngine.spec.actions.%s is %q, want %q: give it a command", name, got, name)
		}
	}
}
