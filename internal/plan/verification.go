/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Verify asks for the restore of a backup into a throw-away copy.
type Verify struct {
	Backup state.Backup
	// Request is the value of the annotation that asks.
	Request string
}

func (v Verify) String() string {
	return fmt.Sprintf("verify DatabaseBackup %s (%s)", v.Backup.Name, v.Request)
}

// verify asks for a restore of the newest complete backup when it is time for one. The last try tells which times
// are done with, whoever asked for it. One at a time.
func (b *Backups) verify(cluster *dbv1.DatabaseCluster, observed state.Observed) {
	declared := cluster.Spec.Backup.Verify
	if declared == nil {
		return
	}
	times, err := readTimetable(declared.Cron, declared.TimeZone, observed.Zones)
	if err != nil {
		b.VerifyInvalid = fmt.Sprintf("spec.backup.verify proves no backup: %v", err)
		return
	}
	if !clockRuns(cluster, observed) {
		return
	}
	b.wake(times.next(observed.At))
	done := cluster.CreationTimestamp.Time
	if last, found := observed.Verified(past(observed)); found {
		done = later(done, last.Verification.Started.Time)
	}
	at, due := times.last(done, observed.At)
	newest, found := observed.Newest(state.Backup.Complete)
	request := at.UTC().Format(time.RFC3339)
	if due && found && !observed.Verifying() && newest.Asked != request {
		b.Verify = append(b.Verify, Verify{newest, request})
	}
}

// past holds for backups whose last verification has not begun in the future, by a clock that was wrong.
func past(observed state.Observed) func(state.Backup) bool {
	return func(b state.Backup) bool { return !b.Verification.Started.After(observed.At) }
}
