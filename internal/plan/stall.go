/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// stall is what waits for a human although the cluster as such may run.
func stall(cluster *dbv1.DatabaseCluster, observed state.Observed) *Stall {
	if taken := slices.DeleteFunc(slices.Clone(observed.Foreign), isLeaving); len(taken) > 0 {
		return &Stall{dbv1.ReasonNameConflict, nameConflict(taken)}
	}
	if kept := volumesKept(cluster, observed); kept != nil {
		return kept
	}
	if unfit := unfitStall(cluster, observed); unfit != nil {
		return unfit
	}
	if cut := halfRestored(cluster, observed); cut != nil {
		return cut
	}
	if failed := restoreStall(cluster, observed); failed != nil {
		return failed
	}
	return infeasible(cluster, observed)
}

// leaving waits for Kubernetes to remove what belonged to a former cluster of the same name.
func leaving(p *Plan, observed state.Observed) bool {
	i := slices.IndexFunc(observed.Foreign, isLeaving)
	if i < 0 {
		return false
	}
	p.Reason = dbv1.ReasonWaitingForFormer
	p.Why = fmt.Sprintf("%s %s of a former cluster of this name is being removed", observed.Foreign[i].Kind, observed.Foreign[i].Name)
	return true
}

func isLeaving(r state.Ref) bool { return r.Leaving }

func nameConflict(foreign []state.Ref) string {
	names := make([]string, 0, len(foreign))
	for _, f := range foreign {
		names = append(names, f.Kind+" "+f.Name)
	}
	return fmt.Sprintf("%s: not made for this cluster, so the operator leaves it alone; delete or rename it, or give the cluster another name",
		strings.Join(names, ", "))
}
