/*
SPDX-License-Identifier: Apache-2.0
*/

// Package accounts lets the database of a cluster have the databases and users that Databases and DatabaseUsers declare, by one Job for
// all of them.
package accounts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
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
	d := subject.Decision{Operations: outdated(found)}
	wanted, waiting := wanted(s, found)
	if s.Deleting() || len(wanted) == 0 {
		d.Report = report(found, waiting, s.At)
		return d
	}
	last, ran := found.last()
	switch obstacle := obstacle(s, found); {
	case ran && !over(last.Job, s.At):
		d.RequeueAfter, waiting = running(last.Job, s.At), cmp.Or(blocked(last.Job), waiting)
	case !due(s, found, wanted):
		d.RequeueAfter = found.counts(s.Cluster.Status.Objects) - last.EndedFor(s.At)
	case obstacle != "":
		waiting = obstacle
	default:
		d.Operations = append(d.Operations, start(s, found, wanted))
	}
	d.Report = report(found, waiting, s.At)
	return d
}

// obstacle is why no Job can start now; "" if it can.
func obstacle(s *situation.Situation, found Facts) string {
	switch {
	case s.Cluster.Spec.Paused:
		return "spec.paused of the DatabaseCluster is true. Set it to false"
	case found.Image == "":
		return "the operator runs without --transfer-image, so it cannot create Jobs: set the flag to the operator's own image"
	case s.Unusable != nil:
		return s.Unusable.Message
	case !s.Serves():
		return "no member accepts writes"
	default:
		return s.JobObstacle()
	}
}

// over reports whether a Job has ended, or counts as failed because its node does not respond.
func over(job jobs.Job, at time.Time) bool {
	lost, is := lostAt(job)
	return job.Ended() || is && !lost.After(at)
}

// lostAt is when a Job whose pods do not end counts as failed. A deletion in the foreground waits for the pod, too.
func lostAt(job jobs.Job) (at time.Time, is bool) {
	job.Failing = job.Failing || job.Ending
	return job.LostAt(deadline)
}

// blocked is why the pod of a Job does not run; "" if it runs, or will soon.
func blocked(job jobs.Job) string {
	if job.Refusal == "" && job.Problem == "" {
		return ""
	}
	return fmt.Sprintf("Job %s: %s", job.Name, job.Cause())
}

// running is the time until a Job whose pods do not end counts as failed, or until its pod may exist.
func running(job jobs.Job, at time.Time) time.Duration {
	if lost, is := lostAt(job); is && lost.After(at) {
		return lost.Sub(at)
	}
	if job.AwaitsPod() {
		return situation.ProgressRequeue
	}
	return 0
}

// due reports whether the last result does not count any more.
func due(s *situation.Situation, found Facts, wanted []Declared) bool {
	last, ran := found.last()
	if !ran || last.Occasion != occasion(s) || !last.Ended() || last.EndedFor(s.At) >= found.counts(s.Cluster.Status.Objects) {
		return true
	}
	known := map[string]string{}
	for _, v := range last.Versions {
		known[v.ID] = v.Content
	}
	return slices.ContainsFunc(wanted, func(d Declared) bool { return known[d.ID()] != d.Version() })
}

// counts is how long the last result counts. The status has it when the pod of the Job does not exist any more.
func (f Facts) counts(recorded *dbv1.ClusterObjectsStatus) time.Duration {
	last, _ := f.last()
	if recorded == nil || recorded.JobUID != string(last.UID) || last.Result != nil {
		recorded = resultOf(last)
	}
	failed, _ := protocol.ObjectFailed.Letter()
	leftOut := slices.ContainsFunc(last.Versions, func(v Version) bool { return v.LeftOut })
	if leftOut || recorded.Message != "" || strings.IndexByte(recorded.Results, failed) >= 0 {
		return failedAgain
	}
	return checkAgain
}

// occasion is what can have changed the database beside other clients: a failover that lost writes, a restore, another volume or a restart
// of a server that keeps users in memory, or a request.
func occasion(s *situation.Situation) string {
	primary, has := s.Primary()
	servers := []types.UID{}
	for _, m := range s.Members {
		if !has {
			servers = append(servers, m.UID)
		}
	}
	slices.Sort(servers)
	return volumes(s.Cluster) + objects.Hash([]any{primary.Name, s.Cluster.Annotations[dbv1.AnnotationRefresh], servers})
}

// volumes begins the occasion of a run on the volumes that a cluster uses.
func volumes(c *dbv1.DatabaseCluster) string { return naming.ClaimTemplate(c) + "." }

// start starts a Job with its own name, so that it need not wait for the deletion of the last one.
func start(s *situation.Situation, found Facts, wanted []Declared) operation.Operation {
	versions := make([]string, 0, len(wanted))
	for _, d := range wanted {
		versions = append(versions, d.Version())
	}
	last, _ := found.last()
	spec := jobs.Spec{
		Name: naming.ObjectsJob(s.Cluster.Name, objects.Hash([]any{s.Cluster.UID, last.UID, versions, occasion(s)})),
		Kind: action, Owner: objects.OwnedBy(s.Cluster),
		Transfer: &jobs.Transfer{Image: found.Image, Call: &protocol.Objects{
			Document: naming.ObjectsPath + "/" + documentKey, Command: s.Engine.Spec.Actions.Objects.Command,
		}},
	}
	return Start{Declared: wanted, Occasion: occasion(s), spec: spec, cluster: s.Cluster}
}

// outdated deletes the Jobs that a newer one replaces, with their Secrets, and those that cannot start.
func outdated(found Facts) operation.List {
	var all []operation.Removal
	for i, job := range found.Jobs {
		switch {
		case job.Ending:
		case job.Bare:
			all = append(all, operation.JobOf(job.Job).Because("it has no Secret: the operator ended while it created both"))
		case i < len(found.Jobs)-1 && job.Ended():
			all = append(all, operation.JobOf(job.Job).Because("a newer Job knows the databases and users"))
		}
	}
	if len(all) == 0 {
		return nil
	}
	work := operation.Work{Is: operation.Aside, Text: "delete "}
	return operation.Deletions(work, all)
}
