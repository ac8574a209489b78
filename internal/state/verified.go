/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Verified returns the backup with the latest verification, of those that satisfy a condition.
func (o Observed) Verified(holds func(Backup) bool) (last Backup, found bool) {
	started := func(a, b Backup) int { return a.Verification.Started.Compare(b.Verification.Started.Time) }
	return o.Last(started, func(b Backup) bool { return !b.Verification.Started.IsZero() && holds(b) })
}

// Past reports whether the last verification of a backup has no start time in the future, from a wrong clock.
func (o Observed) Past(b Backup) bool { return !b.Verification.Started.After(o.At) }

// LastVerified returns the backup with the latest verification that has ended. A verification with a start time in the future, from
// a wrong clock, counts only if there is no other.
func (o Observed) LastVerified() (last Backup, found bool) {
	ended := func(b Backup) bool { return b.Bad() || b.Verification.Phase == dbv1.VerificationSucceeded }
	if last, found = o.Verified(func(b Backup) bool { return ended(b) && o.Past(b) }); found {
		return last, true
	}
	return o.Verified(ended)
}

// Verifying reports whether a verification of any backup runs.
func (o Observed) Verifying() bool { return slices.ContainsFunc(o.Backups, Backup.Verifying) }

// Doubtful reports whether it is unknown if the existing backups can be restored: the last verification failed, or one has not
// ended yet. Nothing that an older backup needs is deleted until the next one succeeds.
func (o Observed) Doubtful() bool {
	last, found := o.LastVerified()
	return o.Verifying() || found && last.Bad()
}
