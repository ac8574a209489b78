/*
SPDX-License-Identifier: Apache-2.0
*/

package status_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/status"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/why"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
)

var now = time.Date(2026, 11, 21, 14, 5, 0, 0, time.UTC)

func ago(d time.Duration) *metav1.Time { return new(metav1.NewTime(now.Add(-d))) }

func quantity(s string) *resource.Quantity { return new(resource.MustParse(s)) }

func is(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// healthy is a cluster with everything.
func healthy() status.Facts {
	cluster := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", CreationTimestamp: *ago(288 * time.Hour), Generation: 2}}
	cluster.Spec = dbv1.DatabaseClusterSpec{
		Replicas: 3, Image: "example.test/ledger:17", Engine: "ledger-v1", Storage: dbv1.ClusterStorage{Size: *quantity("10Gi")},
		Backup: &dbv1.ClusterBackup{Archive: &dbv1.ClusterArchive{}}, TLS: &dbv1.ClusterTLS{},
	}
	cluster.Status = dbv1.DatabaseClusterStatus{
		ObservedGeneration: 2, ReadyReplicas: 3, Primary: "orders-0", Version: "17.2",
		Conditions: []metav1.Condition{is("Ready", "True", "Ready", "3 of 3 members are ready"), is("Available", "True", "PrimaryReady", "")},
		Storage:    &dbv1.ClusterStorageStatus{Requested: *quantity("10Gi"), Capacity: quantity("10Gi")},
		Backup: &dbv1.ClusterBackupStatus{
			LastCompletedBackup: "orders-nightly-2611210200", LastCompletionTime: ago(12 * time.Hour), LastCompletedBytes: 5 << 30,
			LastVerifiedBackup: "orders-nightly-2611200200", LastVerificationTime: ago(30 * time.Hour), LastRecoveryTime: ago(30 * time.Hour),
			LastRecoveryDurationSeconds: 250, NextScheduleTime: ago(-12 * time.Hour),
		},
		Recovery: &dbv1.ClusterRecoveryStatus{Oldest: ago(168 * time.Hour), Newest: ago(time.Minute), Ranges: make([]dbv1.RecoveryRange, 1), ArchiveBytes: 3 << 30},
		TLS:      &dbv1.ClusterTLSStatus{SecretName: "orders-tls", NotAfter: ago(-1440 * time.Hour)},
	}
	engine := &dbv1.DatabaseEngine{}
	engine.Spec.Roles = &dbv1.EngineRoles{PositionField: "position", TimelineField: "timeline"}
	f := status.Facts{Cluster: cluster, Engine: engine, Now: now}
	for i, role := range []dbv1.MemberRole{dbv1.RolePrimary, dbv1.RoleReplica, dbv1.RoleReplica} {
		pod := "orders-" + string(rune('0'+i))
		cluster.Status.Members = append(cluster.Status.Members, dbv1.MemberStatus{
			Pod: pod, Ordinal: int32(i), Ready: true, State: dbv1.MemberReady, Role: role, Node: "node-" + pod[7:], Zone: "zone-a", Version: "17.2",
			Volume: &dbv1.MemberVolumeStatus{Claim: "data-" + pod, Requested: *quantity("10Gi"), Capacity: quantity("10Gi")},
		})
		f.Pods = append(f.Pods, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod}})
	}
	report(&f, "orders-0", `{"position": 9007199254740993, "timeline": 3}`)
	report(&f, "orders-1", `{"position": 9007199254740992, "timeline": 3}`)
	report(&f, "orders-2", `{"position": 9007199254740993, "timeline": 2}`)
	return f
}

// report sets what a member reports about itself.
func report(f *status.Facts, pod, text string) {
	for i := range f.Pods {
		if f.Pods[i].Name == pod {
			f.Pods[i].Annotations = map[string]string{dbv1.AnnotationStatus: text}
		}
	}
}

// troubled is a cluster in which much happens at once.
func troubled() status.Facts {
	f := healthy()
	c := f.Cluster
	c.Status.Conditions = []metav1.Condition{
		is("Ready", "False", "MemberFailing", "degraded: pod orders-2 cannot be scheduled: no node"),
		is("Degraded", "True", "MemberFailing", "pod orders-2 cannot be scheduled: no node"),
		is("Progressing", "True", "RollingOut", "1 of 3 members are updated"),
		is("BackupHealthy", "False", "BackupOverdue", "the newest complete backup is 30h old"),
		is("CredentialsRotated", "False", "Rotating", "a Job sets the new passwords"),
		is("StorageResizing", "True", "Resizing", "volume data-orders-1 is growing"),
	}
	c.Status.ReadyReplicas = 2
	c.Status.Members[1].Volume.Requested, c.Status.Members[1].Outdated = *quantity("20Gi"), true
	c.Status.Members[2] = dbv1.MemberStatus{Pod: "orders-2", Ordinal: 2, State: dbv1.MemberFailing, Message: "cannot be scheduled: no node", Volume: &dbv1.MemberVolumeStatus{Requested: *quantity("20Gi")}}
	c.Status.TLS.NotAfter = ago(-100 * time.Hour)
	c.Status.Recovery.Ranges, c.Status.Recovery.Message = make([]dbv1.RecoveryRange, 3), "a file of the archive cannot be read"
	c.Status.Requests = []dbv1.ClusterRequestStatus{
		{Type: dbv1.RequestHandOver, Request: "orders-1/a", State: dbv1.RequestCompleted},
		{Type: dbv1.RequestRebuild, Request: "orders-2", State: dbv1.RequestRefused, Message: "spec.deletion.protection is true"},
	}
	running := dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Name: "now"}, Status: dbv1.DatabaseBackupStatus{Phase: dbv1.BackupRunning, Size: "1.2 GiB"}}
	verified := dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Name: "before"}, Status: dbv1.DatabaseBackupStatus{
		Phase: dbv1.BackupCompleted, Verification: &dbv1.BackupVerification{Phase: dbv1.VerificationRunning, Message: "the copy starts"}}}
	f.Backups = []dbv1.DatabaseBackup{running, verified}
	f.Missing = []string{"pods"}
	f.Restores = []dbv1.DatabaseRestore{{ObjectMeta: metav1.ObjectMeta{Name: "yesterday"}}}
	return f
}

func bare() status.Facts {
	cluster := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cache", CreationTimestamp: *ago(time.Second)}}
	cluster.Spec = dbv1.DatabaseClusterSpec{Replicas: 1, Image: "example.test/cache:1", Storage: dbv1.ClusterStorage{Size: *quantity("1Gi"), Ephemeral: new(true)}}
	cluster.Status.ObservedGeneration = -1
	return status.Facts{Cluster: cluster, Now: now}
}

func TestOneScreenHasTheStateOfACluster(t *testing.T) {
	for name, facts := range map[string]status.Facts{"healthy": healthy(), "troubled": troubled(), "bare": bare()} {
		t.Run(name, func(t *testing.T) {
			golden.Text(t, name, facts.Screen(false))
		})
	}
}

func TestOnlyATerminalGetsColors(t *testing.T) {
	if plain := troubled().Screen(false); strings.Contains(plain, "\x1b") {
		t.Errorf("got %q", plain)
	}
	if colored := troubled().Screen(true); !strings.Contains(colored, "\x1b[31mFailing\x1b[0m") {
		t.Errorf("got %q", colored)
	}
}

func TestACertificateThatHasExpiredIsReported(t *testing.T) {
	f := healthy()
	f.Cluster.Status.TLS.NotAfter = ago(time.Hour)
	if screen := f.Screen(false); !strings.Contains(screen, "Secret orders-tls expired at 2026-11-21T13:05:00Z") {
		t.Errorf("got\n%s", screen)
	}
}

func TestLagIsKnownOnlyOnTheTimelineOfThePrimary(t *testing.T) {
	f := healthy()
	if lags := status.Lags(f.Cluster, f.Engine, f.Pods); len(lags) != 1 || lags["orders-1"] != 1 {
		t.Errorf("got %v", lags)
	}
	report(&f, "orders-1", "no JSON")
	report(&f, "orders-2", `{"position": -1, "timeline": 3}`)
	if lags := status.Lags(f.Cluster, f.Engine, f.Pods); len(lags) != 0 {
		t.Errorf("got %v", lags)
	}
	if lags := status.Lags(f.Cluster, nil, f.Pods); len(lags) != 0 {
		t.Errorf("without an engine: got %v", lags)
	}
}

// One line has all objects of a kind with the same problem. One that waits for a Job is in progress.
func TestObjectsThatAreNotAsDeclaredAreCounted(t *testing.T) {
	f := healthy()
	for name, condition := range map[string]metav1.Condition{
		"lost": is("Ready", "True", "CreatedAgain", "created again, empty"), "fine": is("Ready", "True", "InDatabase", "as declared"),
		"new": is("Ready", "False", "ObjectPending", "a Job puts it in force"),
	} {
		d := &dbv1.Database{ObjectMeta: metav1.ObjectMeta{Name: name}}
		d.Status.Conditions = []metav1.Condition{condition}
		f.Objects = append(f.Objects, why.OfDatabase(d))
	}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		u := &dbv1.DatabaseUser{ObjectMeta: metav1.ObjectMeta{Name: name}}
		u.Status.Conditions = []metav1.Condition{is("Ready", "False", "ObjectDrifted", "another privilege")}
		f.Objects = append(f.Objects, why.OfUser(u))
	}
	fields := strings.Join(strings.Fields(f.Screen(false)), " ")
	for _, want := range []string{
		"In progress Database new ObjectPending a Job puts it in force Needs attention (kubectl dbc why orders)",
		"Database lost CreatedAgain created again, empty", "5 DatabaseUsers ObjectDrifted a, b, c and 2 more (kubectl dbc users -o wide)",
	} {
		if !strings.Contains(fields, want) {
			t.Errorf("%q is not in\n%s", want, f.Screen(false))
		}
	}
	if strings.Contains(fields, "fine") {
		t.Errorf("got\n%s", f.Screen(false))
	}
}
