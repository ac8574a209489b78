/*
SPDX-License-Identifier: Apache-2.0
*/

// Package accounts lets the database of a cluster have the databases and users that Databases and DatabaseUsers declare, by one Job for
// all of them.
package accounts

import (
	"maps"
	"slices"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

const (
	// checkAgain is the time after which a result is checked: another client may have changed the database. failedAgain is that after a run
	// that failed, or with an object that failed.
	checkAgain, failedAgain = time.Hour, 5 * time.Minute
	// deadline bounds a run.
	deadline = 10 * time.Minute
	// maxObjects is the maximum number of objects of a cluster: their passwords are in one Secret.
	maxObjects = 1000
	// leftOut begins the version of an object that a Job does not know: its Secret was not the one of the decision.
	leftOut = "-"
)

// Subject are the databases and users of a cluster.
var Subject = subject.Subject{Read: read, Decide: decide, Watches: subject.Watches{Objects: watches, Indexes: indexes}}

// action is the kind of the Jobs.
var action = jobs.ActionKind{
	Component: dbv1.ComponentObjects, Retries: 3, Deadline: jobs.Within(deadline), Resources: jobs.BackupResources,
	Supersede: jobs.SupersedeFailed, Connects: true,
}

// decide starts a Job when the last one does not know what is declared now, or its result is old. No member waits for it.
func decide(s *situation.Situation) subject.Decision {
	found := state.FactsOf[Facts](s.Observed)
	d := subject.Decision{Report: report(found, s.At)}
	d.Operations = outdated(found)
	wanted := wanted(s, found)
	if s.Deleting() || len(wanted) == 0 {
		return d
	}
	last, ran := found.last()
	switch {
	case ran && !over(last, s.At):
		d.RequeueAfter = running(last, s.At)
	case !due(s, found, wanted):
		d.RequeueAfter = found.counts(s.Cluster.Status.Objects) - last.EndedFor(s.At)
	case s.Serves() && s.JobObstacle() == "" && s.Unusable == nil:
		d.Operations = append(d.Operations, start(s, found, wanted))
	}
	return d
}

// over reports whether a Job has ended, or counts as failed because its node does not respond.
func over(job jobs.Job, at time.Time) bool {
	lost, is := job.LostAt(deadline)
	return job.Ended() || is && !lost.After(at)
}

// running is the time until a Job whose pods do not end counts as failed, or until its pod may exist.
func running(job jobs.Job, at time.Time) time.Duration {
	if lost, is := job.LostAt(deadline); is && lost.After(at) {
		return lost.Sub(at)
	}
	if job.AwaitsPod() {
		return situation.ProgressRequeue
	}
	return 0
}

// wanted are the objects that the action gets, in the order of their creation.
func wanted(s *situation.Situation, found Facts) []Declared {
	if s.Engine == nil || s.Engine.Spec.Actions.Objects == nil || found.Image == "" {
		return nil
	}
	all := state.Only(found.Declared, func(d Declared) bool {
		supported := d.Kind == KindUser || engine.HasDatabases(s.Engine)
		return supported && d.Prepared() && d.Older(found.Declared) == nil
	})
	slices.SortFunc(all, compare)
	return all[:min(len(all), maxObjects)]
}

// due reports whether the last result does not count any more.
func due(s *situation.Situation, found Facts, wanted []Declared) bool {
	last, ran := found.last()
	if !ran || found.occasion() != occasion(s) || !last.Ended() || last.EndedFor(s.At) >= found.counts(s.Cluster.Status.Objects) {
		return true
	}
	known := found.versions()
	return slices.ContainsFunc(wanted, func(d Declared) bool {
		return strings.TrimPrefix(known[d.ID()], leftOut) != d.Version()
	})
}

// counts is how long the last result counts. The status has it when the pod of the Job does not exist any more.
func (f Facts) counts(recorded *dbv1.ClusterObjectsStatus) time.Duration {
	last := f.Jobs[len(f.Jobs)-1]
	if recorded == nil || recorded.JobUID != string(last.UID) || last.Result != nil {
		recorded = resultOf(last)
	}
	failed := func(a dbv1.ClusterObjectAnswer) bool { return a.Result == string(protocol.ObjectFailed) }
	left := func(version string) bool { return strings.HasPrefix(version, leftOut) }
	if recorded.Message != "" || recorded.Unlisted > 0 || slices.ContainsFunc(recorded.Answers, failed) ||
		slices.ContainsFunc(slices.Collect(maps.Values(last.Versions)), left) {
		return failedAgain
	}
	return checkAgain
}

// occasion is what can have changed the database beside other clients: a failover that lost writes, a restore, or a request.
func occasion(s *situation.Situation) string {
	primary, _ := s.Primary()
	return objects.Hash([]any{primary.Name, naming.ClaimTemplate(s.Cluster), s.Cluster.Annotations[dbv1.AnnotationRefresh]})
}

// start starts a Job with its own name, so that it need not wait for the deletion of the last one.
func start(s *situation.Situation, found Facts, wanted []Declared) operation.Operation {
	versions := make([]string, 0, len(wanted))
	for _, d := range wanted {
		versions = append(versions, d.Version())
	}
	last, _ := found.last()
	name := naming.ObjectsJob(s.Cluster.Name, objects.Hash([]any{s.Cluster.UID, last.UID, versions, occasion(s)}))
	job := jobs.Build(s.Cluster, jobs.Spec{
		Name: name, Kind: action, Owner: objects.OwnedBy(s.Cluster),
		Transfer: &jobs.Transfer{Image: found.Image, Call: &protocol.Objects{
			Document: naming.ObjectsPath + "/" + documentKey, Command: s.Engine.Spec.Actions.Objects.Command,
		}},
		Secrets: []jobs.SecretFolder{{Name: name, Volume: naming.ObjectsVolume, Path: naming.ObjectsPath}},
	})
	job = job.Set(occasion(s), "metadata", "annotations", dbv1.AnnotationOccasion)
	return Start{Job: job, Declared: wanted}
}

// outdated deletes the Jobs that a newer one replaces, with their Secrets.
func outdated(found Facts) operation.List {
	var all []operation.Removal
	for i, job := range found.Jobs {
		if i < len(found.Jobs)-1 && job.Ended() && !job.Ending {
			all = append(all, operation.JobOf(job.Job).Because("a newer Job knows the databases and users"))
		}
	}
	if len(all) == 0 {
		return nil
	}
	work := operation.Work{Is: operation.Aside, Text: "delete "}
	return operation.Deletions(work, all)
}

// ObjectsRun is a Job with what it knows.
type ObjectsRun struct {
	jobs.Job
	// Versions are by identifier.
	Versions map[string]string
	Occasion string
}

// Facts are what a pass knows about the databases and users of a cluster.
type Facts struct {
	Declared []Declared
	// Jobs are in the order of their creation.
	Jobs []ObjectsRun
	// Image has the transfer program; "" if the operator runs without it.
	Image string
}

func (f Facts) last() (jobs.Job, bool) {
	if len(f.Jobs) == 0 {
		return jobs.Job{}, false
	}
	return f.Jobs[len(f.Jobs)-1].Job, true
}

func (f Facts) versions() map[string]string {
	if len(f.Jobs) == 0 {
		return nil
	}
	return f.Jobs[len(f.Jobs)-1].Versions
}

func (f Facts) occasion() string {
	if len(f.Jobs) == 0 {
		return ""
	}
	return f.Jobs[len(f.Jobs)-1].Occasion
}

// VersionsOf are those in the annotation of a Job.
func VersionsOf(annotations map[string]string) map[string]string {
	all := map[string]string{}
	for pair := range strings.FieldsSeq(annotations[dbv1.AnnotationObjects]) {
		id, version, _ := strings.Cut(pair, "=")
		all[id] = version
	}
	return all
}
