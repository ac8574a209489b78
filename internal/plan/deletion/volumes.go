/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion

import (
	"fmt"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// deletable returns the volumes that may be deleted. With a final backup, these are the volumes whose last write it contains. It
// contains no volumes of members that were removed before it. A user who removes the labels of a claim may want to keep it.
func deletable(s *situation.Situation) []state.Volume {
	return state.Only(s.Own, func(v state.Volume) bool { return saved(s, v) })
}

// removeVolumes deletes the volumes if the spec asks for it and every hook has succeeded. It waits until they no longer exist.
func (d *deletion) removeVolumes(s *situation.Situation) phase.Outcome {
	volumes := deletable(s)
	if !deletesVolumes(s) || len(unsuccessful(d.hooks)) > 0 || len(volumes) == 0 {
		return phase.Over
	}
	if pods := users(s); len(pods) > 0 {
		outcome := phase.Wait(dbv1.ReasonDeleting, fmt.Sprintf("waiting to delete volumes that pods still use: %s", strings.Join(pods, ", ")))
		outcome.RequeueAfter = situation.UsersRequeue
		if orphansUseVolumes(s) {
			outcome.Stalled = &situation.Stall{Reason: dbv1.ReasonNameConflict, Message: outcome.Message +
				". Delete the StatefulSet of these pods, or the pods if they have none. To keep the volumes, set spec.deletion.volumes to Retain"}
		}
		return outcome
	}
	outcome := phase.Wait(dbv1.ReasonDeleting, "deleting, because spec.deletion.volumes is Delete: "+members.Named(volumes))
	claims := members.Removals(volumes, "spec.deletion.volumes is Delete")
	outcome.Operations = append(operation.Deletion(members.Finished(s)...), members.RemoveVolumes(claims)...)
	return outcome
}

// unsuccessful returns the hooks that have not succeeded.
func unsuccessful(hooks []dbv1.HookStatus) []string {
	var names []string
	for _, h := range hooks {
		if h.Phase != dbv1.HookSucceeded {
			names = append(names, fmt.Sprintf("%q (%s)", h.Name, h.Phase))
		}
	}
	return names
}

// users returns the pods that run with a volume of the cluster, including pods of a previous cluster of the same name whose volumes
// it adopted.
func users(s *situation.Situation) []string {
	var pods []string
	for _, m := range s.Members {
		pods = append(pods, m.Name)
	}
	for _, b := range s.Bystanders {
		if situation.UsesVolume(b) {
			pods = append(pods, b.Name)
		}
	}
	return pods
}

// orphansUseVolumes reports whether some of these pods run until the user acts: members whose StatefulSet has another owner now, or was
// deleted with `--cascade=orphan`.
func orphansUseVolumes(s *situation.Situation) bool {
	return len(s.Members) > 0 || slices.ContainsFunc(s.Bystanders, func(b state.Bystander) bool {
		return b.Orphan && b.Component == dbv1.ComponentDatabase && !b.Ended
	})
}

// finish deletes generated objects that are no longer needed, removes the finalizer, and records which volumes are retained.
func (d *deletion) finish(s *situation.Situation) phase.Outcome {
	text, warning := "no volumes remain", operation.Event{}
	kept := situation.Staying(s.Volumes)
	if len(kept) > 0 {
		text = "retained: " + members.Named(kept)
	}
	if deletesVolumes(s) && (len(situation.Staying(s.Own)) > 0 || slices.ContainsFunc(kept, s.Strayed)) {
		warning = operation.Warning("VolumesRetained", "Finalize",
			fmt.Sprintf("spec.deletion.volumes is Delete, but %s; %s", whyKept(s, d.hooks), text))
	}
	message := "all members have stopped; " + text
	if left := len(s.Members); left > 0 {
		message = fmt.Sprintf("%d members still run without their StatefulSet; %s", left, text)
	}
	all := operation.Deletion(slices.Concat(members.AgreementRemovals(s, len(kept) > 0), s.Leftovers)...)
	return phase.Do(dbv1.ReasonDeleting, message, append(all, operation.RemoveFinalizer(operation.LastInDeletion, warning))...)
}

// whyKept returns why volumes are retained although the spec asks for their deletion.
func whyKept(s *situation.Situation, hooks []dbv1.HookStatus) string {
	if names := unsuccessful(hooks); len(names) > 0 {
		return "deletion hooks did not succeed: " + strings.Join(names, ", ")
	}
	if v, strayed := state.First(s.Volumes, s.Strayed); strayed {
		return fmt.Sprintf("PersistentVolumeClaim %s has lost labels of the cluster", v.Claim)
	}
	return "the last backup does not contain the data of members that were removed before it"
}
