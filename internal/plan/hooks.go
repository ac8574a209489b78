/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// reporting waits until the status says how the hooks ended: after that nobody can read it any more elsewhere.
func reporting(p *Plan, cluster *dbv1.DatabaseCluster) bool {
	same := slices.EqualFunc(p.Hooks, cluster.Status.Hooks, func(a, b dbv1.HookStatus) bool {
		return samePhase(a, b) && slices.EqualFunc(a.Stopped, b.Stopped, sameEnd)
	})
	if !same {
		p.Reason, p.Why = dbv1.ReasonDeleting, "every member has stopped; noting how the deletion hooks ended"
	}
	return !same
}

func samePhase(a, b dbv1.HookStatus) bool { return a.Name == b.Name && a.Phase == b.Phase }

// hookView is how one deletion hook stands, and what there is to do for it now.
type hookView struct {
	phase dbv1.HookPhase
	// message says what it does, or why it failed.
	message string
	// remedy says what to do where only a human can do it; reason is that of the Stall then.
	remedy, reason string
	step           Step
	// remove are objects to delete.
	remove []Removal
	// again is when time alone changes this.
	again   time.Duration
	stopped []dbv1.StoppedMember
	// stops is true where the members stop for this hook, although it is none of type Shutdown.
	stops bool
}

func underway(format string, arguments ...any) hookView {
	return hookView{phase: dbv1.HookRunning, message: fmt.Sprintf(format, arguments...)}
}

// waitsFor is a hook that goes on by itself as soon as somebody has brought what it waits for.
func (v hookView) waitsFor(remedy string) hookView {
	v.remedy, v.reason = remedy, dbv1.ReasonHookWaiting
	return v
}

func failed(remedy, format string, arguments ...any) hookView {
	return hookView{phase: dbv1.HookFailed, message: fmt.Sprintf(format, arguments...), remedy: remedy, reason: dbv1.ReasonHookFailed}
}

func succeeded(format string, arguments ...any) hookView {
	return hookView{phase: dbv1.HookSucceeded, message: fmt.Sprintf(format, arguments...)}
}

// runHooks goes through the hooks in their order, up to the first that is not over. It is false when all are.
func runHooks(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	p.Hooks = nil
	waits, stops := false, false
	for _, hook := range cluster.Spec.Deletion.Hooks {
		view := awaitTurn(cluster, observed, hook, stops)
		if !waits {
			view = look(cluster, observed, hook)
			if waits = !over(cluster, view.phase) && !stopping(cluster, observed, hook); waits {
				view.tell(p, hook)
			}
			stops = view.stops
		}
		p.Hooks = append(p.Hooks, dbv1.HookStatus{Name: hook.Name, Phase: view.phase, Message: view.message, Stopped: view.stopped})
	}
	return waits
}

// awaitTurn is a hook whose turn has not come, or has come before: a final backup that is taken again does not run the
// hooks after it again. How members end that stop for that backup is recorded.
func awaitTurn(cluster *dbv1.DatabaseCluster, observed state.Observed, hook dbv1.DeletionHook, stops bool) hookView {
	before := reported(cluster, hook.Name)
	view := hookView{phase: dbv1.HookPending, message: "its turn has not come", stopped: before.Stopped}
	if known := before.Phase == dbv1.HookSucceeded || before.Phase == dbv1.HookFailed && passesOn(cluster); known && !fences(cluster, hook) {
		view.phase, view.message = before.Phase, before.Message
	}
	if stops && hook.Type == dbv1.HookShutdown && !skips(cluster) {
		view.stopped = record(cluster, observed, view.stopped)
	}
	return view
}

// over tells whether the deletion goes on after a hook in that phase.
func over(cluster *dbv1.DatabaseCluster, phase dbv1.HookPhase) bool {
	switch phase {
	case dbv1.HookSucceeded, dbv1.HookSkipped:
		return true
	case dbv1.HookFailed:
		return cluster.Spec.Deletion.OnFailure == dbv1.HookFailureContinue
	case dbv1.HookPending, dbv1.HookRunning:
	}
	return false
}

// stopping tells whether the members have begun to stop for good: a hook that comes before that and whose Job is
// gone by now must not run a second time, against members that are no more. The mark is this deletion's only with
// the time of it. A backup of members that have stopped can be taken again.
func stopping(cluster *dbv1.DatabaseCluster, observed state.Observed, hook dbv1.DeletionHook) bool {
	return hook.Type != dbv1.HookShutdown && !fences(cluster, hook) && observed.StatefulSet != nil &&
		observed.StatefulSet.Annotations[dbv1.AnnotationStopping] == StoppingMark(cluster)
}

// StoppingMark is the value of the mark on the StatefulSet of a cluster whose members stop for good.
func StoppingMark(cluster *dbv1.DatabaseCluster) string {
	return cluster.DeletionTimestamp.UTC().Format(time.RFC3339)
}

// look is how a hook stands whose turn has come.
func look(cluster *dbv1.DatabaseCluster, observed state.Observed, hook dbv1.DeletionHook) hookView {
	before, view := reported(cluster, hook.Name), see(cluster, observed, hook)
	begun := stopping(cluster, observed, hook)
	settled := hookView{phase: before.Phase, message: before.Message, stopped: view.stopped}
	switch {
	case before.Phase == dbv1.HookSucceeded && !doubted(cluster, observed, hook), before.Phase == dbv1.HookFailed && passesOn(cluster):
		return settled // even if what told that has gone since
	case view.phase == dbv1.HookSucceeded && !(skips(cluster) && len(unknown(view.stopped)) > 0): // nobody was held, so nobody knows
		return view
	case begun && over(cluster, before.Phase):
		return settled
	case skips(cluster):
		view.phase = dbv1.HookSkipped
		view.message = fmt.Sprintf("left out, because the cluster is annotated with %s=true", dbv1.AnnotationSkipDeletionHooks)
	case begun:
		return failed("", "how deletion hook %q ended is not known; the members have begun to stop, so it does not run again", hook.Name)
	}
	return view
}

// doubted tells whether a hook that has succeeded is looked at again: the volumes that are left are deleted only while
// its backup holds them.
func doubted(cluster *dbv1.DatabaseCluster, observed state.Observed, hook dbv1.DeletionHook) bool {
	return fences(cluster, hook) && len(own(cluster, observed)) > 0
}

// see is how a hook stands by what can be seen of it now.
func see(cluster *dbv1.DatabaseCluster, observed state.Observed, hook dbv1.DeletionHook) hookView {
	var view hookView
	switch hook.Type {
	case dbv1.HookShutdown:
		view = shutdownHook(cluster, observed, reported(cluster, hook.Name))
	case dbv1.HookBackup:
		view = backupHook(cluster, observed, hook)
	case dbv1.HookCommand:
		view = commandHook(cluster, observed, hook)
	}
	return view
}

// reported is what the status says of a hook.
func reported(cluster *dbv1.DatabaseCluster, name string) dbv1.HookStatus {
	i := slices.IndexFunc(cluster.Status.Hooks, func(h dbv1.HookStatus) bool { return h.Name == name })
	if i < 0 {
		return dbv1.HookStatus{}
	}
	return cluster.Status.Hooks[i]
}

// skips tells whether somebody lets the deletion go on without hooks.
func skips(cluster *dbv1.DatabaseCluster) bool {
	return cluster.Annotations[dbv1.AnnotationSkipDeletionHooks] == "true"
}

// tell makes the plan what a hook waits for.
func (v hookView) tell(p *Plan, hook dbv1.DeletionHook) {
	p.Step, p.Why, p.Again, p.Delete = v.step, v.message, v.again, append(p.Delete, v.remove...)
	switch {
	case v.phase == dbv1.HookFailed:
		p.Reason = dbv1.ReasonHookFailed
	case hook.Type == dbv1.HookShutdown:
		p.Reason = dbv1.ReasonStopping
	default:
		p.Reason = dbv1.ReasonHookRunning
	}
	if v.reason == "" {
		return
	}
	p.Stalled = &Stall{v.reason, fmt.Sprintf("%s. %s, or annotate the cluster with %s=true to go on without it",
		strings.TrimSuffix(v.message, "."), v.remedy, dbv1.AnnotationSkipDeletionHooks)}
}

// start starts a hook by making an object, where that is possible.
func start(cluster *dbv1.DatabaseCluster, observed state.Observed, hook dbv1.DeletionHook, object resources.Child) hookView {
	if observed.Terminating {
		return failed("Set spec.deletion.onFailure to Continue",
			"deletion hook %q cannot start: namespace %s is being deleted, and nothing can be created in it", hook.Name, cluster.Namespace)
	}
	view := underway("starting deletion hook %q", hook.Name)
	view.step = RunHook{Hook: hook.Name, Object: object}
	return view
}

// taken is a hook that cannot start because of somebody else's object.
func taken(hook dbv1.DeletionHook, kind, name string) hookView {
	view := failed(fmt.Sprintf("Delete or rename %s %s", kind, name),
		"deletion hook %q cannot start: %s %s was not made for this cluster, so the operator leaves it alone", hook.Name, kind, name)
	view.reason = dbv1.ReasonNameConflict
	return view
}

// commandHook runs as a Job.
func commandHook(cluster *dbv1.DatabaseCluster, observed state.Observed, hook dbv1.DeletionHook) hookView {
	name := naming.HookJob(cluster.Name, hook.Name, cluster.UID)
	task, started := observed.Hooks[hook.Name]
	switch {
	case observed.Holds("Job", name):
		return taken(hook, "Job", name)
	case task.Ending:
		return underway("deletion hook %q waits for its former Job %s to go", hook.Name, task.Job)
	case !started:
		return start(cluster, observed, hook, resources.HookJob(cluster, hook))
	case task.Succeeded:
		return succeeded("Job %s has succeeded", task.Job)
	case task.Failed:
		return failed(fmt.Sprintf("See kubectl logs job/%s; then delete that Job to run the hook again", task.Job),
			"deletion hook %q failed: %s", hook.Name, failure(task))
	}
	if recreateHook(cluster, observed, hook, task) {
		view := underway("deletion hook %q is started again as Job %s: what that Job is made from has changed", hook.Name, task.Job)
		view.remove = []Removal{recreation(task)}
		return view
	}
	left, lost := silent(cluster, observed, task)
	if lost {
		return failed("Bring its node back, or, if that is gone for good, delete the Node object",
			"deletion hook %q failed: Job %s did not end within spec.deletion.deadlineSeconds, %d s: its pod %s does not answer",
			hook.Name, task.Job, cluster.Spec.Deletion.DeadlineSeconds, task.Pod)
	}
	view := runningCommand(observed, hook, task)
	view.again = left
	if task.Pod == "" { // no event tells why, nor that it has one now
		view.again = sooner(left, progressAgain)
	}
	return view
}

// silent tells whether a Job that has failed will not say so, or how long that has to be waited for.
func silent(cluster *dbv1.DatabaseCluster, observed state.Observed, task state.Task) (left time.Duration, lost bool) {
	at, failing := task.LostAt(deadline(cluster))
	if !failing {
		return 0, false
	}
	left = at.Sub(observed.At)
	return max(left, 0), left <= 0
}

// runningCommand is a hook whose Job has not ended.
func runningCommand(observed state.Observed, hook dbv1.DeletionHook, task state.Task) hookView {
	lacks := after("; ", describeMissing(missing(observed)))
	view := underway("deletion hook %q runs as Job %s%s", hook.Name, task.Job, lacks)
	switch {
	case task.Refusal != "":
		view = underway("deletion hook %q runs as Job %s, which does not run: %s%s", hook.Name, task.Job, task.Cause(), lacks)
	case task.Problem != "":
		view = underway("deletion hook %q runs as Job %s, whose pod %s does not run: %s%s", hook.Name, task.Job, task.Pod, task.Problem, lacks)
	}
	if task.Blocked() && lacks == "" {
		own := fmt.Sprintf("spec.deletion.hooks[%s].resources", hook.Name)
		view = view.waitsFor(strings.ReplaceAll(task.Unblock(), state.JobResources, own))
	}
	if lacks != "" && (task.Problem != "" || task.Pending) {
		view = view.waitsFor("Add it")
	}
	return view
}

// failure is why a Job has failed, and what is known of its last try.
func failure(task state.Task) string {
	if task.Problem == "" {
		return task.Failure
	}
	return fmt.Sprintf("%s (pod %s: %s)", task.Failure, task.Pod, task.Problem)
}
