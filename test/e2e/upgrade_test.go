//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"strings"
	"testing"
)

// nextPostgresImage is the same database under the name of a next version.
var nextPostgresImage = newImage("postgresql", "localhost/postgresql:next", "NEXT_POSTGRES_IMG")

func TestAnotherImageReachesEveryMemberAndKeepsTheRows(t *testing.T) {
	w := withOrders(t)
	w.insertRows(3)
	next := w.needs(nextPostgresImage)
	w.patch(`{"image":"` + next + `"}`)
	w.awaitConverged()
	run := w.do("get", "pods", "-l", "app.kubernetes.io/component=database", "-o", "jsonpath={.items[*].spec.containers[0].image}")
	w.must(strings.Count(run, next) == 3, "the members run image %s", run)
	w.must(w.answering(3) == 3, "not every member answers")
	w.checkRows(3)
}
