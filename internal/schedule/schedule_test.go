/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// noon is the time of all passes in these tests.
var noon = time.Date(2026, 11, 21, 12, 0, 30, 0, time.UTC)

// backedUp returns a cluster that was created three days before noon, with a schedule every night at three.
func backedUp(schedules ...dbv1.BackupSchedule) *dbv1.DatabaseCluster {
	c := orders()
	c.CreationTimestamp = metav1.NewTime(noon.AddDate(0, 0, -3))
	if len(schedules) == 0 {
		schedules = []dbv1.BackupSchedule{{Name: "nightly", Schedule: "0 3 * * *"}}
	}
	c.Spec.Backup = &dbv1.ClusterBackup{Schedules: schedules}
	return c
}

func seen(t *testing.T, c *dbv1.DatabaseCluster, backups ...state.Backup) state.Observed {
	t.Helper()
	observed := state.Observed{StatefulSet: &appsv1.StatefulSet{}, At: noon, Backups: backups}
	state.Put(&observed, Facts{Zones: zoneMap(t, "Europe/Berlin")})
	c.Spec.Engine, observed.Engine = "database-v1", &dbv1.DatabaseEngine{}
	observed.Engine.Spec.Actions.Backup = &dbv1.EngineAction{Command: []string{"dump"}}
	return observed
}

// made returns a complete backup of a schedule for a time, created half a minute and completed ten minutes after it.
func made(schedule string, at time.Time, changes ...func(*state.Backup)) state.Backup {
	name := naming.ScheduledBackup("orders", schedule, at)
	b := state.Backup{
		Name: name, UID: types.UID(name), Version: "7", CreatedFor: uid, RanFor: uid, Schedule: schedule,
		ScheduledAt: metav1.NewTime(at), Created: metav1.NewTime(at.Add(30 * time.Second)),
		Phase: dbv1.BackupCompleted, Completed: metav1.NewTime(at.Add(10 * time.Minute)),
	}
	for _, change := range changes {
		change(&b)
	}
	return b
}

func failedBackup(b *state.Backup) {
	b.Phase, b.Completed, b.Failure = dbv1.BackupFailed, metav1.Time{}, "no bucket"
}
func pendingBackup(b *state.Backup) {
	b.Phase, b.Completed, b.RanFor = dbv1.BackupPending, metav1.Time{}, ""
}

// byHand turns a backup into one that a user created.
func byHand(b *state.Backup) {
	b.Name, b.UID, b.Schedule, b.ScheduledAt, b.CreatedFor = "mine", "mine", "", metav1.Time{}, ""
}

// stranger returns a changed copy of the backup that the schedule creates, with the same name.
func stranger(change func(*state.Backup)) state.Backup {
	b := made("nightly", day(0, 3), pendingBackup, byHand)
	b.Name, b.Cluster, b.Policy = naming.ScheduledBackup("orders", "nightly", day(0, 3)), "orders", dbv1.BackupDelete
	change(&b)
	return b
}

func day(ago, hour int) time.Time {
	return time.Date(2026, 11, 21-ago, hour, 0, 0, 0, time.UTC)
}

func names(p Plan) string {
	var all []string
	for _, o := range p.Operations {
		if due, creates := o.(CreateBackup); creates {
			all = append(all, strings.TrimPrefix(due.Child.Name(), "orders-"))
		}
	}
	return strings.Join(all, " ")
}

// deleted are the backups that a plan deletes.
func deleted(p Plan) []operation.Removal {
	expire, _ := operation.Find[operation.Delete](p.Operations)
	return expire.Objects
}

func orders() *dbv1.DatabaseCluster {
	c := &dbv1.DatabaseCluster{}
	c.Namespace, c.Name, c.UID = "shop", "orders", uid
	c.Spec.Replicas = 3
	return c
}

const uid = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"

func TestABackupIsCreatedForTheNewestTimeThatHasPassed(t *testing.T) {
	nightly := dbv1.BackupSchedule{Name: "nightly", Schedule: "0 3 * * *"}
	hourly := dbv1.BackupSchedule{Name: "hourly", Schedule: "0 * * * *"}
	cases := map[string]struct {
		cluster *dbv1.DatabaseCluster
		backups []state.Backup
		change  func(*dbv1.DatabaseCluster, *state.Observed)
		want    string
	}{
		"one for all missed times since the creation of the cluster": {backedUp(), nil, nil, "nightly-2611210300"},
		"one for all that were missed since the last":                {backedUp(), []state.Backup{made("nightly", day(3, 3))}, nil, "nightly-2611210300"},
		"none when the last time has its backup":                     {backedUp(), []state.Backup{made("nightly", day(0, 3))}, nil, ""},
		"a failed backup is not repeated before the next time":       {backedUp(), []state.Backup{made("nightly", day(0, 3), failedBackup)}, nil, ""},
		"a failed backup does not block the next one":                {backedUp(), []state.Backup{made("nightly", day(1, 3), failedBackup)}, nil, "nightly-2611210300"},
		"none while one is unfinished":                               {backedUp(), []state.Backup{made("nightly", day(1, 3), pendingBackup)}, nil, ""},
		"a terminating backup does not block, or a lost node could block forever": {backedUp(), []state.Backup{made("nightly", day(1, 3), pendingBackup, func(b *state.Backup) {
			b.Terminating = true
		})}, nil, "nightly-2611210300"},
		"none while one of another schedule is unfinished": {backedUp(nightly, hourly), []state.Backup{made("hourly", day(0, 12), pendingBackup)}, nil, ""},
		"a backup of the user does not block":              {backedUp(), []state.Backup{made("", day(0, 11), pendingBackup, byHand)}, nil, "nightly-2611210300"},
		"the schedule that has waited longest comes first": {backedUp(hourly, nightly), nil, nil, "nightly-2611210300"},
		"of equal times the first schedule": {backedUp(
			dbv1.BackupSchedule{Name: "one", Schedule: "0 12 * * *"}, dbv1.BackupSchedule{Name: "two", Schedule: "0 12 * * *"}), nil, nil, "one-2611211200"},
		"each schedule counts by itself": {backedUp(nightly, hourly), []state.Backup{made("hourly", day(0, 12))}, nil, "nightly-2611210300"},
		"none of a time before the cluster": {backedUp(), nil, func(c *dbv1.DatabaseCluster, _ *state.Observed) {
			c.CreationTimestamp = metav1.NewTime(day(0, 4))
		}, ""},
		"a time that was noted in the future ends nothing": {backedUp(), []state.Backup{made("nightly", day(-400, 3)), made("nightly", day(1, 3))}, nil, "nightly-2611210300"},
		"a time zone": {backedUp(dbv1.BackupSchedule{Name: "berlin", Schedule: "0 13 * * *", TimeZone: "Europe/Berlin"}), nil, nil, "berlin-2611211200"},
		"an invalid schedule does not block others": {backedUp(
			dbv1.BackupSchedule{Name: "bad", Schedule: "0 3 * * 9"}, nightly), nil, nil, "nightly-2611210300"},
		"suspended": {backedUp(dbv1.BackupSchedule{Name: "nightly", Schedule: "0 3 * * *", Suspend: true}), nil, nil, ""},
		"paused":    {backedUp(), nil, func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Paused = true }, ""},
		"hibernated": {backedUp(), nil, func(c *dbv1.DatabaseCluster, _ *state.Observed) {
			c.Spec.Hibernated = true
		}, ""},
		"being deleted": {backedUp(), nil, func(c *dbv1.DatabaseCluster, _ *state.Observed) {
			c.DeletionTimestamp = new(metav1.NewTime(noon))
		}, ""},
		"the backup that a crash left without origin": {backedUp(), nil, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			strangers(o, []state.Backup{stranger(func(*state.Backup) {})}...)
		}, "nightly-2611210300"},
		"the backup of an older operator that a crash left without origin, under its former name": {
			backedUp(dbv1.BackupSchedule{Name: "every-night", Schedule: "0 3 * * *"}), nil, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				strangers(o, []state.Backup{stranger(func(b *state.Backup) { b.Name = "orders-every-night-2611210300" })}...)
			}, "every-night-2611210300",
		},
		"a schedule with a hyphen": {backedUp(dbv1.BackupSchedule{Name: "every-night", Schedule: "0 3 * * *"}), nil, nil, "7b5dc949-2611210300"},
		"a name that is taken, by one that is older than the time": {backedUp(), nil, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			strangers(o, []state.Backup{stranger(func(b *state.Backup) { b.Created = metav1.NewTime(day(0, 2)) })}...)
		}, ""},
		"a name that is taken, by one to another place": {backedUp(), nil, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			strangers(o, []state.Backup{stranger(elsewhere)}...)
		}, ""},
		"a name that is taken, by one that is being deleted": {backedUp(), nil, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			strangers(o, []state.Backup{stranger(func(b *state.Backup) { b.Terminating = true })}...)
		}, ""},
		"members that were never created": {backedUp(), nil, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.StatefulSet, o.Members = nil, nil
		}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			observed := seen(t, c.cluster, c.backups...)
			if c.change != nil {
				c.change(c.cluster, &observed)
			}
			p := For(c.cluster, observed)
			if got := names(p); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if live := p.Operations.Need(operation.LiveRead); live != (len(p.Operations) > 0) {
				t.Errorf("decided from a live read: %v", live)
			}
		})
	}
}

func TestAClusterRequeuesWhenTheNextBackupIsDue(t *testing.T) {
	c := backedUp(dbv1.BackupSchedule{Name: "nightly", Schedule: "0 3 * * *"}, dbv1.BackupSchedule{Name: "daily", Schedule: "0 14 * * *"},
		dbv1.BackupSchedule{Name: "off", Schedule: "* * * * *", Suspend: true})
	backups := []state.Backup{made("nightly", day(0, 3)), made("daily", day(1, 14))}
	p := For(c, seen(t, c, backups...))
	if want := day(0, 14); !p.Next.Equal(want) || p.RequeueAfter(noon) != want.Sub(noon) {
		t.Errorf("next at %s, again in %s; want %s", p.Next, p.RequeueAfter(noon), want)
	}
	c.Spec.Backup.UnhealthyAfter = &metav1.Duration{Duration: 10 * time.Hour} // since the completion at ten past three
	if p, want := For(c, seen(t, c, backups...)), 70*time.Minute-30*time.Second; p.RequeueAfter(noon) != want {
		t.Errorf("again in %s, want %s, when the newest backup is too old", p.RequeueAfter(noon), want)
	}
	c.Spec.Paused = true
	if p, want := For(c, seen(t, c, backups...)), 70*time.Minute-30*time.Second; p.RequeueAfter(noon) != want || !p.Next.IsZero() {
		t.Errorf("paused: again in %s, want %s; next at %s", p.RequeueAfter(noon), want, p.Next)
	}
	c.Spec.Backup.UnhealthyAfter = nil
	if p := For(c, seen(t, c, backups...)); p.RequeueAfter(noon) != 0 {
		t.Errorf("paused without a maximum age: again in %s", p.RequeueAfter(noon))
	}
}

func TestADueBackupHasTheLabelsThatIdentifyIt(t *testing.T) {
	c := backedUp()
	object := For(c, seen(t, c)).Operations[0].(CreateBackup).Child.Object
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	if labels[dbv1.LabelSchedule] != "nightly" || labels[dbv1.LabelClusterUID] != uid || labels[dbv1.LabelManagedBy] != dbv1.LabelManagedByValue {
		t.Errorf("labels %v", labels)
	}
	if annotations[dbv1.AnnotationScheduled] != "2026-11-21T03:00:00Z" || len(object.GetOwnerReferences()) > 0 {
		t.Errorf("annotations %v, owners %v", annotations, object.GetOwnerReferences())
	}
	spec := object.Object["spec"].(map[string]any)
	if spec["cluster"] != "orders" || spec["deletionPolicy"] != "Delete" {
		t.Errorf("spec %v", spec)
	}
}

func TestTheNewestCompleteBackupIsVerifiedWhenItIsTime(t *testing.T) {
	verified := func(started time.Time, phase dbv1.BackupVerificationPhase) func(*state.Backup) {
		return func(b *state.Backup) {
			b.Asked = started.Format(time.RFC3339)
			b.Verification = state.Verification{Request: b.Asked, Phase: phase, Started: metav1.NewTime(started), Ended: metav1.NewTime(started)}
		}
	}
	asked := func(b *state.Backup) { b.Asked = "please" }
	cases := map[string]struct {
		backups []state.Backup
		change  func(*dbv1.DatabaseCluster)
		want    string
	}{
		"never verified":               {[]state.Backup{made("nightly", day(1, 3)), made("nightly", day(0, 3))}, nil, "verify DatabaseBackup orders-nightly-2611210300 (2026-11-21T05:00:00Z)"},
		"verified since":               {[]state.Backup{made("nightly", day(0, 3), verified(day(0, 6), dbv1.VerificationSucceeded))}, nil, ""},
		"verified by hand since":       {[]state.Backup{made("nightly", day(1, 3), verified(day(0, 6), dbv1.VerificationFailed)), made("nightly", day(0, 3))}, nil, ""},
		"verified before":              {[]state.Backup{made("nightly", day(1, 3), verified(day(1, 5), dbv1.VerificationFailed)), made("nightly", day(0, 3))}, nil, "verify DatabaseBackup orders-nightly-2611210300 (2026-11-21T05:00:00Z)"},
		"the same one again":           {[]state.Backup{made("nightly", day(1, 3), verified(day(1, 5), dbv1.VerificationSucceeded))}, nil, "verify DatabaseBackup orders-nightly-2611200300 (2026-11-21T05:00:00Z)"},
		"one runs":                     {[]state.Backup{made("nightly", day(2, 3), verified(day(1, 5), dbv1.VerificationRunning)), made("nightly", day(0, 3))}, nil, ""},
		"one runs, and is going":       {[]state.Backup{made("nightly", day(2, 3), verified(day(1, 5), dbv1.VerificationRunning), func(b *state.Backup) { b.Terminating = true }), made("nightly", day(0, 3))}, nil, "verify DatabaseBackup orders-nightly-2611210300 (2026-11-21T05:00:00Z)"},
		"one is asked for":             {[]state.Backup{made("nightly", day(2, 3), asked), made("nightly", day(0, 3))}, nil, ""},
		"one that failed was asked":    {[]state.Backup{made("nightly", day(2, 3), failedBackup, asked), made("nightly", day(0, 3))}, nil, "verify DatabaseBackup orders-nightly-2611210300 (2026-11-21T05:00:00Z)"},
		"verified in the future":       {[]state.Backup{made("nightly", day(0, 3), verified(day(-300, 5), dbv1.VerificationSucceeded))}, nil, "verify DatabaseBackup orders-nightly-2611210300 (2026-11-21T05:00:00Z)"},
		"nothing is complete":          {[]state.Backup{made("nightly", day(0, 3), failedBackup)}, nil, ""},
		"the complete one is going":    {[]state.Backup{made("nightly", day(0, 3), func(b *state.Backup) { b.Terminating = true })}, nil, ""},
		"nothing is asked of the spec": {[]state.Backup{made("nightly", day(0, 3))}, func(c *dbv1.DatabaseCluster) { c.Spec.Backup.Verification = nil }, ""},
		"paused":                       {[]state.Backup{made("nightly", day(0, 3))}, func(c *dbv1.DatabaseCluster) { c.Spec.Paused = true }, ""},
		"hibernated":                   {[]state.Backup{made("nightly", day(0, 3))}, func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = true }, ""},
		"cannot be read":               {[]state.Backup{made("nightly", day(0, 3))}, func(c *dbv1.DatabaseCluster) { c.Spec.Backup.Verification.Schedule = "0 5 * * 9" }, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := backedUp()
			cluster.Spec.Backup.Verification = &dbv1.BackupVerificationSchedule{Schedule: "0 5 * * *"}
			if c.change != nil {
				c.change(cluster)
			}
			got := For(cluster, seen(t, cluster, c.backups...))
			described := ""
			if verify, asks := operation.Find[operation.Change](got.Operations); asks {
				described = verify.String()
			}
			if described != c.want {
				t.Errorf("got %q, want %q", described, c.want)
			}
			if (name == "cannot be read") != strings.Contains(got.VerifyInvalid, `cron expression "0 5 * * 9" is invalid`) {
				t.Errorf("invalid: %q", got.VerifyInvalid)
			}
		})
	}
}

// expiredNames are the backups that a plan deletes, without the cluster's name.
func expiredNames(p Plan) []string {
	var all []string
	for _, removal := range deleted(p) {
		all = append(all, strings.TrimPrefix(removal.Name, "orders-"))
	}
	slices.Sort(all)
	return all
}

// strangers adds DatabaseBackups that no schedule is known to have created.
func strangers(o *state.Observed, all ...state.Backup) {
	facts := state.FactsOf[Facts](*o)
	facts.Strangers = all
	state.Put(o, facts)
}
