/*
SPDX-License-Identifier: Apache-2.0
*/

package replacement

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/restore"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// report writes status.replacement. With the volumes that it names the next pass creates the members, so it changes only after the members
// have stopped: see situation.Switched.
func report(s *situation.Situation) subject.Report {
	return func(_ subject.Executed, status *dbv1.DatabaseClusterStatus) []metav1.Condition {
		if !s.Deleting() {
			status.Replacement = statusOf(s)
		}
		return nil
	}
}

func statusOf(s *situation.Situation) *dbv1.ClusterReplacementStatus {
	used, before, r := naming.ClaimTemplate(s.Cluster), s.Cluster.Status.Replacement, s.Replacement
	if before == nil {
		before = &dbv1.ClusterReplacementStatus{}
	}
	if r == nil {
		return released(used, before)
	}
	now := &dbv1.ClusterReplacementStatus{
		RestoreRef: &r.Restore, VolumeClaimTemplate: used, OtherVolumeClaimTemplate: r.Template, Stage: dbv1.ReplacementCompleted,
		PastRestores: before.PastRestores, Restore: before.Restore, SwitchedAt: before.SwitchedAt,
	}
	if r.Source != nil {
		now.Failure = restore.Failure(s.Next)
	}
	progress := fill(s).Message
	if r.Source != nil && r.Asked {
		now.Restore = restore.Status(s.Next, progress, restore.Stalled(s.Next))
	}
	switch {
	case s.Switched():
		now.VolumeClaimTemplate, now.OtherVolumeClaimTemplate = r.Template, used
		now.PastRestores, now.SwitchedAt = with(before.PastRestores, r.Restore.Name), new(metav1.NewTime(s.At))
		return now
	case s.Switches():
		now.Stage, now.Message = dbv1.ReplacementSwitching, switching(s)
	case r.Asked:
		now.Stage, now.Message = dbv1.ReplacementRestoring, progress
	}
	if stall := stalled(s); stall != nil {
		now.Reason, now.Message = stall.Reason, stall.Message
	}
	return now
}

// switching describes a switch, with the pod that it may wait for without a limit.
func switching(s *situation.Situation) string {
	if pod, archives := s.Archives(); archives && s.Detached() {
		return archiving(s, pod)
	}
	return purpose(s)
}

// maxPast bounds the names of DatabaseRestores that are remembered.
const maxPast = 50

// with moves a name to the end.
func with(past []string, name string) []string {
	others := slices.DeleteFunc(slices.Clone(past), func(n string) bool { return n == name })
	return append(others[max(0, len(others)+1-maxPast):], name)
}

// released keeps, after the DatabaseRestore is deleted, its name, which volumes the members use, and since when.
func released(used string, before *dbv1.ClusterReplacementStatus) *dbv1.ClusterReplacementStatus {
	if used == naming.DataVolume && len(before.PastRestores) == 0 {
		return nil
	}
	return &dbv1.ClusterReplacementStatus{VolumeClaimTemplate: used, PastRestores: before.PastRestores, SwitchedAt: before.SwitchedAt}
}

// stalled is why the replacement waits for the user; nil if it does not.
func stalled(s *situation.Situation) *situation.Stall {
	next := s.Next
	conflict := func(format string, arguments ...any) *situation.Stall {
		return &situation.Stall{Reason: dbv1.ReasonVolumeConflict, Message: fmt.Sprintf(format, arguments...)}
	}
	if !s.Replacement.Asked {
		return nil
	}
	if s.Ephemeral() {
		return conflict("spec.storage.ephemeral is true, so there are no volumes to replace. Use a preview")
	}
	if s.Cluster.Spec.Paused {
		return &situation.Stall{Reason: dbv1.ReasonPaused, Message: "spec.paused of the DatabaseCluster is true. Set it to false"}
	}
	if stall := restore.Stalled(next); stall != nil && s.Replacement.Source != nil {
		return stall
	}
	switch {
	case s.Switches(), next.Restoration != nil:
		return nil
	case len(next.Lost) > 0:
		return conflict("PersistentVolumeClaim %s, which has data that no other volume has, does not exist any more. Set spec.mode of the "+
			"DatabaseRestore back, to keep the present volumes", next.Lost[0].Claim)
	case next.Obstacle() != "":
		return conflict("the members would not start with the other volumes: %s", next.Obstacle())
	default:
		return conflict("the PersistentVolumeClaims of volumeClaimTemplate %s do not exist any more, or are terminating. Delete the "+
			"DatabaseRestore, and create another one", s.Replacement.Template)
	}
}
