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

// deletable are those of them that may be deleted: where there was to be a final backup, those whose last write it
// holds. Volumes of members that were removed before it are in none.
func deletable(s *situation.Situation) []state.Volume {
	return state.Only(s.Own, func(v state.Volume) bool { return saved(s, v) })
}

// removeVolumes deletes the volumes where the spec asks for it and every hook has succeeded, and waits until they
// are gone.
func (d *deletion) removeVolumes(s *situation.Situation) phase.Outcome {
	volumes := deletable(s)
	if !deletesVolumes(s) || len(unsuccessful(d.hooks)) > 0 || len(volumes) == 0 {
		return phase.Over
	}
	if pods := users(s); len(pods) > 0 {
		outcome := phase.Wait(dbv1.ReasonDeleting, fmt.Sprintf("waiting to delete volumes that pods still use: %s", strings.Join(pods, ", ")))
		outcome.RequeueAfter = situation.UsersAgain
		if nobodyStops(s) {
			outcome.Stalled = &situation.Stall{Reason: dbv1.ReasonNameConflict, Message: outcome.Message +
				". Delete the StatefulSet of these pods, or the pods if they have none. To keep the volumes, set spec.deletion.volumes to Retain"}
		}
		return outcome
	}
	outcome := phase.Wait(dbv1.ReasonDeleting, "deleting, because spec.deletion.volumes is Delete: "+members.Named(volumes))
	if all := append(finished(s), members.Removals(volumes, "spec.deletion.volumes is Delete")...); len(all) > 0 {
		outcome.Operations = operation.List{operation.Delete{Objects: all}}
	}
	return outcome
}

// unsuccessful are the hooks that have not succeeded.
func unsuccessful(hooks []dbv1.HookStatus) []string {
	var names []string
	for _, h := range hooks {
		if h.Phase != dbv1.HookSucceeded {
			names = append(names, fmt.Sprintf("%q (%s)", h.Name, h.Phase))
		}
	}
	return names
}

// users are the pods that run with a volume of the cluster: an earlier one's, too, from which it took the volume over.
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

// nobodyStops tells whether some of these pods stay until a human acts: members whose StatefulSet has become somebody
// else's, or has gone and left them.
func nobodyStops(s *situation.Situation) bool {
	return len(s.Members) > 0 || slices.ContainsFunc(s.Bystanders, func(b state.Bystander) bool {
		return b.Orphan && b.Component == dbv1.ComponentDatabase && !b.Ended
	})
}

// finished are the pods of Jobs that have ended and had a volume: Kubernetes does not let a claim go for as long as
// any pod names it, be it of an earlier cluster from which the volume was taken over.
func finished(s *situation.Situation) []operation.Removal {
	var all []operation.Removal
	for _, b := range s.Bystanders {
		if b.Mounts && b.Component != dbv1.ComponentDatabase && b.Cluster != "" && b.Ended {
			all = append(all, operation.Removal{Kind: "Pod", Name: b.Name, UID: b.UID, Version: b.Version, Why: "it blocks the deletion of a volume"})
		}
	}
	return all
}

// finish lets the cluster go, and says what stays.
func (d *deletion) finish(s *situation.Situation) phase.Outcome {
	stays := func(all []state.Volume) []state.Volume {
		return state.Only(all, func(v state.Volume) bool { return !v.Terminating })
	}
	text, last := "no volumes remain", operation.Finalize{}
	if kept := stays(s.Volumes); len(kept) > 0 {
		text = "retained: " + members.Named(kept)
	}
	if deletesVolumes(s) && len(stays(s.Own)) > 0 {
		last.Kept = fmt.Sprintf("spec.deletion.volumes is Delete, but %s; %s", whyKept(d.hooks), text)
	}
	message := "all members have stopped; " + text
	if left := len(s.Members); left > 0 {
		message = fmt.Sprintf("%d members still run without their StatefulSet; %s", left, text)
	}
	return phase.Do(dbv1.ReasonDeleting, message, last)
}

// whyKept says why volumes stay that the spec wants to be deleted.
func whyKept(hooks []dbv1.HookStatus) string {
	if names := unsuccessful(hooks); len(names) > 0 {
		return "deletion hooks did not succeed: " + strings.Join(names, ", ")
	}
	return "the last backup does not contain the data of members that were removed before it"
}
