/*
SPDX-License-Identifier: Apache-2.0
*/

package olm

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// BlockedAtMost is how long an upgrade is held back, whatever goes on. What takes longer goes on under the new operator,
// as it would after a crash of the old one.
const BlockedAtMost = 15 * time.Minute

// skew is by how much the clocks of two leaders may differ.
const skew = time.Minute

// Reasons of Upgradeable.
const (
	ReasonNothingInFlight   = "NothingInFlight"
	ReasonRestoreInFlight   = "RestoreInFlight"
	ReasonBlockedLongEnough = "BlockedLongEnough"
)

// Verdict is what OLM is to be told.
type Verdict struct {
	Status          metav1.ConditionStatus
	Reason, Message string
	// Again is after how long time alone changes it; 0 where it does not.
	Again time.Duration
}

// Judge says whether the operator may be upgraded now. Since when an upgrade is held back, and that it was held back
// long enough, is remembered by what OLM was told last: an operator that begins anew does not count from the beginning,
// and restores that follow each other hold an upgrade back no longer than one.
func Judge(clusters []dbv1.DatabaseCluster, said metav1.Condition, now time.Time) Verdict {
	restored := restoring(clusters)
	since := now
	if said.Status == metav1.ConditionFalse {
		since = said.LastTransitionTime.Time
	}
	until := since.Add(BlockedAtMost)
	switch {
	case len(restored) == 0:
		return Verdict{metav1.ConditionTrue, ReasonNothingInFlight, "no operation is in flight that an upgrade would disturb", 0}
	// What begins in the future was noted by another clock: it does not hold for who knows how long.
	case said.Reason == ReasonBlockedLongEnough, !now.Before(until), since.After(now.Add(skew)):
		return Verdict{metav1.ConditionTrue, ReasonBlockedLongEnough, fmt.Sprintf(
			"an upgrade has waited for restores for %s and waits no more; the one into %s goes on under the new operator",
			BlockedAtMost, named(restored)), 0}
	default:
		return Verdict{metav1.ConditionFalse, ReasonRestoreInFlight, fmt.Sprintf(
			"a backup is being restored into %s; an upgrade waits for that until %s at most",
			named(restored), until.UTC().Format(time.RFC3339)), until.Sub(now)}
	}
}

// restoring is the clusters into which a backup is being restored, by name: the same ones always give the same words.
func restoring(clusters []dbv1.DatabaseCluster) []string {
	var names []string
	for i := range clusters {
		if inFlight(&clusters[i]) {
			names = append(names, clusters[i].Namespace+"/"+clusters[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

// inFlight tells of the restore that a cluster starts with, in which an upgrade of the operator comes at a bad moment.
func inFlight(cluster *dbv1.DatabaseCluster) bool {
	restore := cluster.Status.Restore
	return restore != nil && restore.Phase == dbv1.RestoreRunning && cluster.DeletionTimestamp == nil
}

func named(clusters []string) string {
	if more := len(clusters) - 1; more > 0 {
		return fmt.Sprintf("DatabaseCluster %s and %d more", clusters[0], more)
	}
	return "DatabaseCluster " + clusters[0]
}
