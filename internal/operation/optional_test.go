/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"errors"
	"fmt"
	"testing"
)

func TestTheErrorsOfOptionalOperationsAreSplitFromTheOthers(t *testing.T) {
	core, aside := errors.New("a member"), OptionalError{errors.New("a PodMonitor")}
	for name, c := range map[string]struct {
		err                error
		required, optional string
	}{
		"none":             {nil, "<nil>", "<nil>"},
		"one of a member":  {core, "a member", "<nil>"},
		"one of an object": {errors.Join(aside), "<nil>", "a PodMonitor"},
		"both":             {errors.Join(core, aside), "a member", "a PodMonitor"},
		"several":          {errors.Join(errors.Join(core, core), errors.Join(aside, aside)), "a member\na member", "a PodMonitor\na PodMonitor"},
	} {
		required, optional := Split(c.err)
		if fmt.Sprint(required) != c.required || fmt.Sprint(optional) != c.optional {
			t.Errorf("%s: %v and %v", name, required, optional)
		}
	}
}
