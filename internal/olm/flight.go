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

// BlockedAtMost is the longest time for which an upgrade is blocked. The new operator continues longer restores, as
// after a crash.
const BlockedAtMost = 15 * time.Minute

// skew is the largest accepted difference between the clocks of two leaders.
const skew = time.Minute

// Reasons of Upgradeable.
const (
	ReasonNothingInFlight   = "NothingInFlight"
	ReasonRestoreInFlight   = "RestoreInFlight"
	ReasonBlockedLongEnough = "BlockedLongEnough"
)

// UpgradeVerdict is the condition to report to OLM.
type UpgradeVerdict struct {
	Status          metav1.ConditionStatus
	Reason, Message string
	// RequeueAfter is the delay after which time alone changes the verdict; 0 if it does not.
	RequeueAfter time.Duration
}

// Judge decides whether the operator can be upgraded now. The last reported condition records when the block began,
// and whether it reached its limit. So a restarted operator does not count from zero, and consecutive restores
// block an upgrade no longer than one restore.
func Judge(clusters []dbv1.DatabaseCluster, reported metav1.Condition, now time.Time) UpgradeVerdict {
	restored := restoring(clusters)
	since := now
	if reported.Status == metav1.ConditionFalse {
		since = reported.LastTransitionTime.Time
	}
	until := since.Add(BlockedAtMost)
	switch {
	case len(restored) == 0:
		return UpgradeVerdict{metav1.ConditionTrue, ReasonNothingInFlight, "no restore is running: the operator can be upgraded", 0}
	// A start in the future comes from another clock: such a block could last much too long.
	case reported.Reason == ReasonBlockedLongEnough, !now.Before(until), since.After(now.Add(skew)):
		return UpgradeVerdict{metav1.ConditionTrue, ReasonBlockedLongEnough, fmt.Sprintf(
			"the upgrade was blocked for %s, which is the limit; the new operator continues the restore into %s",
			BlockedAtMost, named(restored)), 0}
	default:
		return UpgradeVerdict{metav1.ConditionFalse, ReasonRestoreInFlight, fmt.Sprintf(
			"a restore into %s is running and blocks upgrades of the operator until %s at most",
			named(restored), until.UTC().Format(time.RFC3339)), until.Sub(now)}
	}
}

// restoring are the names of the clusters with a running restore, sorted, so that the message does not change.
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

// inFlight reports whether a cluster restores its initial backup, which an upgrade of the operator would disturb.
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
