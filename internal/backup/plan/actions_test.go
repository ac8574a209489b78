/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"testing"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
)

func TestTheDeadlinesOfBackupsAreThoseOfTheCluster(t *testing.T) {
	set := &dbv1.DatabaseCluster{}
	set.Spec.Backup = &dbv1.ClusterBackup{DeadlineSeconds: 60, Verification: &dbv1.BackupVerificationSchedule{DeadlineSeconds: 90}}
	for name, c := range map[string]struct {
		kind  jobs.ActionKind
		gone  time.Duration
		given time.Duration
	}{
		"a backup":           {backupAction, 12 * time.Hour, time.Minute},
		"a verification":     {verificationAction, 12 * time.Hour, 90 * time.Second},
		"a deletion of data": {deletionAction, 7 * 24 * time.Hour, 7 * 24 * time.Hour},
	} {
		if gone, given := c.kind.Deadline(nil), c.kind.Deadline(set); gone != c.gone || given != c.given {
			t.Errorf("%s: %s without the cluster, %s with it", name, gone, given)
		}
	}
}

func TestALogIsReadWhileItMayHaveAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		job  jobs.Job
		want bool
	}{
		"a backup":                              {jobs.Job{Component: dbv1.ComponentBackup}, true},
		"a backup that cannot start":            {jobs.Job{Component: dbv1.ComponentBackup, Problem: "image pull failed"}, false},
		"a copy that has not started":           {jobs.Job{Component: dbv1.ComponentVerification}, false},
		"a copy whose other container is wrong": {jobs.Job{Component: dbv1.ComponentVerification, Started: true, Problem: "x"}, true},
		"a deletion of data":                    {jobs.Job{Component: dbv1.ComponentBackupDeletion, Started: true}, false},
	} {
		if got := WritesLog(c.job); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
