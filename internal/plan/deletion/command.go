/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// hookJob returns the name of a hook's Job.
func hookJob(cluster *dbv1.DatabaseCluster, _ string, hook dbv1.DeletionHook) state.Ref {
	return state.Ref{Kind: "Job", Name: naming.HookJob(cluster.Name, hook.Name, cluster.UID)}
}

func commandHook(s *situation.Situation, hook dbv1.DeletionHook) hookView {
	return jobHook(s, hook, resources.HookJob(s.Cluster, hook))
}

// jobHook returns the view of a hook that runs as a Job. While the engine is unknown, the desired Job is unknown, too.
func jobHook(s *situation.Situation, hook dbv1.DeletionHook, job objects.Child) hookView {
	policy := resources.HookAction.Policy(s.Cluster)
	if s.EngineKnown() {
		policy.Desired = []objects.Child{job}
	}
	task, started := s.Hooks[hook.Name]
	r := jobs.Run(policy, task, started, s.At)
	switch r.Step {
	case jobs.Create:
		return start(s, hook, job)
	case jobs.AwaitDeletion:
		return underway("deletion hook %q waits until its previous Job %s is deleted", hook.Name, task.Name)
	case jobs.Recreate:
		view := underway("deletion hook %q starts again as Job %s, because the Job's configuration has changed", hook.Name, task.Name)
		view.operations = operation.Deletion(operation.Recreation(task))
		return view
	case jobs.Done:
		return succeeded("Job %s succeeded", task.Name)
	case jobs.Failed:
		return failed(fmt.Sprintf("See kubectl logs job/%s, then delete the Job to run the hook again", task.Name),
			"deletion hook %q failed: %s", hook.Name, failure(task))
	case jobs.Lost:
		return failed("Recover the node of the pod, or delete the Node object if the node is lost",
			"deletion hook %q failed: Job %s did not finish within spec.deletion.hookDeadlineSeconds (%d s): pod %s does not respond",
			hook.Name, task.Name, s.Cluster.Spec.Deletion.HookDeadlineSeconds, task.Pod)
	case jobs.Wait:
	}
	return runningJob(s, hook, r)
}

// runningJob returns the view of a hook whose Job has not ended.
func runningJob(s *situation.Situation, hook dbv1.DeletionHook, r jobs.Result) hookView {
	task := r.Job
	lacks := after("; ", situation.DescribeMissing(s.Missing()))
	view := underway("deletion hook %q runs as Job %s%s", hook.Name, task.Name, lacks)
	switch {
	case task.Refusal != "":
		view = underway("deletion hook %q runs as Job %s, but the Job does not run: %s%s", hook.Name, task.Name, r.Cause, lacks)
	case task.Problem != "":
		view = underway("deletion hook %q runs as Job %s, but pod %s does not run: %s%s", hook.Name, task.Name, task.Pod, task.Problem, lacks)
	}
	if r.Trouble == jobs.Blocked && lacks == "" {
		view = view.waitsFor(task.ResourcesIn(fmt.Sprintf("spec.deletion.hooks[%s].resources", hook.Name)).Unblock())
	}
	if lacks != "" && (task.Problem != "" || task.Pending) {
		view = view.waitsFor("Create the missing object")
	}
	view.requeueAfter = r.Left
	if task.Pod == "" { // no event reports the cause, or a new pod
		view.requeueAfter = situation.Sooner(r.Left, situation.ProgressRequeue)
	}
	return view
}

// failure describes why a Job failed, with the cause of its last attempt if that is known.
func failure(task jobs.Job) string {
	if task.Problem == "" {
		return task.Failure
	}
	return fmt.Sprintf("%s (pod %s: %s)", task.Failure, task.Pod, task.Problem)
}
