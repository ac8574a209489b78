//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// answers lets the pod of every Job succeed: backups, verifications, and deletions of backup data.
func answers(pod *corev1.Pod) {
	if pod.Labels[dbv1.LabelComponent] == dbv1.ComponentVerification {
		exits(pod, 0, `{"output":{"role":"primary"},"reason":"","message":""}`)
		return
	}
	yields(pod)
}

// scheduled returns the backups that a schedule of the cluster created, by name.
func scheduled(t *testing.T, cluster *dbv1.DatabaseCluster, schedule string) []dbv1.DatabaseBackup {
	t.Helper()
	labels := client.MatchingLabels{dbv1.LabelClusterUID: string(cluster.UID), dbv1.LabelSchedule: schedule}
	return listed(t, cluster.Namespace, &dbv1.DatabaseBackupList{}, labels).Items
}

// createdFor creates a backup as a schedule would at a time, and waits until it is complete. Only a client with the
// right to write its status can do so.
func createdFor(t *testing.T, cluster *dbv1.DatabaseCluster, schedule string, at time.Time) *dbv1.DatabaseBackup {
	t.Helper()
	b := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster.Namespace, Name: naming.ScheduledBackup(cluster.Name, schedule, at), Labels: naming.Labels(cluster, dbv1.ComponentBackup),
		Annotations: map[string]string{dbv1.AnnotationScheduled: at.Format(time.RFC3339)},
	}}
	b.Labels[dbv1.LabelSchedule] = schedule
	b.Spec = dbv1.DatabaseBackupSpec{Cluster: cluster.Name, DeletionPolicy: dbv1.BackupDelete}
	create(t, b)
	origin := fmt.Sprintf(`{"status":{"origin":{"clusterUID":%q,"schedule":%q,"scheduledTime":%q}}}`, cluster.UID, schedule, at.Format(time.RFC3339))
	if err := admin.Status().Patch(t.Context(), b, client.RawPatch(types.MergePatchType, []byte(origin))); err != nil {
		t.Fatal(err)
	}
	return awaitPhase(t, b, dbv1.BackupCompleted, "")
}

// forgedFor returns a backup with the labels and the annotation of a schedule. The API server drops the status in a
// create request.
func forgedFor(t *testing.T, cluster *dbv1.DatabaseCluster, schedule string, at time.Time) *dbv1.DatabaseBackup {
	t.Helper()
	b := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "forged", Labels: naming.Labels(cluster, dbv1.ComponentBackup)}}
	b.Labels[dbv1.LabelSchedule] = schedule
	b.Annotations = map[string]string{dbv1.AnnotationScheduled: at.Format(time.RFC3339)}
	b.Spec = dbv1.DatabaseBackupSpec{Cluster: cluster.Name, DeletionPolicy: dbv1.BackupDelete}
	b.Status.Origin = &dbv1.BackupOrigin{ClusterUID: string(cluster.UID), Schedule: schedule, ScheduledTime: metav1.NewTime(at)}
	create(t, b)
	stored := &dbv1.DatabaseBackup{}
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(b), stored); err != nil || stored.Status.Origin != nil {
		t.Fatalf("the API server stored the status of a create request for a DatabaseBackup: %+v, %v", stored.Status.Origin, err)
	}
	return awaitPhase(t, stored, dbv1.BackupCompleted, "")
}

// TestAScheduleCreatesABackupThatIsVerified waits for the clock: a minute at most.
func TestAScheduleCreatesABackupThatIsVerified(t *testing.T) {
	parallel(t)
	cluster := safe(t, "scheduled-v1", answers)
	began := cluster.CreationTimestamp.Time // the times since then count, also those before the schedule existed
	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		c.Spec.Backup.Schedules = []dbv1.BackupSchedule{{Name: "minutely", Schedule: "* * * * *"}, {Name: "never", Schedule: "* * * * *", Suspend: true}}
		c.Spec.Backup.UnhealthyAfter = &metav1.Duration{Duration: time.Hour}
		c.Spec.Backup.Verification = &dbv1.BackupVerificationSchedule{Schedule: "* * * * *", DeadlineSeconds: 600}
	})
	awaitCondition(t, cluster, dbv1.ConditionBackupHealthy, metav1.ConditionUnknown, dbv1.ReasonNoBackup)
	awaitCondition(t, cluster, dbv1.ConditionBackupVerified, metav1.ConditionUnknown, dbv1.ReasonNotVerified)
	next := cluster.Status.Backup.NextScheduleTime.Time // or the next one, if the minute has just started
	if left := time.Until(next); left <= -time.Minute || left > time.Minute {
		t.Fatalf("the next backup is due in %s", left)
	}

	w, err := admin.Watch(t.Context(), &dbv1.DatabaseBackupList{}, client.InNamespace(cluster.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var made *dbv1.DatabaseBackup
	select {
	case event := <-w.ResultChan():
		made = event.Object.(*dbv1.DatabaseBackup)
	case <-time.After(2 * time.Minute):
		t.Fatal("the schedule created no backup")
	}
	due, err := time.Parse(time.RFC3339, made.Annotations[dbv1.AnnotationScheduled])
	if err != nil || !due.After(began) || due.After(next) || due.Second() != 0 || made.Name != naming.ScheduledBackup("orders", "minutely", due) {
		t.Errorf("%s for %s (%v), want one for %s, or for an earlier minute after %s", made.Name, due, err, next, began)
	}
	await(t, made, "the origin of the backup", func() bool {
		o := made.Status.Origin
		return o != nil && o.ClusterUID == string(cluster.UID) && o.Schedule == "minutely" && o.ScheduledTime.Time.Equal(due)
	})
	if made.Spec.DeletionPolicy != dbv1.BackupDelete || len(made.OwnerReferences) > 0 {
		t.Errorf("%+v", made)
	}
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Backup.Schedules[0].Suspend = true })
	awaitPhase(t, made, dbv1.BackupCompleted, "")
	awaitTrue(t, cluster, dbv1.ConditionBackupHealthy, dbv1.ReasonBackupFresh)
	awaitTrue(t, cluster, dbv1.ConditionBackupVerified, dbv1.ReasonVerified)
	if s := cluster.Status.Backup; s.LastCompletedBackup != made.Name || s.LastCompletedBytes != 2<<20 || s.LastVerifiedBackup != made.Name || s.NextScheduleTime != nil {
		t.Errorf("%+v", s)
	}
	awaitEvent(t, cluster, corev1.EventTypeNormal, "BackupScheduled", made.Name)
	awaitEvent(t, cluster, corev1.EventTypeNormal, "VerificationScheduled", made.Name)
	if others := scheduled(t, cluster, "never"); len(others) > 0 {
		t.Errorf("a suspended schedule created %s", others[0].Name)
	}
}

func TestRetentionDeletesBackupsWithTheirDataAndNothingElse(t *testing.T) {
	parallel(t)
	var erased sync.Map // UIDs of the backups whose data a Job deleted
	cluster := safe(t, "retained-v1", func(pod *corev1.Pod) {
		if pod.Labels[dbv1.LabelComponent] == dbv1.ComponentBackupDeletion {
			erased.Store(pod.Labels[dbv1.LabelBackupUID], true)
		}
		answers(pod)
	})
	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		c.Spec.Backup.Schedules = []dbv1.BackupSchedule{{Name: "yearly", Schedule: "@yearly"}}
	})
	today := time.Now().UTC().Truncate(time.Minute)
	var all []*dbv1.DatabaseBackup
	for ago := 3; ago > 0; ago-- {
		all = append(all, createdFor(t, cluster, "yearly", today.Add(-time.Duration(ago)*time.Hour)))
	}
	forged := forgedFor(t, cluster, "yearly", today.Add(-time.Minute))
	kept := []*dbv1.DatabaseBackup{
		forged,
		all[2], awaitPhase(t, backup(t, cluster, "by-hand", dbv1.BackupDelete), dbv1.BackupCompleted, ""),
		createdFor(t, cluster, "other", today.Add(-9*time.Hour)),
	}
	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		c.Spec.Backup.Schedules[0].Retention = &dbv1.BackupRetention{Count: new(int32(1))}
	})
	for _, b := range all[:2] {
		awaitDeleted(t, b)
		if _, deleted := erased.Load(string(b.UID)); !deleted {
			t.Errorf("%s was deleted without its data", b.Name)
		}
	}
	awaitEvent(t, cluster, corev1.EventTypeNormal, "BackupExpired", `schedule "yearly" no longer retains it`)
	touch(t, cluster)
	awaitIdleIn(t, cluster.Namespace)
	for _, b := range kept {
		if _, deleted := erased.Load(string(b.UID)); deleted {
			t.Errorf("the data of %s was deleted", b.Name)
		}
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(b), b); apierrors.IsNotFound(err) || b.DeletionTimestamp != nil {
			t.Errorf("%s was deleted", b.Name)
		}
	}
}

func TestAnInvalidScheduleIsReportedAndDoesNotBlockOthers(t *testing.T) {
	parallel(t)
	cluster := safe(t, "invalid-schedule-v1", answers)
	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		c.Spec.Backup.Schedules = []dbv1.BackupSchedule{
			{Name: "bad", Schedule: "0 3 * * 9"}, {Name: "nowhere", Schedule: "0 3 * * *", TimeZone: "Europe/Atlantis"}, {Name: "good", Schedule: "@yearly", TimeZone: "Europe/Berlin"},
		}
		c.Spec.Backup.Verification = &dbv1.BackupVerificationSchedule{Schedule: "0 0 30 2 *", DeadlineSeconds: 600}
	})
	unhealthy := awaitCondition(t, cluster, dbv1.ConditionBackupHealthy, metav1.ConditionFalse, dbv1.ReasonInvalidSchedule)
	mustContain(t, unhealthy.Message, `schedule "bad" creates no backups: cron expression "0 3 * * 9" is invalid`, `schedule "nowhere" creates no backups: timeZone "Europe/Atlantis" is unknown`)
	mustContain(t, awaitCondition(t, cluster, dbv1.ConditionBackupVerified, metav1.ConditionFalse, dbv1.ReasonInvalidSchedule).Message, "matches no date")
	awaitEvent(t, cluster, corev1.EventTypeWarning, dbv1.ReasonInvalidSchedule, "Europe/Atlantis")
	awaitReady(t, cluster)
	if next := cluster.Status.Backup.NextScheduleTime; next == nil || next.In(time.UTC).Format("01-02T15:04") != "12-31T23:00" {
		t.Errorf("the next backup is due at %s", next)
	}
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Backup.Schedules, c.Spec.Backup.Verification = nil, nil })
	awaitCondition(t, cluster, dbv1.ConditionBackupHealthy, metav1.ConditionUnknown, dbv1.ReasonNoBackup)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Backup = nil })
	await(t, cluster, "the backup status and conditions to be removed", func() bool {
		s := cluster.Status
		return s.Backup == nil && !slices.ContainsFunc(s.Conditions, func(c metav1.Condition) bool { return strings.HasPrefix(c.Type, "Backup") })
	})
}
