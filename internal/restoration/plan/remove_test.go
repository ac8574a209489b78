/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/restoration/plan"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// deleted is a restore that is being deleted.
func deleted(mode dbv1.RestoreMode) *dbv1.DatabaseRestore {
	r := replaces()
	r.Spec.Mode, r.DeletionTimestamp = mode, new(metav1.NewTime(noon))
	return r
}

// claimOf is a claim of the cluster orders.
func claimOf(name string, fill state.Fill) corev1.PersistentVolumeClaim {
	contents := state.Contents{Fill: fill, From: "s3://bucket/first", Cluster: "c1"}
	return corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: "u", ResourceVersion: "1", Annotations: contents.Annotations(),
		Labels: map[string]string{dbv1.LabelManagedBy: dbv1.LabelManagedByValue, dbv1.LabelClusterUID: "c1"},
	}}
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

// The restored data was in use, then the data from before, and then the user has asked for the restored data again. Both have writes.
func TestADeletionBeforeUsedVolumesComeBackAsksTheUser(t *testing.T) {
	first, second := restored+"-orders-0", restored+"-orders-1"
	terminating := func(fill state.Fill) corev1.PersistentVolumeClaim {
		claim := claimOf(first, fill)
		claim.DeletionTimestamp = new(metav1.NewTime(noon))
		return claim
	}
	used := func(stage dbv1.ReplacementStage, available bool, past ...string) plan.RestoreFacts {
		seen := held(stage, "data", restored, available)
		seen.Cluster.Status.Replacement.PastRestores = past
		return seen
	}
	for name, c := range map[string]struct {
		mode    dbv1.RestoreMode
		seen    plan.RestoreFacts
		claims  []corev1.PersistentVolumeClaim
		stalled bool
		deletes bool
		words   string
	}{
		"nothing is deleted": {dbv1.RestoreReplace, used(dbv1.ReplacementCompleted, true, "yesterday"), nil, true, false,
			"set spec.mode to Undo. Or delete these PersistentVolumeClaims yourself: " + first + " " + second},
		"whether available or not": {dbv1.RestoreReplace, used(dbv1.ReplacementCompleted, false, "yesterday"), nil, true, false,
			"while spec.mode is Replace and DatabaseCluster orders has its volumes from before"},
		"Undo is the answer": {dbv1.RestoreUndo, used(dbv1.ReplacementCompleted, true, "yesterday"), nil, false, true, "does not use"},
		"a deleted claim is another one": {dbv1.RestoreReplace, used(dbv1.ReplacementCompleted, true, "yesterday"),
			[]corev1.PersistentVolumeClaim{terminating(state.Filled), claimOf(second, state.Filled)}, false, true, "does not use"},
		"a deleted claim with a part of the data is none": {dbv1.RestoreReplace, used(dbv1.ReplacementCompleted, true, "yesterday"),
			[]corev1.PersistentVolumeClaim{terminating(state.Filling), claimOf(second, state.Filled)}, true, false, "yourself: " + second},
		"parts of the data need no answer": {dbv1.RestoreReplace, used(dbv1.ReplacementCompleted, true, "yesterday"),
			[]corev1.PersistentVolumeClaim{claimOf(first, state.Filling)}, false, true, "does not use"},
		"volumes that no member has used need none": {dbv1.RestoreReplace, used(dbv1.ReplacementCompleted, true, "today"), nil, false, true, "does not use"},
		"the members were about to stop": {dbv1.RestoreReplace, used(dbv1.ReplacementSwitching, false, "yesterday"), nil, false, false,
			"reports which volumes its members use; volumes that no member has used are deleted afterward"},
		"an undo was asked for while they stopped": {dbv1.RestoreUndo, used(dbv1.ReplacementSwitching, false, "yesterday"), nil, false, false,
			"reports which volumes its members use; the volumes that they do not use are deleted afterward"},
	} {
		t.Run(name, func(t *testing.T) {
			c.seen.Claims = c.claims
			if c.claims == nil {
				c.seen.Claims = []corev1.PersistentVolumeClaim{claimOf(first, state.Filled), claimOf(second, state.Filled)}
			}
			p := plan.For(deleted(c.mode), c.seen)
			if held := p.Stalled != nil && p.Stalled.Reason == dbv1.ReasonReplacementHeld; held != c.stalled || (len(p.Operations) > 0) != c.deletes {
				t.Errorf("stalled: %+v, operations %v", p.Stalled, p.Operations)
			}
			if !strings.Contains(p.Why, c.words) {
				t.Errorf("it reports %q, want %q", p.Why, c.words)
			}
		})
	}
}

func TestTheEventAboutRetainedVolumesHasTheCause(t *testing.T) {
	ends := func(volumes dbv1.ClusterVolumePolicy) plan.RestoreFacts {
		seen := held(dbv1.ReplacementCompleted, restored, "data", true)
		seen.Cluster.DeletionTimestamp, seen.Cluster.Spec.Deletion.Volumes = new(metav1.Now()), volumes
		return seen
	}
	for name, c := range map[string]struct {
		mode     dbv1.RestoreMode
		seen     plan.RestoreFacts
		reported bool
		words    string
	}{
		"an undo":                   {dbv1.RestoreUndo, ends(dbv1.VolumesDelete), false, "was deleted while spec.mode is Undo"},
		"no report":                 {dbv1.RestoreReplace, ends(dbv1.VolumesDelete), false, "before this DatabaseRestore reported the restored data"},
		"volumes outlive it":        {dbv1.RestoreReplace, ends(dbv1.VolumesRetain), true, "is being deleted, and its spec.deletion.volumes is not Delete"},
		"the policy is unknown now": {dbv1.RestoreReplace, plan.RestoreFacts{}, true, "whose data this DatabaseRestore has replaced, does not exist any more"},
	} {
		t.Run(name, func(t *testing.T) {
			restore := deleted(c.mode)
			if c.reported {
				restore.Status.ReplacedAt = restore.DeletionTimestamp
			}
			c.seen.Claims = []corev1.PersistentVolumeClaim{claimOf("data-orders-0", state.Filled)}
			p := plan.For(restore, c.seen)
			if f, is := p.Operations[0].(operation.Finalizer); !is || !strings.Contains(f.Event.Note, c.words) || f.Event.Reason != "VolumesRetained" {
				t.Errorf("operations %+v, want the event %q", p.Operations, c.words)
			}
		})
	}
}
