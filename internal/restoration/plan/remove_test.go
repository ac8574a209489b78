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
			"set spec.mode to Undo, or delete these PersistentVolumeClaims yourself: " + first + " " + second},
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
