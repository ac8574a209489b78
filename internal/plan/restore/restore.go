/*
SPDX-License-Identifier: Apache-2.0
*/

// Package restore decides how a new cluster gets its first data: a backup is restored into its volumes, or its engine creates the data.
// Members of one database get it in the volume of member 0, and the others copy it. Below, a restore means both.
//
// A backup is restored before the StatefulSet exists. The operator creates the claims and annotates them as being restored. A Job
// fills each volume. The operator annotates the claims as restored, then creates the StatefulSet, which uses them. The claims and
// Jobs contain the progress, so the restore continues after a crash at any point.
//
// No member has ever run with a volume that has the first annotation, because the operator creates no StatefulSet while one does.
// Such a volume contains only part of a backup. Only for this reason the operator may delete it when the spec asks for another
// restore.
package restore

import (
	"fmt"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// restore is an unfinished restore, with the situation.
type restore struct {
	*situation.Situation
	*situation.Restoration
	// fills are the volumes with the next steps of their Jobs, after they are judged.
	fills []fill
}

// of returns the restore; it is false if nothing is left to restore.
func of(s *situation.Situation) (restore, bool) {
	return restore{Situation: s, Restoration: s.Restoration}, s.Restoration != nil
}

// Restoring executes the next step of a restore. It deletes the remains of another source, creates the claims, runs the Jobs, and
// annotates the claims.
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
	switch {
	case s.Stalled != nil && !s.Stalled.Blocked():
		steps = []func() phase.Outcome{r.recreate, r.wait}
	case r.Search != nil:
		steps = []func() phase.Outcome{r.stopJobs, r.choose}
	}
	for _, step := range steps {
		if outcome := step(); outcome.Waits() {
			return r.outcome(outcome)
		}
	}
	return phase.Over
}

// do is one step of a restore.
func do(message string, all ...operation.Operation) phase.Outcome {
	return phase.Do(dbv1.ReasonRestoring, message, all...)
}

// stopJobs deletes Jobs that fill no volume of this restore and waits until their pods have terminated: two writers would corrupt a
// volume.
func (r restore) stopJobs() phase.Outcome {
	var wanted []string
	for _, v := range r.Restoration.Own {
		if v.IsFilling() && (v.From == r.ID || r.unknown()) {
			wanted = append(wanted, r.job(v))
		}
	}
	return stopJobs(r.Situation, dbv1.ReasonRestoring, wanted)
}

// unknown reports whether the source of the restore is currently unknown.
func (r restore) unknown() bool { return !r.Known() && state.FromBackup(r.Cluster) != nil }

// discard deletes the volumes of another restore. Volumes that it had filled are deleted first: without the other volumes, no
// record would show that they belong to an incomplete restore.
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
	changed := state.SourceField(r.Cluster, "") + " or spec.replicas has changed"
	return do(changed+"; deleting "+operation.Describe(all), members.RemoveVolumes(all)...)
}

// outdated reports whether a volume contains part of another restore.
func (r restore) outdated(v state.Volume) bool { return v.IsFilling() && v.From != r.ID }

// awaitClaims waits until the names of the claims are free. The pods of Jobs that have ended would keep them for days.
func (r restore) awaitClaims() phase.Outcome {
	v, found := state.First(r.Volumes, func(v state.Volume) bool { return v.Terminating })
	if !found {
		return phase.Over
	}
	text := fmt.Sprintf("PersistentVolumeClaim %s is terminating; the restore continues after the claim is deleted", v.Claim)
	return do(text, operation.Deletion(members.Finished(r.Situation)...)...)
}

// prepare creates the claims.
func (r restore) prepare() phase.Outcome {
	if !r.Known() {
		return phase.Over
	}
	var claims []objects.Child
	for ordinal := range r.Members {
		if !slices.ContainsFunc(r.Restoration.Own, func(v state.Volume) bool { return v.Ordinal == ordinal }) {
			claims = append(claims, resources.RestoreClaim(r.Cluster, ordinal, r.ID))
		}
	}
	if len(claims) == 0 {
		return phase.Over
	}
	names := operation.Describe(claims)
	return do("creating the volumes: "+names,
		operation.Create{Work: operation.Work{Is: operation.Last, Text: "create " + names}, Objects: claims})
}

// start creates the missing Jobs of all members at once.
func (r restore) start() phase.Outcome {
	if !r.creates() {
		return phase.Over // the condition Stalled has the cause
	}
	var missing []objects.Child
	for _, f := range r.fills {
		if f.Step == jobs.Create {
			missing = append(missing, r.desired(f.Volume))
		}
	}
	if len(missing) == 0 {
		return phase.Over
	}
	names := operation.Describe(missing)
	return do(fmt.Sprintf("%s, starting %s", r.beginning(), names), operation.Create{Work: operation.Work{
		Is: operation.Last, Text: "restore " + r.Source() + ", start " + names, Event: r.event(
			operation.Normal("RestoreStarted", "Restore", r.beginning()+" by "+names),
			operation.Normal("InitializationStarted", "Initialize", r.beginning()+" by "+names)),
	}, Objects: missing})
}

// creates reports whether the operator knows all inputs of a Job, and its pods would not run as the ServiceAccount of another owner.
func (r restore) creates() bool {
	return r.Known() && r.Image != "" && r.JobObstacle() == "" && r.command() != nil && (r.Initializes || r.reaches())
}

// reaches reports whether the engine can recover to the target of the restore.
func (r restore) reaches() bool {
	return engine.Unreachable(state.FromBackup(r.Cluster).RecoveryTarget, r.Engine) == ""
}

// command is the action of the engine that fills a volume; nil if the engine has none.
func (r restore) command() *dbv1.EngineAction {
	switch {
	case r.Engine == nil:
		return nil
	case r.Initializes:
		return r.Engine.Spec.Actions.Initialize
	default:
		return r.Engine.Spec.Actions.Restore
	}
}

// desired returns the Job that fills a volume; see creates.
func (r restore) desired(v state.Volume) objects.Child {
	job := resources.Restore{ID: r.ID, Command: r.command().Command, Image: r.Image, Members: r.Members}
	if r.Initializes {
		return resources.InitializeJob(r.Cluster, job, v)
	}
	job.From = *r.From
	if target := state.FromBackup(r.Cluster).RecoveryTarget; target != nil {
		job.Recover, job.Until, job.Point = r.Engine.Spec.Actions.Recover.Command, target.Time, target.Name
	}
	return resources.RestoreJob(r.Cluster, job, v)
}

// finish annotates the claims after every volume is filled. Members may use the volumes after that. The pod that has all data starts before
// the others.
func (r restore) finish() phase.Outcome {
	unfilled := func(f fill) bool { return f.Step != jobs.Done }
	if !r.Known() || len(r.fills) == 0 || slices.ContainsFunc(r.fills, unfilled) {
		return phase.Over
	}
	first, term := "", ""
	if r.HasRoles() { // only its volume has data
		first = naming.Member(r.Cluster.Name, 0)
	}
	if first != "" && engine.LockOf(r.Engine) == nil {
		term = state.ExtentOf(r.StatefulSet).Term()
	}
	var all []operation.Patch
	for _, v := range r.Filling() {
		filled := v.Contents
		filled.Fill, filled.From, filled.Primary, filled.Term, filled.Voters = state.Filled, r.Source(), first, term, 0
		all = append(all, members.Containing(r.Situation, v, filled))
	}
	return do(r.result(), operation.Change{Work: operation.Work{
		Is: operation.Last, Text: fmt.Sprintf("mark %d volumes as restored from %s", len(all), r.Source()),
		Event: r.event(
			operation.Normal("RestoreCompleted", "Restore", r.result()+"; the members start with it"),
			operation.Normal("InitializationCompleted", "Initialize", r.result()+"; the members start with it")),
	}, Patches: all})
}

func (r restore) job(v state.Volume) string {
	return naming.RestoreJob(r.Cluster.Name, v.From, v.UID, v.Ordinal)
}

// wait describes the Jobs and their problems. It contains no numbers, because these change all the time and are in the status.
func (r restore) wait() phase.Outcome {
	switch {
	case r.Stalled != nil:
		return do(r.Stalled.Message)
	case !r.Known():
		return do(sourceText(r.Cluster, r.Restore.Backup))
	}
	reason := dbv1.ReasonRestoring
	texts := []string{r.purpose()}
	if !r.Initializes {
		texts[0] += "; see status." + state.RestoreProgress(r.Cluster) + " for progress"
	}
	for _, f := range r.fills {
		switch {
		case f.Step == jobs.AwaitDeletion:
			texts = append(texts, fmt.Sprintf("waiting until the previous Job %s is deleted", f.Job.Name))
		case f.Trouble == jobs.Failing:
			texts = append(texts, fmt.Sprintf("Job %s failed: %s", f.Job.Name, f.Cause))
		case f.Step != jobs.Done && f.Cause != "":
			reason = dbv1.ReasonRestoreRetrying
			texts = append(texts, fmt.Sprintf("Kubernetes retries Job %s: %s", f.Job.Name, f.Cause))
		}
	}
	return phase.Wait(reason, strings.Join(texts, "; "))
}
