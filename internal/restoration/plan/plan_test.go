/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/restoration/plan"
)

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// yesterday is a restore of the cluster orders.
func yesterday(source dbv1.RestoreSource) *dbv1.DatabaseRestore {
	return &dbv1.DatabaseRestore{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "yesterday", UID: "r1", Generation: 1},
		Spec:       dbv1.DatabaseRestoreSpec{ClusterRef: dbv1.RestoreClusterRef{Name: "orders"}, Source: source, Mode: dbv1.RestorePreview},
	}
}

// orders is a cluster of three members with a backup at 10:00, and one at 11:00.
func orders() plan.RestoreFacts {
	cluster := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "c1"}}
	cluster.Spec.Engine, cluster.Spec.Image, cluster.Spec.Replicas = "pairdb", "example.test/pairdb:1", 3
	engine := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: "pairdb"}, Spec: dbv1.DatabaseEngineSpec{Topology: dbv1.TopologyPrimaryReplica}}
	engine.Spec.Actions.Recover = &dbv1.EngineRecovery{Command: []string{"recover"}, Targets: []dbv1.EngineRecoveryTarget{dbv1.RecoverToName}}
	return plan.RestoreFacts{Cluster: cluster, Engine: engine, Backups: []dbv1.DatabaseBackup{backup("first", 10), backup("second", 11)}}
}

// backup is a backup that was complete at an hour.
func backup(name string, hour int) dbv1.DatabaseBackup {
	b := dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: dbv1.DatabaseBackupSpec{Cluster: "orders"}}
	b.Status.Phase, b.Status.ClusterUID, b.Status.Replicas, b.Status.Image = dbv1.BackupCompleted, "c1", 1, "example.test/pairdb:1"
	ended := metav1.NewTime(noon.Add(time.Duration(hour-12) * time.Hour))
	b.Status.CompletionTime = new(metav1.NewTime(ended.Add(3 * time.Hour))) // the operator was away
	b.Status.Streams = []dbv1.BackupStream{{CompletionTime: &ended, Facts: map[string]dbv1.FactValue{"archiveFile": "7"}}}
	return b
}

// created is the preview that a plan creates; nil for none.
func created(t *testing.T, p plan.RestorePlan) *dbv1.DatabaseCluster {
	t.Helper()
	if len(p.Operations) == 0 {
		return nil
	}
	cluster := &dbv1.DatabaseCluster{}
	create, is := p.Operations[0].(operation.Create)
	if !is || len(p.Operations) > 1 {
		t.Fatalf("the plan has %v, want one creation", p.Operations)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(create.Objects[0].Object.Object, cluster); err != nil {
		t.Fatal(err)
	}
	return cluster
}

func at(text string) *dbv1.RecoveryTarget { return &dbv1.RecoveryTarget{Time: text} }

// begins lets status.recovery have backups with which no recovery can begin.
func begins(unusable ...string) func(*plan.RestoreFacts) {
	return func(f *plan.RestoreFacts) {
		f.Cluster.Status.Recovery = &dbv1.ClusterRecoveryStatus{UnusableBackups: unusable}
	}
}

func TestAPreviewBeginsWithTheBackupOfTheSource(t *testing.T) {
	cases := map[string]struct {
		source dbv1.RestoreSource
		change func(*plan.RestoreFacts)
		want   string // the backup, or a part of the cause
	}{
		"the newest":                         {dbv1.RestoreSource{}, nil, "second"},
		"for the end of the archive":         {dbv1.RestoreSource{RecoveryTarget: at("")}, nil, "second"},
		"before the time":                    {dbv1.RestoreSource{RecoveryTarget: at("2026-11-28T10:59:59.9Z")}, nil, "first"},
		"not in the second of its end":       {dbv1.RestoreSource{RecoveryTarget: at("2026-11-28T11:00:00.5Z")}, nil, "first"},
		"with another time zone":             {dbv1.RestoreSource{RecoveryTarget: at("2026-11-28T12:30:00+02:00")}, nil, "first"},
		"none before the time":               {dbv1.RestoreSource{RecoveryTarget: at("2026-11-28T09:59:59Z")}, nil, "no backup in its archive that was complete before 2026-11-28T09:59:59Z"},
		"the named one":                      {dbv1.RestoreSource{BackupRef: &dbv1.RestoreBackupRef{Name: "first"}}, nil, "first"},
		"not one of another cluster":         {dbv1.RestoreSource{BackupRef: &dbv1.RestoreBackupRef{Name: "of-payroll"}}, nil, "DatabaseBackup of-payroll of DatabaseCluster orders does not exist"},
		"not one elsewhere, for a time":      {dbv1.RestoreSource{RecoveryTarget: at("")}, func(f *plan.RestoreFacts) { f.Backups[1].Spec.Destination = &dbv1.BackupDestination{} }, "first"},
		"not one outside of the archive":     {dbv1.RestoreSource{RecoveryTarget: at("")}, func(f *plan.RestoreFacts) { f.Backups[1].Status.Streams[0].Facts = nil }, "first"},
		"one outside of it, without a time":  {dbv1.RestoreSource{}, func(f *plan.RestoreFacts) { f.Backups[1].Status.Streams[0].Facts = nil }, "second"},
		"none in the archive":                {dbv1.RestoreSource{RecoveryTarget: at("")}, func(f *plan.RestoreFacts) { f.Backups = nil }, "no complete backup that began in its archive"},
		"none is complete":                   {dbv1.RestoreSource{}, func(f *plan.RestoreFacts) { f.Backups = nil }, "orders has no complete backup. Create a DatabaseBackup"},
		"not one of a previous cluster":      {dbv1.RestoreSource{}, func(f *plan.RestoreFacts) { f.Backups[1].Status.ClusterUID = "c0" }, "first"},
		"not one that failed":                {dbv1.RestoreSource{}, func(f *plan.RestoreFacts) { f.Backups[1].Status.Phase = dbv1.BackupFailed }, "first"},
		"not one that is being deleted":      {dbv1.RestoreSource{}, func(f *plan.RestoreFacts) { f.Backups[1].DeletionTimestamp = new(metav1.Now()) }, "first"},
		"not one whose verification failed":  {dbv1.RestoreSource{}, func(f *plan.RestoreFacts) { f.Backups[1].Status.Verification = failed() }, "first"},
		"not one that begins no recovery":    {dbv1.RestoreSource{RecoveryTarget: at("2026-11-28T11:30:00Z")}, begins("second"), "first"},
		"nor for the end of the archive":     {dbv1.RestoreSource{RecoveryTarget: at("")}, begins("second"), "first"},
		"one of them, if it is the only one": {dbv1.RestoreSource{RecoveryTarget: at("2026-11-28T10:30:00Z")}, begins("first"), "first"},
		"the newest of them":                 {dbv1.RestoreSource{RecoveryTarget: at("")}, begins("first", "second"), "second"},
		"such a one, without a time":         {dbv1.RestoreSource{}, begins("second"), "second"},
		"of the volumes in use at any rate": {dbv1.RestoreSource{RecoveryTarget: at("")}, func(f *plan.RestoreFacts) {
			begins("second")(f)
			f.Cluster.Status.Replacement = &dbv1.ClusterReplacementStatus{VolumeClaimTemplate: "data-0restored"}
			f.Backups[1].Status.VolumeClaimTemplate = "data-0restored"
		}, "second"},
		"the engine does not exist":           {dbv1.RestoreSource{}, func(f *plan.RestoreFacts) { f.Engine = nil }, "DatabaseEngine pairdb"},
		"the cluster has no engine":           {dbv1.RestoreSource{}, func(f *plan.RestoreFacts) { f.Cluster.Spec.Engine = "" }, "has no spec.engine"},
		"the cluster is being deleted":        {dbv1.RestoreSource{}, func(f *plan.RestoreFacts) { f.Cluster.DeletionTimestamp = new(metav1.Now()) }, "orders is being deleted"},
		"the cluster does not exist any more": {dbv1.RestoreSource{}, func(f *plan.RestoreFacts) { *f = plan.RestoreFacts{} }, "DatabaseCluster orders, which spec.clusterRef names, does not exist"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			seen := orders()
			if c.change != nil {
				c.change(&seen)
			}
			p := plan.For(yesterday(c.source), seen)
			preview := created(t, p)
			switch {
			case preview != nil && (preview.Spec.Bootstrap.FromBackup.Name != c.want || p.Stalled != nil):
				t.Errorf("it begins with %+v, want %q", preview.Spec.Bootstrap.FromBackup, c.want)
			case preview == nil && (p.Stalled == nil || !strings.Contains(p.Stalled.Message, c.want)):
				t.Errorf("%s: %+v, want %q", p.Why, p.Stalled, c.want)
			}
		})
	}
}

func failed() *dbv1.BackupVerification {
	return &dbv1.BackupVerification{Phase: dbv1.VerificationFailed, StartTime: new(metav1.NewTime(noon))}
}

func TestARestoreThatTheEngineCannotRecoverIsStalled(t *testing.T) {
	point := dbv1.RestoreSource{BackupRef: &dbv1.RestoreBackupRef{Name: "first"}, RecoveryTarget: &dbv1.RecoveryTarget{Name: "before the move"}}
	for want, recovery := range map[string]*dbv1.EngineRecovery{
		"": {Targets: []dbv1.EngineRecoveryTarget{dbv1.RecoverToName}},
		"spec.source.recoveryTarget: DatabaseEngine pairdb can recover to a time, but not to a named point. Create another DatabaseRestore": {},
		"spec.source.recoveryTarget: DatabaseEngine pairdb has no action recover. Create another DatabaseRestore":                           nil,
	} {
		for _, mode := range []dbv1.RestoreMode{dbv1.RestorePreview, dbv1.RestoreReplace} {
			seen, restore := orders(), yesterday(point)
			seen.Engine.Spec.Actions.Recover, restore.Spec.Mode = recovery, mode
			p := plan.For(restore, seen)
			if got := p.Stalled; (got == nil) != (want == "") || got != nil && (got.Message != want || got.Reason != dbv1.ReasonFieldUnsupported) {
				t.Errorf("%s: %+v, want %q", mode, got, want)
			}
			if want == "" && mode == dbv1.RestorePreview && !strings.Contains(p.Why, `the data at the point "before the move", from DatabaseBackup first`) {
				t.Error(p.Why)
			}
		}
	}
}

func TestAPreviewRunsLikeTheClusterButNobodyMistakesItForTheCluster(t *testing.T) {
	seen := orders()
	spec := &seen.Cluster.Spec
	spec.Image = "example.test/pairdb:broken"
	spec.Parameters, spec.Paused, spec.Hibernated, spec.Service.Type = map[string]string{"work": "8"}, true, true, corev1.ServiceTypeLoadBalancer
	spec.Backup = &dbv1.ClusterBackup{Archive: &dbv1.ClusterArchive{}, Schedules: []dbv1.BackupSchedule{{Name: "nightly", Schedule: "@daily"}}}
	spec.Pod.Labels, spec.Pod.Sidecars = map[string]string{"app": "orders"}, []dbv1.Sidecar{{}}
	spec.NetworkPolicy.Mode = dbv1.NetworkPolicyNone
	spec.Scheduling = dbv1.ClusterScheduling{NodeSelector: map[string]string{"disk": "fast"}, PriorityClassName: "first", Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}}}
	spec.TLS = &dbv1.ClusterTLS{SecretName: "certificate", Mode: dbv1.TLSAllow}
	spec.Bootstrap = &dbv1.ClusterBootstrap{Database: "shop", FromBackup: &dbv1.BackupSource{Name: "long-ago"}}
	spec.Deletion = dbv1.ClusterDeletion{Protection: true, Hooks: []dbv1.DeletionHook{{Name: "final", Type: dbv1.HookBackup}}}
	spec.Storage = dbv1.ClusterStorage{Size: resource.MustParse("10Gi"), AutoGrow: &dbv1.ClusterAutoGrow{Limit: resource.MustParse("40Gi")}}
	seen.Cluster.Status.Storage = &dbv1.ClusterStorageStatus{Growth: &dbv1.ClusterStorageGrowth{Size: resource.MustParse("50Gi")}}
	spec.AutoResize = &dbv1.ClusterAutoResize{}
	preview := created(t, plan.For(yesterday(dbv1.RestoreSource{RecoveryTarget: at("2026-11-28T11:30:00Z")}), seen))
	got := preview.Spec
	if got.Image != "example.test/pairdb:1" || got.Parameters["work"] != "8" || got.Bootstrap.Database != "shop" || got.Bootstrap.FromBackup.RecoveryTarget.Time != "2026-11-28T11:30:00Z" {
		t.Errorf("it does not run like the cluster: %+v", got)
	}
	if got.Replicas != 1 || got.Paused || got.Hibernated {
		t.Errorf("it has %d members, paused %t, hibernated %t", got.Replicas, got.Paused, got.Hibernated)
	}
	if got.Storage.Size.String() != "50Gi" || got.Storage.AutoGrow != nil || got.AutoResize != nil {
		t.Errorf("its volume is not as large as that of the cluster, or something decides about it: %+v", got.Storage)
	}
	if got.TLS.SecretName != "" || got.TLS.SelfSigned == nil || got.TLS.Mode != dbv1.TLSAllow {
		t.Errorf("its certificate has the names of the cluster: %+v", got.TLS)
	}
	if own := got.NetworkPolicy; own.Mode != "" || own.From[0].PodSelector.MatchLabels[dbv1.LabelInstance] != "yesterday-preview" {
		t.Errorf("every pod may connect to it: %+v", own)
	}
	if got.Scheduling.Affinity != nil || got.Scheduling.PriorityClassName != "" || got.Scheduling.NodeSelector["disk"] != "fast" {
		t.Errorf("it takes the place of a member: %+v", got.Scheduling)
	}
	if got.Backup != nil || got.Service.Type != "" || got.Pod.Labels != nil || got.Pod.Sidecars != nil {
		t.Errorf("it writes backups, or clients of the cluster find it: %+v", got)
	}
	if got.Deletion.Volumes != dbv1.VolumesDelete || got.Deletion.Protection || got.Deletion.Hooks != nil {
		t.Errorf("it is not deleted with its volumes: %+v", got.Deletion)
	}
	if preview.Name != "yesterday-preview" || !metav1.IsControlledBy(preview, yesterday(dbv1.RestoreSource{})) {
		t.Errorf("Kubernetes does not delete it with the restore: %+v", preview.ObjectMeta)
	}
	if spec.Backup == nil || spec.Pod.Labels == nil || spec.Bootstrap.FromBackup.Name != "long-ago" {
		t.Error("the cluster has changed")
	}
}

func TestAPreviewHasTheValuesThatTheEngineDeclaresForPreviews(t *testing.T) {
	for name, of := range map[string]map[string]string{"the cluster sets none": nil, "the cluster sets others": {"read_only": "off", "work": "8"}} {
		t.Run(name, func(t *testing.T) {
			seen := orders()
			seen.Engine.Spec.Parameters = []dbv1.EngineParameter{{Name: "work", Default: "4"}, {Name: "read_only", Default: "off", Preview: "on"}}
			seen.Cluster.Spec.Parameters = of
			got := created(t, plan.For(yesterday(dbv1.RestoreSource{}), seen)).Spec.Parameters
			if got["read_only"] != "on" || got["work"] != of["work"] {
				t.Errorf("it has %v", got)
			}
			if seen.Cluster.Spec.Parameters["read_only"] == "on" {
				t.Error("the cluster has changed")
			}
		})
	}
}

func TestAPreviewOfIndependentMembersHasAsManyAsTheBackup(t *testing.T) {
	seen := orders()
	seen.Engine.Spec.Topology, seen.Backups[1].Status.Replicas = dbv1.TopologyIndependent, 2
	if got := created(t, plan.For(yesterday(dbv1.RestoreSource{}), seen)).Spec.Replicas; got != 2 {
		t.Errorf("it has %d members, want 2", got)
	}
	at := dbv1.RestoreSource{Location: &dbv1.BackupDestination{URL: "s3://backups/shop/orders/second-1"}}
	if got := created(t, plan.For(yesterday(at), seen)).Spec; got.Replicas != 3 || got.Bootstrap.FromBackup.Location.URL != at.Location.URL {
		t.Errorf("from a location, it has %d members from %+v, want those of the cluster", got.Replicas, got.Bootstrap.FromBackup)
	}
}

// shown is the preview with conditions.
func shown(t *testing.T, conditions ...metav1.Condition) plan.RestoreFacts {
	t.Helper()
	preview := created(t, plan.For(yesterday(dbv1.RestoreSource{RecoveryTarget: at("2026-11-28T11:30:00Z")}), orders()))
	preview.Status.Conditions = conditions
	return plan.RestoreFacts{Preview: preview}
}

func TestARestoreReportsItsPreview(t *testing.T) {
	is := func(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
	}
	foreign := shown(t)
	foreign.Preview.OwnerReferences = nil
	leaving := shown(t)
	leaving.Preview.DeletionTimestamp = new(metav1.Now())
	const source = "the data of 2026-11-28T11:30:00Z, from DatabaseBackup second"
	cases := map[string]struct {
		seen          plan.RestoreFacts
		reason, words string
		ready, stalls bool
	}{
		"right after its creation": {shown(t), "Restoring", "DatabaseCluster yesterday-preview gets " + source, false, false},
		"while it starts":          {shown(t, is("Ready", "False", "Restoring", "progressing: restoring")), "Restoring", source + ": progressing: restoring", false, false},
		"while it hibernates":      {shown(t, is("Ready", "True", "Hibernated", "no member runs"), is("Available", "False", "Hibernated", "")), "Restoring", "no member runs", false, false},
		"beside old volumes":       {shown(t, is("Stalled", "True", "VolumeConflict", "remove spec.bootstrap")), "VolumeConflict", "volumes of a previous cluster of that name exist. Delete", false, true},
		"when it is ready":         {shown(t, is("Ready", "True", "Ready", "ready"), is("Available", "True", "AllReplicasReady", "")), "PreviewReady", "has " + source + ". Clients connect to Service yesterday-preview", true, false},
		"when the user must act": {shown(t, is("Ready", "False", "JobBlocked", "stalled: no"), is("Stalled", "True", "JobBlocked", "the archive does not cover it")),
			"JobBlocked", source + ": the archive does not cover it", false, true},
		"of another owner":                   {foreign, "NameConflict", "yesterday-preview exists but does not belong to this DatabaseRestore", false, true},
		"when somebody has deleted it alone": {leaving, "Restoring", "is being deleted; then the operator creates it again", false, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			restore := yesterday(dbv1.RestoreSource{RecoveryTarget: at("2026-11-28T11:30:00Z")})
			p := plan.For(restore, c.seen)
			got := plan.StatusOf(restore, c.seen, p, nil, metav1.NewTime(noon))
			if len(p.Operations) > 0 || len(got.Conditions) != 2 {
				t.Fatalf("operations: %v, conditions: %v", p.Operations, got.Conditions)
			}
			if r := got.Conditions[0]; r.Reason != c.reason || !strings.Contains(r.Message, c.words) || (r.Status == metav1.ConditionTrue) != c.ready {
				t.Errorf("Ready is %+v, want %s: %s", r, c.reason, c.words)
			}
			if s := got.Conditions[1]; (s.Status == metav1.ConditionTrue) != c.stalls {
				t.Errorf("Stalled is %+v, want %t", s, c.stalls)
			}
		})
	}
}

func TestTheStatusOfARestoreHasItsBackupAndTheMomentOfTheData(t *testing.T) {
	seen := shown(t)
	seen.Preview.Status.Restore = &dbv1.ClusterRestoreStatus{RecoveredTo: new(metav1.NewTime(noon)), LastCommitTime: new(metav1.NewTime(noon))}
	restore := yesterday(dbv1.RestoreSource{})
	got := plan.StatusOf(restore, seen, plan.For(restore, seen), nil, metav1.NewTime(noon))
	if got.ObservedGeneration != 1 || got.BackupRef.Name != "second" || got.PreviewRef.Name != "yesterday-preview" || !got.RecoveredTo.Time.Equal(noon) || !got.LastCommitTime.Time.Equal(noon) {
		t.Errorf("%+v", got)
	}
	restore.Status = got
	again := orders()
	again.Backups = append(again.Backups, backup("third", 12))
	if same := created(t, plan.For(restore, again)); same.Spec.Bootstrap.FromBackup.Name != "second" {
		t.Errorf("a preview that is created again begins with %s", same.Spec.Bootstrap.FromBackup.Name)
	}
	if gone := plan.StatusOf(restore, plan.RestoreFacts{}, plan.RestorePlan{}, nil, metav1.NewTime(noon)); gone.PreviewRef != nil || gone.RecoveredTo != nil || gone.LastCommitTime != nil || gone.BackupRef == nil {
		t.Errorf("without the preview: %+v", gone)
	}
}

func TestARequestThatTheAPIServerRefusesStallsTheRestore(t *testing.T) {
	restore := yesterday(dbv1.RestoreSource{})
	err := errors.Join(operation.ForeignError{Kind: "DatabaseCluster", Name: "yesterday-preview", For: "DatabaseRestore"})
	got := plan.StatusOf(restore, plan.RestoreFacts{}, plan.RestorePlan{Ready: true}, err, metav1.NewTime(noon))
	if got.Conditions[0].Reason != dbv1.ReasonNameConflict || got.Conditions[1].Status != metav1.ConditionTrue {
		t.Errorf("%+v", got.Conditions)
	}
}

func TestARestoreThatIsBeingDeletedCreatesNothing(t *testing.T) {
	restore := yesterday(dbv1.RestoreSource{})
	restore.DeletionTimestamp = new(metav1.Now())
	if p := plan.For(restore, orders()); len(p.Operations) > 0 || p.Stalled != nil {
		t.Errorf("%+v", p)
	}
}

// The time of another zone would replace the data hours later, when it has come.
func TestATimeThatWasInTheFutureIsRefusedForGood(t *testing.T) {
	for mode, words := range map[dbv1.RestoreMode]string{
		dbv1.RestorePreview: "2026-11-28T12:01:01Z is after the creation of this DatabaseRestore",
		dbv1.RestoreReplace: "2026-11-28T12:01:01Z is after the creation of this DatabaseRestore",
		dbv1.RestoreUndo:    "there is nothing to undo",
	} {
		restore := yesterday(dbv1.RestoreSource{RecoveryTarget: at("2026-11-28T12:01:01Z")})
		restore.Spec.Mode, restore.CreationTimestamp = mode, metav1.NewTime(time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC))
		if p := plan.For(restore, orders()); len(p.Operations) > 0 || p.Stalled == nil || !strings.Contains(p.Why, words) {
			t.Errorf("%s: %v: %s", mode, p.Operations, p.Why)
		}
		restore.CreationTimestamp = metav1.NewTime(restore.CreationTimestamp.Add(time.Second))
		if p := plan.For(restore, orders()); mode != dbv1.RestoreUndo && p.Stalled != nil {
			t.Errorf("%s, of a clock that is a minute ahead: %s", mode, p.Why)
		}
	}
}
