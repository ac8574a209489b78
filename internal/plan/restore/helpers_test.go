/*
SPDX-License-Identifier: Apache-2.0
*/

package restore_test

import (
	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// scenario is a change to an idle cluster of three members, and the resulting plan.
type scenario struct {
	change func(*dbv1.DatabaseCluster, *state.Observed)
	want   string
}
