/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"reflect"
	"testing"
)

func TestEveryWayToMakeARequestCanFail(t *testing.T) {
	functions := reflect.ValueOf((&life{}).functions())
	for i := range functions.NumField() {
		if way := functions.Type().Field(i).Name; way != "SubResource" && functions.Field(i).IsNil() {
			t.Errorf("faults cannot hit %s", way)
		}
	}
}
