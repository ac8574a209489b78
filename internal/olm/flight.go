/*
SPDX-License-Identifier: Apache-2.0
*/

package olm

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// HeldAtMost is how long one operation holds an upgrade back. One that takes longer goes on under the new operator,
// as it would after a crash of the old one.
const HeldAtMost = 15 * time.Minute

// Reasons of Upgradeable.
const (
	ReasonNothingInFlight = "NothingInFlight"
	ReasonRestoreInFlight = "RestoreInFlight"
	ReasonHeldLongEnough  = "HeldLongEnough"
)

// Verdict is what OLM is to be told.
type Verdict struct {
	Status          metav1.ConditionStatus
	Reason, Message string
	// Again is after how long time alone changes it; 0 where it does not.
	Again time.Duration
}

// flight is an operation on a cluster in which an upgrade of the operator comes at a bad moment.
type flight struct {
	cluster string
	since   time.Time
}

func (f flight) until() time.Time { return f.since.Add(HeldAtMost) }

// Judge says whether the operator may be upgraded now. What goes on and since when, the clusters' statuses tell: an
// operator that begins anew does not count from the beginning.
func Judge(clusters []dbv1.DatabaseCluster, now time.Time) Verdict {
	var held, over []flight
	for i := range clusters {
		f, flies := inFlight(&clusters[i])
		switch {
		case !flies:
		// One that begins in the future was noted by another clock: it does not hold for who knows how long.
		case f.since.After(now), !now.Before(f.until()):
			over = append(over, f)
		default:
			held = append(held, f)
		}
	}
	switch {
	case len(held) > 0:
		first := slices.MinFunc(held, earlier)
		last := slices.MaxFunc(held, earlier)
		return Verdict{metav1.ConditionFalse, ReasonRestoreInFlight, fmt.Sprintf(
			"a backup is being restored into %s; an upgrade waits for that until %s at most",
			named(last, held), last.until().UTC().Format(time.RFC3339)), first.until().Sub(now)}
	case len(over) > 0:
		return Verdict{metav1.ConditionTrue, ReasonHeldLongEnough, fmt.Sprintf(
			"a backup is being restored into %s for longer than %s; an upgrade waits no more, and the restore goes on under the new operator",
			named(slices.MinFunc(over, earlier), over), HeldAtMost), 0}
	default:
		return Verdict{metav1.ConditionTrue, ReasonNothingInFlight, "no operation is in flight that an upgrade would disturb", 0}
	}
}

// earlier orders by time, and of one moment by name: the same clusters always give the same words.
func earlier(a, b flight) int {
	return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.cluster, b.cluster))
}

func named(one flight, all []flight) string {
	if more := len(all) - 1; more > 0 {
		return fmt.Sprintf("DatabaseCluster %s and %d more", one.cluster, more)
	}
	return "DatabaseCluster " + one.cluster
}

// inFlight is the restore that a cluster starts with. It began when the cluster last came out of standstill: a restore
// that failed and goes on after a human mended something is a new one.
func inFlight(cluster *dbv1.DatabaseCluster) (flight, bool) {
	restore := cluster.Status.Restore
	if restore == nil || restore.Phase != dbv1.RestoreRunning || cluster.DeletionTimestamp != nil {
		return flight{}, false
	}
	since := cluster.CreationTimestamp.Time
	for _, kind := range []string{dbv1.ConditionProgressing, dbv1.ConditionStalled} {
		if c := meta.FindStatusCondition(cluster.Status.Conditions, kind); c != nil && c.LastTransitionTime.After(since) {
			since = c.LastTransitionTime.Time
		}
	}
	return flight{cluster.Namespace + "/" + cluster.Name, since}, true
}
