/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// endedAt returns a complete backup of the cluster, which ended at a time of the day.
func endedAt(name string, hour int, change func(*dbv1.DatabaseBackup)) dbv1.DatabaseBackup {
	b := completed()
	b.Name, b.UID = name, types.UID(name)
	b.Status.Location, b.Status.ClusterUID, b.Status.Streams = "s3://b/"+name, "c", nil
	b.Status.CompletionTime = &metav1.Time{Time: moment.Truncate(24 * time.Hour).Add(time.Duration(hour) * time.Hour)}
	if change != nil {
		change(b)
	}
	return *b
}

func failedVerification(b *dbv1.DatabaseBackup) {
	b.Status.Verification = &dbv1.BackupVerification{Phase: dbv1.VerificationFailed}
}

func TestTheEarlierBackupToWhichABackupMayRefer(t *testing.T) {
	refers := func(to string) func(*dbv1.DatabaseBackup) {
		return func(b *dbv1.DatabaseBackup) { b.Status.Reuses = "s3://b/" + to }
	}
	for name, test := range map[string]struct {
		others []dbv1.DatabaseBackup
		want   string
	}{
		"none":     {nil, ""},
		"the last": {[]dbv1.DatabaseBackup{endedAt("one", 1, nil), endedAt("three", 3, nil), endedAt("two", 2, nil)}, "s3://b/three"},
		"not one that failed": {[]dbv1.DatabaseBackup{endedAt("one", 1, nil), endedAt("two", 2, func(b *dbv1.DatabaseBackup) {
			b.Status.Phase = dbv1.BackupFailed
		})}, "s3://b/one"},
		"not one that is being deleted": {[]dbv1.DatabaseBackup{endedAt("one", 1, func(b *dbv1.DatabaseBackup) {
			b.DeletionTimestamp = &metav1.Time{Time: moment}
		})}, ""},
		"not one of an earlier cluster": {[]dbv1.DatabaseBackup{endedAt("one", 1, func(b *dbv1.DatabaseBackup) { b.Status.ClusterUID = "d" })}, ""},
		"not one at another destination": {[]dbv1.DatabaseBackup{endedAt("one", 1, func(b *dbv1.DatabaseBackup) {
			b.Status.Destination.URL = "s3://other"
		})}, ""},
		"not one whose verification failed": {[]dbv1.DatabaseBackup{endedAt("one", 1, failedVerification)}, ""},
		"not one that refers to such a one": {[]dbv1.DatabaseBackup{
			endedAt("one", 1, failedVerification), endedAt("two", 2, refers("one")), endedAt("three", 3, refers("two")),
		}, ""},
		"one that was stored after it":     {[]dbv1.DatabaseBackup{endedAt("one", 1, failedVerification), endedAt("two", 2, nil)}, "s3://b/two"},
		"one that refers to a deleted one": {[]dbv1.DatabaseBackup{endedAt("two", 2, refers("one"))}, "s3://b/two"},
		"one that refers to itself":        {[]dbv1.DatabaseBackup{endedAt("two", 2, refers("two"))}, "s3://b/two"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := earlierBackup(completed().Status.Destination, "c", test.others); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// The earlier backup is recorded before the first Job, so that the Jobs of all members and their repetitions refer to the same one.
func TestABackupRecordsToWhichEarlierOneItsJobsRefer(t *testing.T) {
	observed := idleWorld()
	observed.Cluster.Spec.Backup.UnchangedData = dbv1.ReuseUnchanged
	observed.Earlier = EarlierOf(asked(), observed.Cluster, []dbv1.DatabaseBackup{*asked(), endedAt("one", 1, func(b *dbv1.DatabaseBackup) {
		b.Status.ClusterUID, b.Status.Destination = string(observed.Cluster.UID), observed.Cluster.Spec.Backup.Destination.DeepCopy()
	})})
	p := For(asked(), observed)
	if p.Status.Reuses != "s3://b/one" {
		t.Fatalf("status.reuses is %q: %s", p.Status.Reuses, text(p))
	}
	observed.Fence = "stopped"
	if p := For(asked(), observed); p.Status.Phase != dbv1.BackupRunning || p.Status.Reuses != "" {
		t.Errorf("the last backup of a cluster that is being deleted refers to %q: %s", p.Status.Reuses, text(p))
	}
	b := started()
	b.Status.Reuses = "s3://b/one"
	observed.Earlier = ""
	for _, test := range []struct {
		unchanged dbv1.UnchangedData
		want      bool
	}{{dbv1.ReuseUnchanged, true}, {dbv1.StoreUnchanged, false}, {"", false}} {
		observed.Cluster.Spec.Backup.UnchangedData = test.unchanged
		p := For(b, observed)
		job := does[operation.Create](p)
		if job == nil {
			t.Fatal(text(p))
		}
		content, err := json.Marshal(job.Objects)
		if err != nil || strings.Contains(string(content), `"--index","--reuse","s3://b/one"`) != test.want {
			t.Errorf("%q: %v, %s", test.unchanged, err, content)
		}
	}
}
