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

// target is how many members there should be.
func target(cluster *dbv1.DatabaseCluster) int32 {
	if cluster.Spec.Hibernated {
		return 0
	}
	return cluster.Spec.Replicas
}

// replicasNow is what the StatefulSet is told now: members come all at once but go one by one. A member
// whose former volume is still on its way out has to wait: it would start with a volume that goes. So has one that
// would find a part of a backup.
func replicasNow(cluster *dbv1.DatabaseCluster, observed state.Observed) int32 {
	live, known := observed.Replicas()
	if !known {
		live = running(observed)
	}
	wanted := target(cluster)
	for _, v := range observed.Volumes {
		if (v.Stopping || v.Restoring != "") && v.Ordinal >= live {
			wanted = min(wanted, v.Ordinal)
		}
	}
	return max(live, wanted)
}

// running is how many members a StatefulSet has to have that takes over those that run.
func running(observed state.Observed) int32 {
	var needed int32
	for _, m := range observed.Members {
		if !m.Stopping {
			needed = m.Ordinal + 1
		}
	}
	return needed
}

// scaleIn takes members away one by one, the highest ordinal first.
func scaleIn(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	reason := dbv1.ReasonScaling
	if cluster.Spec.Hibernated {
		reason = dbv1.ReasonHibernating
	}
	return lower(p, observed, target(cluster), reason)
}

// lower brings the members down to a number, one by one: the next goes only when the last is gone.
func lower(p *Plan, observed state.Observed, to int32, reason string) bool {
	replicas, known := observed.Replicas()
	if !known {
		return false
	}
	for _, m := range slices.Backward(observed.Members) {
		if m.Ordinal >= max(replicas, to) {
			p.Reason, p.Why = reason, fmt.Sprintf("pod %s is stopping", m.Name)
			return true
		}
	}
	if replicas <= to {
		return false
	}
	p.Step = Scale{To: replicas - 1, Stop: reason == dbv1.ReasonStopping}
	p.Reason, p.Why = reason, fmt.Sprintf("going from %d to %d members, one at a time", replicas, to)
	return true
}

// absent waits where there is no StatefulSet to work with.
func absent(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	switch {
	case observed.StatefulSet == nil && held(p, cluster, observed):
	case observed.StatefulSet == nil:
		p.Reason, p.Why = dbv1.ReasonWaitingForMembers, "there is no StatefulSet"
	case ending(observed):
		p.Reason, p.Why = dbv1.ReasonWaitingForMembers, fmt.Sprintf("StatefulSet %s is being deleted; it is made anew when it is gone", observed.StatefulSet.Name)
	default:
		return false
	}
	return true
}

// ending tells whether the StatefulSet is on its way out.
func ending(observed state.Observed) bool {
	return observed.StatefulSet != nil && observed.StatefulSet.DeletionTimestamp != nil
}

// settling waits for Kubernetes to start what is missing.
func settling(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	if _, known := observed.Revision(); !known {
		p.Reason, p.Why = dbv1.ReasonWaitingForMembers, "the StatefulSet's controller has not seen the last change yet"
		return true
	}
	if claim, found := inTheWay(cluster, observed); found {
		p.Reason, p.Why = dbv1.ReasonWaitingForVolume, fmt.Sprintf("PersistentVolumeClaim %s is being deleted; its member starts when it is gone", claim)
		return true
	}
	if ready, wanted := observed.Ready(), target(cluster); ready < wanted {
		p.Reason, p.Why = dbv1.ReasonWaitingForMembers, observed.Counted(wanted)
		return true
	}
	for _, m := range observed.Members {
		if text := observed.Resizing(m); text != "" {
			p.Reason, p.Why = dbv1.ReasonWaitingForMembers, fmt.Sprintf("pod %s is being given its resources (%s)", m.Name, text)
			return true
		}
	}
	return false
}

// inTheWay is the claim that keeps the StatefulSet from having all its members.
func inTheWay(cluster *dbv1.DatabaseCluster, observed state.Observed) (claim string, found bool) {
	replicas, _ := observed.Replicas()
	for _, v := range observed.Volumes {
		if v.Stopping && v.Ordinal >= replicas && v.Ordinal < target(cluster) {
			return v.Claim, true
		}
	}
	return "", false
}
