/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"errors"
	"fmt"
	"testing"
)

func TestOnlySomeErrorsOfAPassConcernTheWholeObject(t *testing.T) {
	core, aside, decided := errors.New("a member"), OptionalError{errors.New("a PodMonitor")}, RefusedDecisionError{errors.New("a growth")}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"none":             {nil, "<nil> <nil> <nil>"},
		"one of a member":  {core, "a member <nil> <nil>"},
		"one of an object": {errors.Join(aside), "<nil> a PodMonitor <nil>"},
		"both":             {errors.Join(core, aside), "a member a PodMonitor <nil>"},
		"several":          {errors.Join(errors.Join(core, core), errors.Join(aside, aside)), "a member\na member a PodMonitor\na PodMonitor <nil>"},
		"a decision":       {errors.Join(core, errors.Join(decided, decided), aside), "a member a PodMonitor a growth\na growth"},
	} {
		is := Split(c.err)
		if got := fmt.Sprint(is.Required, is.Optional, is.RefusedDecision); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
