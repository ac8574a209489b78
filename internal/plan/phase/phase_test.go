/*
SPDX-License-Identifier: Apache-2.0
*/

package phase

import (
	"testing"

	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

func TestTheFirstPhaseThatWaitsDecidesForThePass(t *testing.T) {
	say := func(reason string) func(*situation.Situation) Outcome {
		return func(*situation.Situation) Outcome { return Wait(reason, "because") }
	}
	over := func(*situation.Situation) Outcome { return Over }
	all := []Phase{{"over", over}, {"second", say("Second")}, {"third", say("Third")}}
	if got := First(all, nil); got.Reason != "Second" {
		t.Errorf("got %+v", got)
	}
	if got := First(all[:1], nil); got.Waits() {
		t.Errorf("got %+v", got)
	}
}
