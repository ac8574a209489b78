/*
SPDX-License-Identifier: Apache-2.0
*/

package space

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

const (
	// lookCounts is the time after which a volume that fills is measured again, and lookAgain that after an answer about another volume.
	lookCounts, lookAgain = 2 * time.Hour, 10 * time.Minute
	// lookPatience is the time limit of the action.
	lookPatience = 4 * time.Minute
	lookDeadline = 10 * time.Minute
)

// lookAction is the kind of the Job that measures what fills a volume. Nothing depends on its success.
var lookAction = jobs.ActionKind{
	Component: dbv1.ComponentMeasure, Retries: 1, Deadline: jobs.Within(lookDeadline), Resources: jobs.BackupResources, Connects: true,
}

// LookJob is the Job of the action measure, if it exists.
type LookJob struct {
	jobs.Job
	Found bool
	// Claim and Capacity are the volume, and the size of its file system when the Job began.
	Claim    string
	Capacity int64
}

// insight is what the action measure has found, and what a pass does to know more.
type insight struct {
	// fullest is the volume of which most is used; empty if none is measured.
	fullest Measured
	// parts is the last answer; nil for none. counts is true if it describes a volume as it fills now.
	parts  *dbv1.ClusterStorageParts
	counts bool
	// awaited is true if an answer follows within minutes.
	awaited    bool
	operations operation.List
	// text is why the parts are unknown; "" for no reason to act.
	text string
	left time.Duration
}

// look measures what fills the fullest volume. It only refines the cause: no growth and no protection needs its answer.
func look(s *situation.Situation, f Facts) insight {
	l, problem := known(s, f)
	if l.fullest.UsedPercent < at(s.Cluster) || l.fullest.shared() || !measures(s) {
		return l
	}
	r := jobs.Run(lookPolicy(s, f), f.Look.Job, f.Look.Found, s.At)
	l.left = r.Left
	switch r.Step {
	case jobs.Create:
		l.start(s, f)
	case jobs.Recreate:
		l.awaited = true
		l.operations = operation.Deletions(operation.Work{Is: operation.Aside, Text: "delete "},
			[]operation.Removal{operation.JobOf(r.Job).Because("the operator measures the volume again")})
	case jobs.AwaitDeletion, jobs.Wait:
		l.awaited = !r.NeedsUser()
		if r.NeedsUser() {
			l.text = r.Message
		}
	case jobs.Failed:
		l.text = fmt.Sprintf("Job %s failed: %s. It runs again at %s", r.Job.Name, strings.TrimSuffix(r.Cause, "."),
			r.Job.EndTime.Add(lookCounts).UTC().Format(time.RFC3339))
	case jobs.Lost:
		l.text = fmt.Sprintf("Job %s failed: %s", r.Job.Name, r.Cause)
	case jobs.Done:
		l.text = problem
	}
	return l
}

// awaits reports whether a growth after one for log that the action has found waits for the next answer: otherwise, each would be for a
// cause that is not known yet.
func (l *insight) awaits(last *dbv1.ClusterStorageGrowth) bool {
	kept := last != nil && last.KeptFor != nil && last.KeptFor.Type != dbv1.KeptForMember && last.KeptFor.From != ""
	return kept && l.awaited
}

// measures reports whether the action may run now.
func measures(s *situation.Situation) bool {
	offered := s.Engine != nil && s.Engine.Spec.Actions.Measure != nil
	idle := s.Cluster.Spec.Paused || s.Stopping() || s.Restoration != nil || s.Switches() || s.Unusable != nil
	return offered && asked(s.Cluster) && !idle
}

// start starts the Job if nothing prevents it.
func (l *insight) start(s *situation.Situation, f Facts) {
	switch obstacle := s.JobObstacle(); {
	case f.Image == "":
		l.text = "the operator runs without --transfer-image"
	case obstacle != "":
		l.text = obstacle
	default:
		job := lookJob(s, f, l.fullest)
		l.awaited = true
		l.operations = operation.List{operation.StartJob("create "+job.String(), job)}
	}
}

// lookPolicy is how the Job runs. An answer about a volume that has grown since does not count.
func lookPolicy(s *situation.Situation, f Facts) jobs.Policy {
	p := lookAction.Policy(s.Cluster)
	p.CountsFor = lookCounts
	of, found := f.volume(f.Look.Claim)
	switch {
	case !found || of.UsedPercent < at(s.Cluster):
		p.CountsFor = lookAgain
	case !alike(of.VolumeUsage.Capacity, f.Look.Capacity):
		p.Restart = f.Look.Ended()
	}
	if found {
		p.Desired = []objects.Child{lookJob(s, f, of)}
	}
	return p
}

// volume is the measurement of a claim.
func (f *Facts) volume(claim string) (Measured, bool) {
	return state.First(f.Measured, func(m Measured) bool { return m.Claim == claim })
}

// alike reports whether a file system has not grown. The capacity of some varies a little.
func alike(capacity, before int64) bool {
	return max(capacity, before)-min(capacity, before) <= before/50
}

// lookJob is the Job that measures a volume.
func lookJob(s *situation.Situation, f Facts, m Measured) objects.Child {
	job := jobs.Build(s.Cluster, jobs.Spec{
		Name: naming.MeasureJob(s.Cluster.Name, s.Cluster.UID), Kind: lookAction, Owner: objects.OwnedBy(s.Cluster), Member: &m.Ordinal,
		Transfer: &jobs.Transfer{Image: f.Image, Call: &protocol.Probe{
			Timeout: lookPatience, ByExitCode: true, Command: s.Engine.Spec.Actions.Measure.Command,
		}},
	})
	return job.Set(occasion(m), "metadata", "annotations", dbv1.AnnotationOccasion)
}

// occasion names the volume of a Job, and the size of its file system.
func occasion(m Measured) string { return fmt.Sprintf("%s/%d", m.Claim, m.VolumeUsage.Capacity) }

// occasionOf reads that; zero values from a text of another form.
func occasionOf(text string) (claim string, capacity int64) {
	claim, number, _ := strings.Cut(text, "/")
	capacity, _ = strconv.ParseInt(number, 10, 64)
	return claim, capacity
}

// answered is the answer of the Job, or the one before. A recorded one stays as it is.
func (f *Facts) answered(before *dbv1.ClusterStorageParts) (parts *dbv1.ClusterStorageParts, problem string) {
	if !f.Look.Found || !f.Look.Succeeded || before != nil && before.Time.Equal(&f.Look.EndTime) {
		return before, ""
	}
	if parts, problem = partsOf(f.Look); problem != "" {
		return before, problem
	}
	parts.OtherBytes = f.other(parts)
	return parts, ""
}

// known is the last answer, and why the Job that has succeeded gives none; "" if it does.
func known(s *situation.Situation, f Facts) (l insight, problem string) {
	l.fullest, _ = f.fullest()
	if before := s.Cluster.Status.Storage; before != nil {
		l.parts = before.Parts
	}
	l.parts, problem = f.answered(l.parts)
	if !f.Asked {
		l.parts = nil
	}
	if l.parts != nil {
		m, measured := f.volume(l.parts.Claim)
		fresh := s.At.Sub(l.parts.Time.Time) < lookCounts+2*lookDeadline
		l.counts = fresh && measured && m.UsedPercent >= at(s.Cluster) && alike(m.VolumeUsage.Capacity, l.parts.CapacityBytes)
	}
	return l, problem
}
