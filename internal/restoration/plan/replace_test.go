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
	"github.com/dbcluster/databasecluster-operator/internal/state"
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

func TestADeletedRestoreDeletesTheVolumesThatTheClusterDoesNotUse(t *testing.T) {
	claims := func(uid string, names ...string) (all []corev1.PersistentVolumeClaim) {
		for _, name := range names {
			all = append(all, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "u", ResourceVersion: "1", Labels: map[string]string{
				dbv1.LabelManagedBy: dbv1.LabelManagedByValue, dbv1.LabelClusterUID: uid,
			}}})
		}
		return all
	}
	const replace, undo = dbv1.RestoreReplace, dbv1.RestoreUndo
	before, after := "data-orders-0", restored+"-orders-0"
	gone := plan.RestoreFacts{}
	recreated := orders()
	recreated.Cluster.UID = "c2"
	ends := func(seen plan.RestoreFacts) plan.RestoreFacts {
		seen.Cluster.DeletionTimestamp = new(metav1.Now())
		return seen
	}
	endsWithVolumes := func(seen plan.RestoreFacts) plan.RestoreFacts {
		seen.Cluster.Spec.Deletion.Volumes = dbv1.VolumesDelete
		return ends(seen)
	}
	unreported := held(dbv1.ReplacementCompleted, restored, "data", true)
	starts, undone := held(dbv1.ReplacementCompleted, "data", restored, false), held(dbv1.ReplacementCompleted, "data", restored, true)
	starts.Cluster.Status.Replacement.PastRestores = []string{"yesterday"}
	undone.Cluster.Status.Replacement.PastRestores = []string{"yesterday"}
	cases := map[string]struct {
		seen  plan.RestoreFacts
		mode  dbv1.RestoreMode
		uid   string
		want  string // the deleted claim; "" for none
		keeps bool   // it still has its finalizer
	}{
		"after a replacement":                     {held(dbv1.ReplacementCompleted, restored, "data", true), replace, "c1", before, true},
		"after an undo":                           {held(dbv1.ReplacementCompleted, "data", restored, true), undo, "c1", after, true},
		"before the switch":                       {held(dbv1.ReplacementRestoring, "data", restored, true), replace, "c1", after, true},
		"not during a switch":                     {held(dbv1.ReplacementSwitching, "data", restored, false), replace, "c1", "", true},
		"not while the restored data is not seen": {held(dbv1.ReplacementCompleted, restored, "data", false), replace, "c1", "", true},
		"not before the user could see it":        {unreported, replace, "c1", "", true},
		"not before an undo has worked":           {starts, undo, "c1", "", true},
		"after an undo that has worked":           {undone, undo, "c1", after, true},
		"of a cluster deleted with its volumes":   {endsWithVolumes(held(dbv1.ReplacementCompleted, restored, "data", false)), replace, "c1", before, true},
		"not of one whose volumes outlive it":     {ends(held(dbv1.ReplacementCompleted, restored, "data", false)), replace, "c1", "", false},
		"not after an undo, if asked for again":   {undone, replace, "c1", "", true},
		"before the switch of such a cluster":     {ends(held(dbv1.ReplacementRestoring, "data", restored, true)), replace, "c1", after, true},
		"not of a cluster that is gone":           {gone, replace, "c1", "", false},
		"not those of a new cluster":              {recreated, replace, "c2", "", false},
		"not those of another owner":              {held(dbv1.ReplacementCompleted, restored, "data", true), replace, "c9", "", false},
		"of one that has not begun":               {orders(), replace, "c1", after, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			restore := replaces()
			restore.Spec.Mode, restore.DeletionTimestamp = c.mode, new(metav1.NewTime(noon))
			if c.seen.Cluster != unreported.Cluster {
				restore.Status.ReplacedAt = restore.DeletionTimestamp
			}
			c.seen.Claims = claims(c.uid, before, after, "data-payroll-0")
			p := plan.For(restore, c.seen)
			var got []string
			ends := false
			for _, o := range p.Operations {
				switch o := o.(type) {
				case operation.Delete:
					for _, target := range o.Objects {
						got = append(got, target.Name)
					}
				case operation.Finalizer:
					ends = o.Own && o.Remove
				}
			}
			if strings.Join(got, " ") != c.want || ends == c.keeps {
				t.Errorf("it deletes %v, and ends: %t; want %q: %s", got, ends, c.want, p.Why)
			}
		})
	}
}

// A replacement of such a cluster cannot be undone, so what its members have written is deleted only if the user had accepted the other data.
func TestTheVolumesOfAClusterThatHasEndedAreRetainedUnlessTheUserAcceptedTheOthers(t *testing.T) {
	before, after := "data-orders-0", restored+"-orders-0"
	ends := func(seen plan.RestoreFacts) plan.RestoreFacts {
		seen.Cluster.DeletionTimestamp = new(metav1.Now())
		seen.Cluster.Status.Replacement.PastRestores = []string{"yesterday"}
		return seen
	}
	withVolumes := func(seen plan.RestoreFacts) plan.RestoreFacts {
		seen.Cluster.Spec.Deletion.Volumes = dbv1.VolumesDelete
		return ends(seen)
	}
	recreated := orders()
	recreated.Cluster.UID = "c2"
	cases := map[string]struct {
		seen     plan.RestoreFacts
		mode     dbv1.RestoreMode
		other    string // the volumeClaimTemplate of the status
		reported bool
		filling  bool
		deletes  string // "" for nothing
		keeps    string
	}{
		"reported, and deleted with volumes":  {withVolumes(held(dbv1.ReplacementCompleted, restored, "data", false)), dbv1.RestoreReplace, "data", true, false, before, ""},
		"reported, and being deleted":         {ends(held(dbv1.ReplacementCompleted, restored, "data", false)), dbv1.RestoreReplace, "data", true, false, "", before},
		"not reported, and being deleted":     {withVolumes(held(dbv1.ReplacementCompleted, restored, "data", false)), dbv1.RestoreReplace, "data", false, false, "", before},
		"an undo is asked for":                {withVolumes(held(dbv1.ReplacementCompleted, restored, "data", false)), dbv1.RestoreUndo, "data", true, false, "", before},
		"an undo is being executed":           {ends(held(dbv1.ReplacementSwitching, restored, "data", false)), dbv1.RestoreUndo, "data", true, false, "", before},
		"undone":                              {withVolumes(held(dbv1.ReplacementCompleted, "data", restored, false)), dbv1.RestoreUndo, restored, false, false, "", after},
		"undone, and asked for again":         {withVolumes(held(dbv1.ReplacementRestoring, "data", restored, false)), dbv1.RestoreReplace, restored, true, false, "", after},
		"reported, and it does not exist":     {plan.RestoreFacts{}, dbv1.RestoreReplace, "data", true, false, "", before},
		"not reported, and it does not exist": {plan.RestoreFacts{}, dbv1.RestoreReplace, "data", false, false, "", before},
		"undone, and it does not exist":       {plan.RestoreFacts{}, dbv1.RestoreUndo, restored, false, false, "", after},
		"a switch may not have been reported": {plan.RestoreFacts{}, dbv1.RestoreReplace, restored, false, false, "", after},
		"a restore is not complete":           {plan.RestoreFacts{}, dbv1.RestoreReplace, restored, false, true, after, ""},
		"not reported, and there is another":  {recreated, dbv1.RestoreReplace, "data", false, false, "", before},
		"nothing is left":                     {plan.RestoreFacts{}, dbv1.RestoreReplace, "", false, false, "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			restore := replaces()
			restore.Spec.Mode, restore.Status.RetainedVolumeClaimTemplate = c.mode, c.other
			restore.DeletionTimestamp = new(metav1.NewTime(noon))
			if c.reported {
				restore.Status.ReplacedAt = restore.DeletionTimestamp
			}
			for _, claim := range []string{before, after} {
				contents := state.Contents{Fill: state.Filled, From: "s3://bucket/first", Cluster: "c1"}
				if c.filling {
					contents.Fill = state.Filling
				}
				o := metav1.ObjectMeta{Name: claim, UID: "u", ResourceVersion: "1", Annotations: contents.Annotations(), Labels: map[string]string{
					dbv1.LabelManagedBy: dbv1.LabelManagedByValue, dbv1.LabelClusterUID: "c1",
				}}
				c.seen.Claims = append(c.seen.Claims, corev1.PersistentVolumeClaim{ObjectMeta: o})
			}
			deleted, kept, ends := "", "", false
			for _, o := range plan.For(restore, c.seen).Operations {
				switch o := o.(type) {
				case operation.Delete:
					deleted += o.Objects[0].Name
				case operation.Finalizer:
					kept, ends = o.Event.Note, true
				}
			}
			if deleted != c.deletes || ends == (c.deletes != "") || strings.Contains(kept, "retained: "+c.keeps+".") != (c.keeps != "") || c.keeps == "" && kept != "" {
				t.Errorf("it deletes %q, ends: %t, and retains: %s", deleted, ends, kept)
			}
		})
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
