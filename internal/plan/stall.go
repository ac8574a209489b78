/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// stall is what waits for a human although the cluster as such may run.
func stall(cluster *dbv1.DatabaseCluster, observed state.Observed) *Stall {
	if len(observed.Foreign) > 0 {
		return &Stall{dbv1.ReasonNameConflict, nameConflict(observed.Foreign)}
	}
	if absent := absentReference(observed); absent != nil {
		return absent
	}
	return infeasible(cluster, observed)
}

func nameConflict(foreign []state.Ref) string {
	names := make([]string, 0, len(foreign))
	for _, f := range foreign {
		names = append(names, f.Kind+" "+f.Name)
	}
	return fmt.Sprintf("%s: not made for this cluster, so the operator leaves it alone; delete or rename it, or give the cluster another name",
		strings.Join(names, ", "))
}
