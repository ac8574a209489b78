/*
SPDX-License-Identifier: Apache-2.0
*/

package restore

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// An answer decides only while it is true: a backup may exist later. Without a decision, the search is repeated after a longer time.
const (
	searchCounts = time.Minute
	searchAgain  = 10 * time.Minute
)

// search is the Job that looks for the newest backup, with its next step.
func (r restore) search() jobs.Result {
	policy := resources.SearchAction.Policy(r.Cluster)
	policy.CountsFor, policy.Purpose = searchAgain, "looking for the newest backup below "+r.Search.URL
	found := r.Restore.Search
	if found != nil && r.decides(answerOf(*found)) {
		policy.CountsFor = searchCounts
	}
	if found == nil {
		return jobs.Run(policy, jobs.Job{}, false, r.At)
	}
	if r.Image != "" {
		policy.Desired = []objects.Child{resources.SearchJob(r.Cluster, *r.Search, r.Image)}
	}
	policy.Restart = found.Succeeded && answerOf(*found) == nil
	return jobs.Run(policy, *found, true, r.At)
}

// answerOf is what a search has found; nil if that is unknown. A pod may be deleted before its result is read.
func answerOf(job jobs.Job) *protocol.Found {
	if !job.Succeeded || job.Result == nil {
		return nil
	}
	return job.Result.Found
}

// decides reports whether an answer is enough to decide.
func (r restore) decides(found *protocol.Found) bool {
	return found != nil && (found.Location != "" || state.FromBackup(r.Cluster).IfMissing == dbv1.IfMissingCreate)
}

// choose looks for the newest backup, and records which one it is, or that there is none. Nothing is created for the members before a later
// pass reads that record. So neither a crash nor a later backup changes it.
func (r restore) choose() phase.Outcome {
	switch next := r.search(); next.Step {
	case jobs.Create:
		if r.Image == "" || r.JobObstacle() != "" {
			return phase.Wait(dbv1.ReasonRestoring, strings.TrimSuffix("looking for the newest backup: "+r.JobObstacle(), ": "))
		}
		job := resources.SearchJob(r.Cluster, *r.Search, r.Image)
		start := operation.Create{
			Work: operation.Work{Is: operation.Last, Text: "look for the newest backup, start " + job.String()}, Objects: []objects.Child{job},
			Timed: true,
		}
		return do("looking for the newest backup below "+r.Search.URL, start)
	case jobs.Recreate:
		again := operation.JobOf(next.Job).Because("the operator repeats the search")
		return do("repeating the search for the newest backup below "+r.Search.URL, operation.Deletion(again)...)
	case jobs.Done:
		return r.decide(*answerOf(next.Job))
	case jobs.AwaitDeletion:
		return phase.Wait(dbv1.ReasonRestoring, fmt.Sprintf("waiting until the previous Job %s is deleted", next.Job.Name))
	case jobs.Wait, jobs.Failed, jobs.Lost:
		reason := dbv1.ReasonRestoring
		if next.Cause != "" {
			reason = dbv1.ReasonRestoreRetrying
		}
		return phase.Wait(reason, next.Message)
	}
	return phase.Over
}

// decide records the decision. Without a backup, the spec decides.
func (r restore) decide(found protocol.Found) phase.Outcome {
	now := &dbv1.ClusterBootstrapStatus{
		Decision: dbv1.BootstrapCreate, Folder: r.Search.URL, DecidedAt: metav1.NewTime(r.At), Search: state.SearchID(r.Cluster),
	}
	text := fmt.Sprintf("there is no backup: %s is empty or does not exist. The cluster starts with an empty database", r.Search.URL)
	event := operation.Normal("NoBackupFound", "Restore", text)
	if found.Location != "" {
		now.Decision, now.Location, now.Engine, now.Image = dbv1.BootstrapRestore, found.Location, found.Engine, found.Image
		now.Replicas, now.CompletionTime = int32(found.Members), new(metav1.NewTime(found.Completed.Truncate(time.Second)))
		text = fmt.Sprintf("the cluster starts with %s, the newest backup, which was complete at %s", found.Location,
			found.Completed.UTC().Format(time.RFC3339))
		event = operation.Normal("BackupChosen", "Restore", text)
	}
	record := operation.Record{Work: operation.Work{Is: operation.Last, Text: "record that " + text, Event: event}, Bootstrap: now}
	return do(text, record)
}

// searchStall is why the search cannot continue until the user acts.
func (r restore) searchStall() *situation.Stall {
	next := r.search()
	failed := func(format string, arguments ...any) *situation.Stall {
		return &situation.Stall{Reason: dbv1.ReasonRestoreFailed, Message: fmt.Sprintf(format, arguments...)}
	}
	again := "The operator repeats the search after ten minutes. To repeat it at once, delete Job " + next.Job.Name
	switch {
	case next.Step == jobs.Failed:
		return failed("the newest backup below %s is not known: %s. %s", r.Search.URL, strings.TrimSuffix(next.Cause, "."), again)
	case next.Step == jobs.Done && !r.decides(answerOf(next.Job)):
		return failed("there is no backup: %s is empty or does not exist. Correct spec.bootstrap.fromBackup.newest, or set ifMissing: Create "+
			"beside it, to start with an empty database. %s", r.Search.URL, again)
	}
	return obstructed(next, fmt.Sprintf("Job %s, which looks for the newest backup below %s,", next.Job.Name, r.Search.URL))
}

// newestProblem returns why the chosen backup cannot be restored. A manifest may not record its engine: then the engine's action decides.
func (r restore) newestProblem() string {
	decided := state.Decided(r.Cluster)
	if decided == nil || decided.Engine == "" {
		return ""
	}
	named := fmt.Sprintf("%s, the newest backup below %s,", decided.Location, decided.Folder)
	return r.unsuitable(named, dbv1.DatabaseBackupStatus{Engine: decided.Engine, Replicas: decided.Replicas})
}
