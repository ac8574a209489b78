/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/restoration/plan"
)

// replaces is a restore that replaces the data of the cluster orders, with its finalizer.
func replaces() *dbv1.DatabaseRestore {
	r := yesterday(dbv1.RestoreSource{})
	r.Spec.Mode, r.Finalizers = dbv1.RestoreReplace, []string{dbv1.Finalizer}
	r.Status.ClusterUID, r.Status.RetainedVolumeClaimTemplate = "c1", naming.DataVolume
	return r
}

var restored = naming.RestoredTemplate("r1")

// held is that cluster while it uses the volumes of one template, and retains those of another one.
func held(stage dbv1.ReplacementStage, used, other string, available bool) plan.RestoreFacts {
	seen := orders()
	seen.Cluster.Status.Replacement = &dbv1.ClusterReplacementStatus{
		RestoreRef: &dbv1.ReplacementRestoreRef{Name: "yesterday", UID: "r1"}, Stage: stage, Message: "a step", VolumeClaimTemplate: used, OtherVolumeClaimTemplate: other,
	}
	is := metav1.Condition{Type: dbv1.ConditionAvailable, Status: metav1.ConditionFalse, Message: "0 of 3 members are ready"}
	if available {
		is.Status = metav1.ConditionTrue
	}
	seen.Cluster.Status.Conditions = []metav1.Condition{is}
	return seen
}

func TestARestoreReportsHowFarTheReplacementIs(t *testing.T) {
	failedFill := held(dbv1.ReplacementRestoring, "data", restored, true)
	failedFill.Cluster.Status.Replacement.Reason, failedFill.Cluster.Status.Replacement.Message = dbv1.ReasonRestoreFailed, "the key is wrong"
	finalFill := failedFill.Cluster.DeepCopy()
	finalFill.Status.Replacement.Failure = "the key is wrong"
	pausedFill := held(dbv1.ReplacementRestoring, "data", restored, true)
	pausedFill.Cluster.Status.Replacement.Reason, pausedFill.Cluster.Status.Replacement.Message = dbv1.ReasonPaused, "spec.paused is true"
	again := orders()
	again.Cluster.Status.Replacement = &dbv1.ClusterReplacementStatus{PastRestores: []string{"yesterday", "today"}}
	another := held(dbv1.ReplacementCompleted, "data-0ffffffff", "data", true)
	another.Cluster.Status.Replacement.RestoreRef = &dbv1.ReplacementRestoreRef{Name: "first", UID: "r0"}
	recreated := orders()
	recreated.Cluster.UID = "c2"
	cases := map[string]struct {
		mode   dbv1.RestoreMode
		seen   plan.RestoreFacts
		reason string
		ready  bool
		words  string
	}{
		"it begins":                    {dbv1.RestoreReplace, orders(), "Replacing", false, "orders begins to restore the data of DatabaseBackup second into new volumes"},
		"it restores":                  {dbv1.RestoreReplace, held(dbv1.ReplacementRestoring, "data", restored, true), "Replacing", false, "gets the data of this restore: a step"},
		"the restore fails":            {dbv1.RestoreReplace, failedFill, "RestoreFailed", false, "the key is wrong. DatabaseCluster orders has not changed"},
		"its failure is final":         {dbv1.RestoreReplace, plan.RestoreFacts{Cluster: finalFill, Engine: failedFill.Engine, Backups: failedFill.Backups}, "RestoreFailed", false, "the key is wrong. DatabaseCluster orders has not changed"},
		"the cluster is paused":        {dbv1.RestoreReplace, pausedFill, "Paused", false, "spec.paused is true"},
		"it was created again":         {dbv1.RestoreReplace, again, "ReplacementHeld", false, "create one with another name"},
		"it switches":                  {dbv1.RestoreReplace, held(dbv1.ReplacementSwitching, "data", restored, false), "Replacing", false, "gets the data of this restore: a step"},
		"the members start":            {dbv1.RestoreReplace, held(dbv1.ReplacementCompleted, restored, "data", false), "Replacing", false, "and is not available: 0 of 3 members are ready"},
		"it is done":                   {dbv1.RestoreReplace, held(dbv1.ReplacementCompleted, restored, "data", true), "Replaced", true, "retained as PersistentVolumeClaims data-orders-*"},
		"an undo has just been asked":  {dbv1.RestoreUndo, held(dbv1.ReplacementCompleted, restored, "data", true), "Replacing", false, "gets its volumes from before"},
		"it is undone":                 {dbv1.RestoreUndo, held(dbv1.ReplacementCompleted, "data", restored, true), "Undone", true, "has its volumes from before"},
		"there is nothing to undo":     {dbv1.RestoreUndo, orders(), "ReplacementHeld", false, "Set spec.mode to Replace"},
		"another one holds volumes":    {dbv1.RestoreReplace, another, "ReplacementHeld", false, "DatabaseRestore first retains other volumes"},
		"the cluster does not exist":   {dbv1.RestoreReplace, plan.RestoreFacts{}, "ClusterMissing", false, "does not exist any more"},
		"there is a new cluster":       {dbv1.RestoreReplace, recreated, "ClusterMissing", false, "Delete this DatabaseRestore"},
		"there is no backup to begin":  {dbv1.RestoreReplace, func() plan.RestoreFacts { o := orders(); o.Backups = nil; return o }(), "BackupMissing", false, "no complete backup"},
		"the engine does not exist":    {dbv1.RestoreReplace, func() plan.RestoreFacts { o := orders(); o.Engine = nil; return o }(), "EngineMissing", false, "DatabaseEngine pairdb"},
		"the cluster is being deleted": {dbv1.RestoreReplace, func() plan.RestoreFacts { o := orders(); o.Cluster.DeletionTimestamp = new(metav1.Now()); return o }(), "ClusterMissing", false, "is being deleted"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			restore := replaces()
			restore.Spec.Mode = c.mode
			p := plan.For(restore, c.seen)
			got := plan.StatusOf(restore, c.seen, p, nil, metav1.NewTime(noon))
			ready := got.Conditions[0]
			if len(p.Operations) > 0 || ready.Reason != c.reason || (ready.Status == metav1.ConditionTrue) != c.ready || !strings.Contains(ready.Message, c.words) {
				t.Errorf("operations %v, Ready %+v, want %s: %s", p.Operations, ready, c.reason, c.words)
			}
		})
	}
}

func TestARestoreHasItsFinalizerAndItsSourceBeforeItReplacesData(t *testing.T) {
	restore := replaces()
	restore.Finalizers, restore.Status = nil, dbv1.DatabaseRestoreStatus{}
	p := plan.For(restore, orders())
	if f, is := p.Operations[0].(operation.Finalizer); !is || !f.Own || f.Remove || len(p.Operations) > 1 {
		t.Errorf("operations %v", p.Operations)
	}
	if s := plan.StatusOf(restore, orders(), p, nil, metav1.NewTime(noon)); s.BackupRef.Name != "second" || s.ClusterUID != "c1" {
		t.Errorf("status %+v", s)
	}
}

// The volumes from before have writes of the time in between.
func TestAnUndoEndsTheReportOfTheRestoredData(t *testing.T) {
	for name, c := range map[string]struct {
		mode    dbv1.RestoreMode
		used    string
		deleted bool
		remains bool
	}{
		"the restored data is in use":         {dbv1.RestoreReplace, restored, false, true},
		"an undo is asked for":                {dbv1.RestoreUndo, restored, false, false},
		"an undo in a deletion":               {dbv1.RestoreUndo, restored, true, false},
		"another replacement after the undo":  {dbv1.RestoreReplace, "data", false, false},
		"a late look at it during a deletion": {dbv1.RestoreReplace, "data", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			restore := replaces()
			restore.Spec.Mode, restore.Status.ReplacedAt = c.mode, new(metav1.NewTime(noon))
			if c.deleted {
				restore.DeletionTimestamp = new(metav1.NewTime(noon))
			}
			seen := held(dbv1.ReplacementSwitching, c.used, "other", false)
			got := plan.StatusOf(restore, seen, plan.For(restore, seen), nil, metav1.NewTime(noon)).ReplacedAt
			if (got != nil) != c.remains {
				t.Errorf("replaced at %v", got)
			}
		})
	}
}

// A user who deletes the object because its time is wrong may be a second too late.
func TestADeletionBeforeTheReportOfTheRestoredDataAcceptsNothing(t *testing.T) {
	restore := replaces()
	seen := held(dbv1.ReplacementCompleted, restored, "data", true)
	report := func(mode dbv1.RestoreMode, seen plan.RestoreFacts, at time.Time) *metav1.Time {
		restore.Spec.Mode = mode
		restore.Status = plan.StatusOf(restore, seen, plan.For(restore, seen), nil, metav1.NewTime(at))
		return restore.Status.ReplacedAt
	}
	undone := held(dbv1.ReplacementCompleted, "data", restored, true)
	for _, step := range []struct {
		what string
		got  *metav1.Time
		want time.Time // zero for none
	}{
		{"while the members start", report(dbv1.RestoreReplace, held(dbv1.ReplacementCompleted, restored, "data", false), noon), time.Time{}},
		{"when it is available", report(dbv1.RestoreReplace, seen, noon), noon},
		{"later", report(dbv1.RestoreReplace, seen, noon.Add(time.Hour)), noon},
		{"undone", report(dbv1.RestoreUndo, undone, noon), time.Time{}},
		{"again", report(dbv1.RestoreReplace, seen, noon.Add(time.Hour)), noon.Add(time.Hour)},
	} {
		if (step.got == nil) != step.want.IsZero() || step.got != nil && !step.got.Time.Equal(step.want) {
			t.Errorf("%s: %v", step.what, step.got)
		}
	}
	seen.Claims = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data-orders-0", Labels: map[string]string{
		dbv1.LabelManagedBy: dbv1.LabelManagedByValue, dbv1.LabelClusterUID: "c1",
	}}}}
	restore.DeletionTimestamp = new(metav1.NewTime(noon.Add(time.Hour - time.Second)))
	p := plan.For(restore, seen)
	if len(p.Operations) > 0 || p.Stalled == nil || !strings.Contains(p.Why, "To keep the present data, delete these PersistentVolumeClaims yourself: data-orders-0") {
		t.Errorf("%v: %s", p.Operations, p.Why)
	}
	if got := report(dbv1.RestoreReplace, seen, noon.Add(2*time.Hour)); !got.Time.Equal(noon.Add(time.Hour)) {
		t.Errorf("a pass of the deletion reports %s", got)
	}
}

func TestAPodThatHasEndedDoesNotKeepARetainedVolume(t *testing.T) {
	restore := replaces()
	restore.DeletionTimestamp = new(metav1.Now())
	restore.Status.ReplacedAt = new(metav1.NewTime(restore.DeletionTimestamp.Add(-time.Second)))
	seen := held(dbv1.ReplacementCompleted, restored, "data", true)
	seen.Claims = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data-orders-0", DeletionTimestamp: new(metav1.Now()), Labels: map[string]string{
		dbv1.LabelManagedBy: dbv1.LabelManagedByValue, dbv1.LabelClusterUID: "c1",
	}}}}
	for name, claim := range map[string]string{"initialize": "data-orders-0", "other": restored + "-orders-0"} {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{dbv1.LabelInstance: "orders", dbv1.LabelClusterUID: "c1", dbv1.LabelComponent: dbv1.ComponentRestore}}}
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
		pod.Status.Phase = corev1.PodSucceeded
		seen.Pods = append(seen.Pods, pod)
	}
	p := plan.For(restore, seen)
	d, is := p.Operations[0].(operation.Delete)
	if !is || len(p.Operations) > 1 || len(d.Objects) != 1 || d.Objects[0].Name != "initialize" {
		t.Errorf("operations %v", p.Operations)
	}
}
