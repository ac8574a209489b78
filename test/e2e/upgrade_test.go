//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"strings"
	"testing"
)

// The same database under the name that its next version would have.
var nextPostgresImage = newImage("postgresql", "localhost/postgresql:next", "NEXT_POSTGRES_IMG")

func TestAnotherImageReachesEveryMemberAndKeepsTheRows(t *testing.T) {
	w := withOrders(t)
	w.remember(3)
	next := w.needs(nextPostgresImage)
	w.patch(`{"image":"` + next + `"}`)
	w.settle()
	run := w.do("get", "pods", "-l", "app.kubernetes.io/component=database", "-o", "jsonpath={.items[*].spec.containers[0].image}")
	w.must(strings.Count(run, next) == 3, "the members run %s", run)
	w.must(w.answering(3) == 3, "not every member answers")
	w.recall(3)
}
