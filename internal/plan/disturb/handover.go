/*
SPDX-License-Identifier: Apache-2.0
*/

// Package disturb decides what has to happen before a member is stopped: the primary hands over to another member, and a member
// that leaves is removed from the membership.
package disturb

import (
	"fmt"
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Again is how long a failed Job is kept before another attempt, and how long the result of a Job counts: members may have
// changed their roles since.
const Again = time.Minute

// HandOver lets another member become the primary before a member is disturbed. It is over if the member is not the primary, is down
// anyway, or is the only one. If the role of a member is unknown, the action finds out.
func HandOver(s *situation.Situation, m state.Member, to []int32) phase.Outcome {
	role := s.RoleOf(m)
	if role == dbv1.RoleReplica || !hasToHandOver(s, m) {
		return phase.Over
	}
	outcome, done := Request(s, m, to, naming.HandOverJob(s.Cluster.Name, string(m.UID)))
	if !done || role == "" {
		return outcome
	}
	if !outcome.Waits() {
		outcome = phase.Wait(dbv1.ReasonHandingOver, fmt.Sprintf("pod %s has handed over; waiting for its role", m.Name))
		outcome.RequeueAfter = Again
	}
	return outcome
}

// Yield is HandOver before all members stop. A deletion tries once: it waits for no hand-over that fails.
func Yield(s *situation.Situation, m state.Member, to []int32) phase.Outcome {
	job, exists := s.JobOf(naming.HandOverJob(s.Cluster.Name, string(m.UID)))
	if s.Deleting() && (exists && !underway(s, job) || s.Terminating || s.JobObstacle() != "") {
		return phase.Over
	}
	return HandOver(s, m, to)
}

// hasToHandOver reports whether a member may be a primary, and another member could take over.
func hasToHandOver(s *situation.Situation, m state.Member) bool {
	return s.HasRoles() && m.Ready && !m.Terminating && slices.ContainsFunc(s.Members, func(other state.Member) bool {
		return other.Name != m.Name && other.Serving(s.At)
	})
}

// Request runs the Job of that name, by which a primary hands over.
func Request(s *situation.Situation, m state.Member, to []int32, job string) (outcome phase.Outcome, done bool) {
	request := resources.HandOver{Member: m.Ordinal, To: to, Name: job, Members: s.End(), Companions: s.Companions != nil}
	return Run(s, resources.HandOverJob(s.Cluster, s.Engine, request), dbv1.ReasonHandingOver,
		fmt.Sprintf("pod %s hands over to another member", m.Name))
}

// Lowest is the serving replica with the lowest ordinal that keeps its volume; none if there is none. It stays the longest. Of the members
// that stay, one on a node that pods need not leave comes first.
func Lowest(s *situation.Situation) []int32 {
	all := s.Successors()
	if m, found := state.First(all, func(m state.Member) bool { return m.Leaves == "" && m.Ordinal < s.Wanted }); found {
		return []int32{m.Ordinal}
	}
	if len(all) == 0 {
		return nil
	}
	return []int32{all[0].Ordinal}
}

// Run executes a Job until it has succeeded, or does not apply. Its result counts for a short time.
func Run(s *situation.Situation, job objects.Child, reason, purpose string) (outcome phase.Outcome, done bool) {
	observed, exists := s.JobOf(job.Name())
	policy := kindOf(component(job)).Policy(s.Cluster)
	policy.Desired, policy.CountsFor, policy.Purpose = []objects.Child{job}, Again, purpose
	switch r := jobs.Run(policy, observed, exists, s.At); {
	case r.Step == jobs.Create && s.JobObstacle() != "":
		return phase.Wait(reason, s.JobObstacle()), false
	case r.Step == jobs.Create:
		return phase.Do(reason, purpose, start(s, job)...), false
	case r.Step == jobs.Recreate:
		return phase.Do(reason, purpose, operation.Deletion(operation.JobOf(observed).Because("it runs again"))...), false
	case counts(observed):
		return phase.Over, true
	default:
		return await(r, reason, purpose), false
	}
}

// Forget deletes the Job of that name, after it has ended: it belongs to a previous request, so its result must not count. It is over when
// no such Job exists.
func Forget(s *situation.Situation, job, reason, purpose string) phase.Outcome {
	observed, exists := s.JobOf(job)
	switch {
	case !exists:
		return phase.Over
	case underway(s, observed):
		return AfterOthers(s, phase.Wait(reason, purpose))
	case observed.Ending || !observed.Ended():
		policy := kindOf(observed.Component).Policy(s.Cluster)
		policy.Purpose = purpose
		return await(jobs.Run(policy, observed, exists, s.At), reason, purpose)
	}
	return phase.Do(reason, purpose, operation.Deletion(operation.JobOf(observed).Because("the same request comes again"))...)
}

// Fails is why the Job of a request does not succeed: it has failed, or cannot start; "" for nothing. A Job that cannot start is deleted,
// so that it does not start later. One whose pod does not respond stays: it may still run, and only the user can end it.
func Fails(s *situation.Situation, job, purpose string) (why string, began operation.List) {
	observed, exists := s.JobOf(job)
	if !exists || observed.Ending || counts(observed) {
		return "", nil
	}
	policy := kindOf(observed.Component).Policy(s.Cluster)
	policy.Purpose = purpose
	switch r := jobs.Run(policy, observed, exists, s.At); {
	case r.Step == jobs.Failed:
		return r.Message, nil
	case r.Step == jobs.Lost:
		return r.Message + ". Until its node responds, nothing shows whether the pod still runs", nil
	case r.Trouble == jobs.Blocked && idle(observed):
		return r.Message, operation.Deletion(operation.JobOf(observed).Because("its request is refused"))
	default:
		return "", nil
	}
}

// start creates a Job after it has deleted the results of previous ones of its kind: an action may undo what another one of its kind has
// done, so only the result of the last one counts, and stays. Jobs that failed stay with their logs.
func start(s *situation.Situation, job objects.Child) operation.List {
	var earlier []operation.Removal
	for _, t := range s.Jobs {
		if t.Component == component(job) && counts(t) {
			earlier = append(earlier, operation.JobOf(t).Because("another one of its kind follows"))
		}
	}
	return append(operation.Deletion(earlier...), operation.Create{Work: operation.Work{
		Is: operation.DisturbanceInDeletion, Text: "create " + job.String(), Event: operation.Normal("ActionStarted", "Action", ""),
	}, Objects: []objects.Child{job}, Timed: true})
}

// Unasked are the hand-overs that nothing asks for when the cluster matches its spec, for example because a node is no longer drained. One
// that has not started does not start later. While the node is drained, the Job of a failed attempt prevents another one.
func Unasked(s *situation.Situation) (all []operation.Removal) {
	if _, drained := s.Drained(); drained && s.MovesPrimary() {
		return nil
	}
	for _, t := range s.Jobs {
		if t.Component == dbv1.ComponentHandOver && !t.Ended() && idle(t) {
			all = append(all, operation.JobOf(t).Because("nothing asks for it any more"))
		}
	}
	return all
}

// counts reports whether a Job has a result: its action has succeeded, or did not apply. The result of a Job that is being deleted is too
// old, or another action of its kind follows.
func counts(t jobs.Job) bool {
	return !t.Ending && (t.Succeeded || t.Failed && t.Code == protocol.ExitNotApplicable)
}

// await is the outcome while a Job has not succeeded. After a failure it runs again, unless its pod does not respond: only the user knows
// whether that still runs. A Job that cannot start needs the user, too.
func await(r jobs.Result, reason, purpose string) phase.Outcome {
	outcome := phase.Wait(reason, r.Message)
	outcome.RequeueAfter = situation.Sooner(r.Left, situation.ProgressRequeue)
	switch {
	case r.Step == jobs.Failed:
		outcome.Message = fmt.Sprintf("%s: Job %s failed: %s. The operator repeats it after a minute", purpose, r.Job.Name, r.Cause)
		outcome.RequeueAfter = Again
	case r.Step == jobs.Lost:
		outcome.Message = fmt.Sprintf("%s: Job %s did not finish within its deadline, because pod %s does not respond. "+
			"Recover the node of the pod, or make sure that the pod does not run and delete the Job", purpose, r.Job.Name, r.Job.Pod)
		outcome.Stalled = &situation.Stall{Reason: dbv1.ReasonJobBlocked, Message: outcome.Message}
	case r.Trouble == jobs.Blocked:
		outcome.Stalled = &situation.Stall{Reason: dbv1.ReasonJobBlocked, Message: outcome.Message}
	}
	return outcome
}

// kindOf is the kind of the actions whose Jobs have a component.
func kindOf(component string) jobs.ActionKind {
	found, _ := state.First(resources.MemberActions, func(k jobs.ActionKind) bool { return k.Component == component })
	return found
}

func component(job objects.Child) string { return job.Object.GetLabels()[dbv1.LabelComponent] }
