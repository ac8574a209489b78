/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// deletion goes through the hooks, stops the members one by one, then lets the cluster go. It needs
// neither a valid spec nor a running member, and makes nothing but the hooks' Jobs.
func deletion(cluster *dbv1.DatabaseCluster, observed state.Observed) Plan {
	p := Plan{Labels: labels(cluster, observed)}
	switch {
	case !slices.Contains(cluster.Finalizers, dbv1.Finalizer):
		p.Reason, p.Why = dbv1.ReasonDeleting, "the operator has nothing left to do"
	case protected(&p, cluster):
	case labeling(&p):
		p.Reason = dbv1.ReasonDeleting
	case stopRestore(&p, cluster, observed):
	case runHooks(&p, cluster, observed), lower(&p, observed, 0, dbv1.ReasonStopping), stopOrphans(&p, observed):
	default:
		p.Step = Finalize{}
		p.Reason, p.Why = dbv1.ReasonDeleting, "every member has stopped; the volumes are kept"
		if left := len(observed.Members); left > 0 {
			p.Why = fmt.Sprintf("%d members are left running without the StatefulSet that was theirs; the volumes are kept", left)
		}
	}
	p.Again = again(p, cluster, observed)
	return p
}

// stopOrphans stops, one by one, members that nobody else would: those that run without a StatefulSet, as
// while it is made anew.
func stopOrphans(p *Plan, observed state.Observed) bool {
	if observed.StatefulSet != nil {
		return false
	}
	p.Reason = dbv1.ReasonStopping
	for _, m := range slices.Backward(observed.Members) {
		switch {
		case m.Stopping:
			p.Why = fmt.Sprintf("pod %s is stopping", m.Name)
			return true
		case m.Owner == "":
			p.Step, p.Why = StopMember{m}, fmt.Sprintf("stopping pod %s, which has no StatefulSet", m.Name)
			return true
		}
	}
	return false
}

// runHooks starts the first hook that has not run, or waits for the one that runs. It is false when
// there is nothing left to run.
func runHooks(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	if cluster.Annotations[dbv1.AnnotationSkipDeletionHooks] == "true" || stopping(observed) {
		return false
	}
	for _, hook := range cluster.Spec.Deletion.Hooks {
		seen, started := observed.Hooks[hook.Name]
		switch {
		case observed.Holds("Job", naming.HookJob(cluster.Name, hook.Name, cluster.UID)):
			p.Reason, p.Why = dbv1.ReasonHookFailed, fmt.Sprintf("deletion hook %q cannot start", hook.Name)
			p.Stalled = &Stall{dbv1.ReasonNameConflict, nameConflict(observed.Foreign)}
		case seen.Ending:
			p.Reason, p.Why = dbv1.ReasonHookRunning, fmt.Sprintf("deletion hook %q waits for its former Job %s to go", hook.Name, seen.Job)
		case !started:
			p.Step = RunHook{Hook: hook.Name, Job: resources.HookJob(cluster, hook)}
			p.Reason, p.Why = dbv1.ReasonHookRunning, fmt.Sprintf("starting deletion hook %q", hook.Name)
		case seen.Succeeded, seen.Failed && cluster.Spec.Deletion.OnFailure == dbv1.HookFailureContinue:
			continue
		case seen.Failed:
			p.Reason, p.Why = dbv1.ReasonHookFailed, fmt.Sprintf("deletion hook %q failed: %s", hook.Name, seen.Failure)
			p.Stalled = &Stall{dbv1.ReasonHookFailed, fmt.Sprintf(
				"%s. See kubectl logs job/%s; then delete that Job to run the hook again, or annotate the cluster with %s=true to go on without it",
				p.Why, seen.Job, dbv1.AnnotationSkipDeletionHooks)}
		default:
			p.Reason, p.Why = dbv1.ReasonHookRunning, fmt.Sprintf("deletion hook %q runs as Job %s", hook.Name, seen.Job)
		}
		return true
	}
	return false
}

// stopping tells whether the hooks are done and members have begun to stop: a hook whose Job is gone by
// now must not run a second time, against members that are no more.
func stopping(observed state.Observed) bool {
	return observed.StatefulSet != nil && observed.StatefulSet.Annotations[dbv1.AnnotationStopping] == "true"
}
