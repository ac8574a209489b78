/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion

import (
	"fmt"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// commandHook runs as a Job.
func commandHook(s *situation.Situation, hook dbv1.DeletionHook) hookView {
	name := naming.HookJob(s.Cluster.Name, hook.Name, s.Cluster.UID)
	task, started := s.Hooks[hook.Name]
	switch {
	case s.Holds("Job", name):
		return taken(hook, "Job", name)
	case task.Ending:
		return underway("deletion hook %q waits for its former Job %s to go", hook.Name, task.Job)
	case !started:
		return start(s, hook, resources.HookJob(s.Cluster, hook))
	case task.Succeeded:
		return succeeded("Job %s has succeeded", task.Job)
	case task.Failed:
		return failed(fmt.Sprintf("See kubectl logs job/%s; then delete that Job to run the hook again", task.Job),
			"deletion hook %q failed: %s", hook.Name, failure(task))
	}
	if outdated(s, hook, task) {
		view := underway("deletion hook %q is started again as Job %s: what that Job is made from has changed", hook.Name, task.Job)
		view.operations = operation.List{operation.Delete{Objects: []operation.Removal{operation.Recreation(task)}}}
		return view
	}
	left, lost := silent(s, task)
	if lost {
		return failed("Bring its node back, or, if that is gone for good, delete the Node object",
			"deletion hook %q failed: Job %s did not end within spec.deletion.deadlineSeconds, %d s: its pod %s does not answer",
			hook.Name, task.Job, s.Cluster.Spec.Deletion.DeadlineSeconds, task.Pod)
	}
	view := runningCommand(s, hook, task)
	view.again = left
	if task.Pod == "" { // no event tells why, nor that it has one now
		view.again = situation.Sooner(left, situation.ProgressAgain)
	}
	return view
}

// silent tells whether a Job that has failed will not say so, or how long that has to be waited for.
func silent(s *situation.Situation, task state.Task) (left time.Duration, lost bool) {
	at, failing := task.LostAt(deadline(s))
	if !failing {
		return 0, false
	}
	left = at.Sub(s.At)
	return max(left, 0), left <= 0
}

// runningCommand is a hook whose Job has not ended.
func runningCommand(s *situation.Situation, hook dbv1.DeletionHook, task state.Task) hookView {
	lacks := after("; ", situation.DescribeMissing(s.Missing()))
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

// outdated reports whether the Job of a hook is to be created again from the spec as it is now, because none of its pods has
// started. While the engine is not known, nothing can be compared.
func outdated(s *situation.Situation, hook dbv1.DeletionHook, task state.Task) bool {
	return s.EngineKnown() && resources.Outdated(task, resources.HookJob(s.Cluster, hook))
}

// failure is why a Job has failed, and what is known of its last try.
func failure(task state.Task) string {
	if task.Problem == "" {
		return task.Failure
	}
	return fmt.Sprintf("%s (pod %s: %s)", task.Failure, task.Pod, task.Problem)
}
