/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/schedule"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// clockwork returns a Reconciler over a store.
func clockwork(s *server) *Reconciler {
	return &Reconciler{Base: kit.Base{Cached: s, Live: s, Writer: apply.Writer{Client: s, Live: s}, Clock: clocktesting.NewFakePassiveClock(moment.Time)}}
}

func TestABackupThatIsDueIsCreatedOnceWithItsOrigin(t *testing.T) {
	cluster := running()
	due := dueBackup(cluster)
	s := newServer(t, cluster)
	for try, want := range []string{"BackupScheduled", ""} {
		done, err := executed(t, s, cluster, due)
		if err != nil {
			t.Fatal(err)
		}
		if got := reasons(done); got != want {
			t.Errorf("attempt %d: events %q, want %q", try, got, want)
		}
	}
	made := &dbv1.DatabaseBackup{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: cluster.Namespace, Name: due.Child.Name()}, made); err != nil || !hasOrigin(made, due) {
		t.Errorf("origin %+v, %v", made.Status.Origin, err)
	}
}

func hasOrigin(backup *dbv1.DatabaseBackup, due schedule.CreateBackup) bool {
	return backup.Status.Origin != nil && equality.Semantic.DeepEqual(*backup.Status.Origin, due.Origin)
}

func dueBackup(cluster *dbv1.DatabaseCluster) schedule.CreateBackup {
	return schedule.CreateBackup{
		Child:  schedule.Scheduled(cluster, "nightly", moment.Time),
		Origin: dbv1.BackupOrigin{ClusterUID: string(cluster.UID), Schedule: "nightly", ScheduledTime: moment},
	}
}

// executed executes one operation.
func executed(t *testing.T, s *server, cluster *dbv1.DatabaseCluster, o operation.Operation) ([]kit.Event, error) {
	t.Helper()
	r, p := clockwork(s), &pass{Object: cluster, Facts: situation.Of(cluster, state.Observed{})}
	return r.Execute(t.Context(), p, o)
}

func TestAnExistingBackupIsTheSchedulesOnlyIfItIsIdentical(t *testing.T) {
	cases := map[string]struct {
		change   func(*dbv1.DatabaseBackup)
		reported string
	}{
		"left by a crash":     {func(*dbv1.DatabaseBackup) {}, "BackupScheduled"},
		"without labels":      {func(b *dbv1.DatabaseBackup) { b.Labels = nil }, "BackupScheduled"},
		"running already":     {func(b *dbv1.DatabaseBackup) { b.Status.Phase = dbv1.BackupRunning }, "BackupScheduled"},
		"older than the time": {func(b *dbv1.DatabaseBackup) { b.CreationTimestamp = metav1.NewTime(moment.Add(-time.Minute)) }, ""},
		"to another place":    {func(b *dbv1.DatabaseBackup) { b.Spec.Destination = &dbv1.BackupDestination{URL: "s3://theirs"} }, ""},
		"of another cluster":  {func(b *dbv1.DatabaseBackup) { b.Spec.Cluster = "ledger" }, ""},
		"with another policy": {func(b *dbv1.DatabaseBackup) { b.Spec.DeletionPolicy = dbv1.BackupRetain }, ""},
		"of another schedule": {func(b *dbv1.DatabaseBackup) { b.Status.Origin = &dbv1.BackupOrigin{Schedule: "hourly"} }, ""},
		"that is being deleted": {func(b *dbv1.DatabaseBackup) {
			b.DeletionTimestamp, b.Finalizers = new(moment), []string{dbv1.Finalizer}
		}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := running()
			due := dueBackup(cluster)
			existing := &dbv1.DatabaseBackup{}
			existing.Namespace, existing.Name, existing.CreationTimestamp = cluster.Namespace, due.Child.Name(), moment
			existing.Labels = due.Child.Object.GetLabels()
			existing.Spec = dbv1.DatabaseBackupSpec{Cluster: cluster.Name, DeletionPolicy: dbv1.BackupDelete}
			c.change(existing)
			s := newServer(t, cluster, existing)
			done, err := executed(t, s, cluster, due)
			if err != nil || reasons(done) != c.reported {
				t.Errorf("reported %+v, %v", done, err)
			}
			if err := s.Get(t.Context(), client.ObjectKeyFromObject(existing), existing); err != nil || hasOrigin(existing, due) != (c.reported == "BackupScheduled") {
				t.Errorf("origin %+v, %v", existing.Status.Origin, err)
			}
		})
	}
}

func reasons(done []kit.Event) string {
	all := make([]string, 0, len(done))
	for _, h := range done {
		all = append(all, h.Reason)
	}
	return strings.Join(all, " ")
}

func TestAChangedBackupIsNeitherDeletedNorVerified(t *testing.T) {
	cluster, stored := running(), backupOf(deleted(), dbv1.BackupCompleted)
	s := newServer(t, cluster, stored)
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
		t.Fatal(err)
	}
	seen := state.BackupOf(stored)
	stale := seen
	stale.Version = "1"
	if _, err := executed(t, s, cluster, schedule.VerifyBackup(cluster, stale, "tonight")); !apierrors.IsConflict(err) {
		t.Errorf("verified an older version: %v", err)
	}
	done, err := executed(t, s, cluster, schedule.VerifyBackup(cluster, seen, "tonight"))
	if err != nil || reasons(done) != "VerificationScheduled" {
		t.Errorf("reported %+v, %v", done, err)
	}
	expired := []operation.Removal{{Target: operation.TargetOf(dbv1.GroupVersion.WithKind("DatabaseBackup"), stored)}}
	if done, err := executed(t, s, cluster, schedule.ExpireBackups(expired)[0]); !apierrors.IsConflict(err) || len(done) > 0 {
		t.Errorf("deleted an older version: %+v, %v", done, err)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil || stored.Annotations[dbv1.AnnotationVerify] != "tonight" {
		t.Fatalf("%+v, %v", stored, err)
	}
	expired[0].Version = stored.ResourceVersion
	if done, err := executed(t, s, cluster, schedule.ExpireBackups(expired)[0]); err != nil || reasons(done) != "BackupExpired" {
		t.Errorf("reported %+v, %v", done, err)
	}
}

func TestABackupThatCannotBeCreatedBlocksNothingElse(t *testing.T) {
	cluster := running()
	cluster.CreationTimestamp = metav1.NewTime(moment.AddDate(0, 0, -2))
	s := newServer(t, cluster)
	if _, err := s.pass(t); err != nil { // creates the members
		t.Fatal(err)
	}
	s.makes = func(object client.Object) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "databasebackups"}, object.GetName(), nil)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
		t.Fatal(err)
	}
	cluster.Spec.Engine, cluster.Spec.Backup = "database-v1", &dbv1.ClusterBackup{Schedules: []dbv1.BackupSchedule{{Name: "nightly", Schedule: "0 3 * * *"}}}
	cluster.Spec.Replicas = 2
	engine := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: "database-v1"}}
	engine.Spec.Actions.Backup = &dbv1.EngineAction{Command: []string{"dump"}}
	if err := s.Create(t.Context(), engine); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	result, _ := s.pass(t)
	if !slices.Contains(s.sent, "apply StatefulSet orders") {
		t.Errorf("sent %q", s.sent)
	}
	if got := s.condition(t, dbv1.ConditionStalled); !strings.Contains(got, "True Refused") {
		t.Error(got)
	}
	if result.RequeueAfter == 0 || result.RequeueAfter > time.Minute {
		t.Errorf("tried again in %s", result.RequeueAfter)
	}
}
