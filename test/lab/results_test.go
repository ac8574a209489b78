/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"strings"
	"testing"
)

func TestTheTableHasSumsOfRowsAndMaximaOfGaps(t *testing.T) {
	run := func(operator string, gap float64, lost int) Result {
		return Result{Fault: "kill", Synchronous: "off", Operator: operator, Recovered: gap + 1, Ways: map[string]Seen{
			"service": {Acknowledged: 10, Lost: lost, LongestGap: gap}, "hosts": {Acknowledged: 5, LongestGap: gap / 2},
		}}
	}
	table := Markdown([]Result{run("on", 2, 1), run("paused", 1, 0), run("on", 4, 2)})
	for _, line := range []string{
		"| kill | off | on | 2 | 30 | 3 | 4.0 / 2.0 | 0.0 | 5 | 0 |\n",
		"| kill | off | paused | 1 | 15 | 0 | 1.0 / 0.5 | 0.0 | 2 | 0 |\n",
	} {
		if !strings.Contains(table, line) {
			t.Errorf("%s\nlacks %s", table, line)
		}
	}
}
