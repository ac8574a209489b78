/*
SPDX-License-Identifier: Apache-2.0
*/

// Package restore decides how a backup is restored into the volumes of a new cluster.
//
// A backup is restored before there is a StatefulSet: the claims are made, marked as being restored into; a Job fills
// each volume; the claims are marked as restored; then the StatefulSet is made and takes them up. How far that is
// the claims and Jobs tell, so it goes on after a crash at any point.
//
// No member has ever run with a volume that bears the first mark, because no StatefulSet is made while one does. What
// is in it is a part of a backup and nothing else. So, and only so, it may be deleted when something else is to be
// restored.
package restore

import (
	"fmt"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/action"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// restore is what is left to restore, and the situation in which it is.
type restore struct {
	*situation.Situation
	*situation.Restoration
	// fills are how the actions stand that fill volumes, once they are judged.
	fills []fill
}

// of is false where nothing is left to restore.
func of(s *situation.Situation) (restore, bool) {
	return restore{Situation: s, Restoration: s.Restoration}, s.Restoration != nil
}

// Restoring takes the next step towards filled volumes. One thing after the other: what a former source left goes,
// the claims are made, the Jobs run, the claims are marked.
func Restoring(s *situation.Situation) phase.Outcome {
	r, left := of(s)
	if !left {
		return phase.Over
	}
	if s.TemplateBlocked() {
		return members.Blocked(s)
	}
	r = r.judge()
	steps := []func() phase.Outcome{r.recreate, r.stopJobs, r.discard, r.prepare, r.start, r.finish, r.wait}
	if s.Stalled != nil && !s.Stalled.Blocked() {
		steps = []func() phase.Outcome{r.recreate, r.wait}
	}
	for _, step := range steps {
		if outcome := step(); outcome.Waits() {
			return outcome
		}
	}
	return phase.Over
}

// do is a step of a restore.
func do(message string, all ...operation.Operation) phase.Outcome {
	return phase.Do(dbv1.ReasonRestoring, message, all...)
}

// stopJobs ends what fills no volume that is wanted, and waits until nothing of it runs any more: two that write into one
// volume would spoil it.
func (r restore) stopJobs() phase.Outcome {
	var wanted []string
	for _, v := range r.Restoration.Own {
		if v.IsFilling() && (v.From == r.ID || r.unknown()) {
			wanted = append(wanted, r.job(v))
		}
	}
	return stopJobs(r.Situation, dbv1.ReasonRestoring, wanted)
}

// unknown tells whether nobody knows just now what is to be restored.
func (r restore) unknown() bool { return r.From == nil && state.FromBackup(r.Cluster) != nil }

// discard deletes the volumes that another restore has begun to fill. Those that it had filled go first: without the
// others nothing would tell any more that they are part of a whole that never was.
func (r restore) discard() phase.Outcome {
	if r.unknown() || !slices.ContainsFunc(r.Restoration.Own, r.outdated) {
		return r.awaitClaims()
	}
	filled := func(v state.Volume) bool { return v.Fill == state.Filled }
	doomed := r.outdated
	if slices.ContainsFunc(r.Restoration.Own, filled) {
		doomed = filled
	}
	all := members.Removals(state.Only(r.Restoration.Own, doomed), "it contains part of a backup that the spec no longer asks for")
	if len(all) == 0 {
		return r.awaitClaims()
	}
	return do("spec.bootstrap.fromBackup or spec.replicas has changed; deleting "+operation.Describe(all), operation.Delete{Objects: all})
}

// outdated tells whether a volume holds a part of what another restore was to bring.
func (r restore) outdated(v state.Volume) bool { return v.IsFilling() && v.From != r.ID }

// awaitClaims waits until the names of claims are free.
func (r restore) awaitClaims() phase.Outcome {
	v, found := state.First(r.Volumes, func(v state.Volume) bool { return v.Terminating })
	if !found {
		return phase.Over
	}
	return do(fmt.Sprintf("PersistentVolumeClaim %s is terminating; the restore continues after the claim is deleted", v.Claim))
}

// prepare makes the claims.
func (r restore) prepare() phase.Outcome {
	if r.From == nil {
		return phase.Over
	}
	var claims []resources.Child
	for ordinal := range r.Cluster.Spec.Replicas {
		if !slices.ContainsFunc(r.Restoration.Own, func(v state.Volume) bool { return v.Ordinal == ordinal }) {
			claims = append(claims, resources.RestoreClaim(r.Cluster, ordinal, r.ID))
		}
	}
	if len(claims) == 0 {
		return phase.Over
	}
	return do("creating the volumes for the restore: "+operation.Describe(claims), operation.CreateVolumes{Claims: claims})
}

// start makes the Jobs that there are not, of all members at once.
func (r restore) start() phase.Outcome {
	if !r.creates() {
		return phase.Over // the condition Stalled says why
	}
	var jobs []resources.Child
	for _, f := range r.fills {
		if f.Standing == action.Absent {
			jobs = append(jobs, r.desired(f.Volume))
		}
	}
	if len(jobs) == 0 {
		return phase.Over
	}
	return do(fmt.Sprintf("restoring %s, starting %s", r.From.URL, operation.Describe(jobs)), operation.StartRestore{From: r.From.URL, Jobs: jobs})
}

// creates reports whether all is known that a Job is made from.
func (r restore) creates() bool {
	return r.From != nil && r.Image != "" && r.Engine != nil && r.Engine.Spec.Actions.Restore != nil
}

// desired is the Job that fills a volume; see creates.
func (r restore) desired(v state.Volume) resources.Child {
	return resources.RestoreJob(r.Cluster, resources.Restore{
		ID: r.ID, From: *r.From, Command: r.Engine.Spec.Actions.Restore.Command, Image: r.Image,
	}, v)
}

// finish marks the claims once every volume is filled.
func (r restore) finish() phase.Outcome {
	unfilled := func(f fill) bool { return f.Standing != action.Succeeded }
	if r.From == nil || len(r.fills) == 0 || slices.ContainsFunc(r.fills, unfilled) {
		return phase.Over
	}
	return do(r.From.URL+" is restored into the volumes of all members", operation.FinishRestore{From: r.From.URL, Volumes: r.Filling()})
}

func (r restore) job(v state.Volume) string {
	return naming.RestoreJob(r.Cluster.Name, v.From, v.UID, v.Ordinal)
}

// wait says what the Jobs do, and whether all is well with them: no numbers, which change by themselves and are in
// the status.
func (r restore) wait() phase.Outcome {
	switch {
	case r.Stalled != nil:
		return do(r.Stalled.Message)
	case r.From == nil:
		return do(sourceText(r.Cluster, r.Restore.Backup))
	}
	reason := dbv1.ReasonRestoring
	texts := []string{fmt.Sprintf("restoring %s into the volumes of all members; see status.restore for progress", r.From.URL)}
	for _, f := range r.fills {
		switch {
		case f.Standing == action.Terminating:
			texts = append(texts, fmt.Sprintf("waiting until the previous Job %s is deleted", f.Task.Job))
		case f.Standing == action.Failing:
			texts = append(texts, fmt.Sprintf("Job %s failed: %s", f.Task.Job, f.Cause))
		case f.Standing != action.Succeeded && f.Cause != "":
			reason = dbv1.ReasonRestoreRetrying
			texts = append(texts, fmt.Sprintf("Kubernetes retries Job %s: %s", f.Task.Job, f.Cause))
		}
	}
	return phase.Wait(reason, strings.Join(texts, "; "))
}
