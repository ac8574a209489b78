/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"fmt"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// verify requests a restore of the newest complete backup when one is due. The last attempt records which times are done,
// regardless of who requested it. Only one verification runs at a time.
func (p *Plan) verify(cluster *dbv1.DatabaseCluster, observed state.Observed) operation.List {
	declared := cluster.Spec.Backup.Verification
	if declared == nil {
		return nil
	}
	times, err := readTimetable(declared.Schedule, declared.TimeZone, state.FactsOf[Facts](observed).Zones)
	if err != nil {
		p.VerifyInvalid = fmt.Sprintf("spec.backup.verification verifies no backup: %v", err)
		return nil
	}
	if !clockRuns(cluster, observed) {
		return nil
	}
	p.wake(times.next(observed.At))
	done := cluster.CreationTimestamp.Time
	if last, found := observed.Verified(observed.Past); found {
		done = later(done, last.Verification.Started.Time)
	}
	at, due := times.last(done, observed.At)
	newest, found := observed.Newest(state.Backup.Complete)
	request := at.UTC().Format(time.RFC3339)
	if due && found && !observed.Verifying() && newest.Asked != request {
		return operation.List{VerifyBackup(cluster, newest, request)}
	}
	return nil
}
