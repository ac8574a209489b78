/*
SPDX-License-Identifier: Apache-2.0
*/

package storage_test

import (
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// scenario is a change to an idle cluster of three members, and the resulting plan.
type scenario struct {
	change func(*dbv1.DatabaseCluster, *state.Observed)
	want   string
}

func decideEach(t *testing.T, scenarios map[string]scenario) {
	t.Helper()
	for name, s := range scenarios {
		t.Run(name, func(t *testing.T) { plans.DecideEach(t, s.change, s.want) })
	}
}
