/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// deletion goes through the hooks, stops the members one by one, then lets the cluster go. It needs
// neither a valid spec nor a running member, and makes nothing but the hooks' Jobs.
func deletion(cluster *dbv1.DatabaseCluster, observed state.Observed) Plan {
	p := Plan{Labels: labels(cluster, observed), Release: releases(cluster, observed), Hooks: cluster.Status.Hooks}
	switch {
	case !slices.Contains(cluster.Finalizers, dbv1.Finalizer):
		p.Reason, p.Why = dbv1.ReasonDeleting, "the operator has nothing left to do"
	case protected(&p, cluster):
	case labeling(&p):
		p.Reason = dbv1.ReasonDeleting
	case stopRestore(&p, cluster, observed):
	case runHooks(&p, cluster, observed), stop(&p, cluster, observed), reporting(&p, cluster), removeVolumes(&p, cluster, observed):
	default:
		finish(&p, cluster, observed)
	}
	p.HooksTurn = !slices.EqualFunc(p.Hooks, cluster.Status.Hooks, samePhase)
	p.Again = sooner(p.Again, again(p, cluster, observed))
	return p
}

// stopOrphans stops, one by one, members that nobody else would: those that run without a StatefulSet, as
// while it is made anew. Where somebody deleted it, Kubernetes is about to stop them. Where it has become somebody else's,
// as after a deletion that leaves orphans, they are left to that.
func stopOrphans(p *Plan, observed state.Observed) bool {
	if observed.StatefulSet != nil {
		return false
	}
	p.Reason = dbv1.ReasonStopping
	for _, m := range slices.Backward(observed.Members) {
		switch {
		case m.Stopping:
			p.Why = fmt.Sprintf("pod %s is stopping", m.Name)
			return true
		case m.Owner == "":
			p.Step, p.Why = StopMember{m}, fmt.Sprintf("stopping pod %s, which has no StatefulSet", m.Name)
			return true
		case !slices.ContainsFunc(observed.Foreign, isStatefulSet):
			p.Why = fmt.Sprintf("waiting for Kubernetes to stop pod %s, whose StatefulSet is gone", m.Name)
			return true
		}
	}
	return false
}

func isStatefulSet(r state.Ref) bool { return r.Kind == "StatefulSet" }
