/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion

import (
	"fmt"
	"slices"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// hookView is how one deletion hook stands, and what there is to do for it now.
type hookView struct {
	phase dbv1.HookPhase
	// message says what it does, or why it failed.
	message string
	// remedy says what to do where only a human can do it; reason is that of the Stall then.
	remedy, reason string
	operations     operation.List
	// again is when time alone changes this.
	again   time.Duration
	stopped []dbv1.StoppedMember
	// stops is true where the members stop for this hook, although it is none of type Shutdown.
	stops bool
}

// hookType is what the hooks of one type do.
type hookType struct {
	// see is how a hook stands by what can be seen of it now.
	see func(*situation.Situation, dbv1.DeletionHook) hookView
	// makes names the object that does what the hook is for; nil where none does.
	makes func(cluster *dbv1.DatabaseCluster, fence string, hook dbv1.DeletionHook) state.Ref
}

var hookTypes = map[dbv1.HookType]hookType{
	dbv1.HookBackup:   {backupHook, finalBackup},
	dbv1.HookCommand:  {commandHook, hookJob},
	dbv1.HookShutdown: {shutdownHook, nil},
}

// Makes names the object that does what a hook is for. It has no name where none does, or none can yet.
func Makes(cluster *dbv1.DatabaseCluster, fence string, hook dbv1.DeletionHook) state.Ref {
	if kind := hookTypes[hook.Type]; kind.makes != nil {
		return kind.makes(cluster, fence, hook)
	}
	return state.Ref{}
}

func see(s *situation.Situation, hook dbv1.DeletionHook) hookView {
	kind, known := hookTypes[hook.Type]
	object := Makes(s.Cluster, s.Fence(), hook)
	switch {
	case !known: // another version of the operator allowed it
		return failed("Update the operator", "deletion hook %q has type %q, which this version of the operator does not support", hook.Name, hook.Type)
	case s.Holds(object.Kind, object.Name):
		return taken(hook, object)
	}
	return kind.see(s, hook)
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

// goThrough goes through the hooks in their order, up to the first that is not over, and returns how all stand and what that
// one waits for.
func goThrough(s *situation.Situation) (all []dbv1.HookStatus, waiting phase.Outcome) {
	stops := false
	for _, hook := range s.Cluster.Spec.Deletion.Hooks {
		view := awaitTurn(s, hook, stops)
		if !waiting.Waits() {
			view = look(s, hook)
			if !over(s, view.phase) && !stopping(s, hook) {
				waiting = view.outcome(hook)
			}
			stops = view.stops
		}
		all = append(all, dbv1.HookStatus{Name: hook.Name, Phase: view.phase, Message: view.message, Stopped: view.stopped})
	}
	return all, waiting
}

// awaitTurn is a hook whose turn has not come, or has come before: a final backup that is taken again does not run the
// hooks after it again. How members end that stop for that backup is recorded.
func awaitTurn(s *situation.Situation, hook dbv1.DeletionHook, stops bool) hookView {
	before := reported(s, hook.Name)
	view := hookView{phase: dbv1.HookPending, message: "waiting for the hooks before this one", stopped: before.Stopped}
	if known := before.Phase == dbv1.HookSucceeded || before.Phase == dbv1.HookFailed && passesOn(s); known && !fences(s.Cluster, hook) {
		view.phase, view.message = before.Phase, before.Message
	}
	if stops && hook.Type == dbv1.HookShutdown && !skips(s) {
		view.stopped = record(s, view.stopped)
	}
	return view
}

// over tells whether the deletion goes on after a hook in that phase.
func over(s *situation.Situation, phase dbv1.HookPhase) bool {
	switch phase {
	case dbv1.HookSucceeded, dbv1.HookSkipped:
		return true
	case dbv1.HookFailed:
		return passesOn(s)
	case dbv1.HookPending, dbv1.HookRunning:
	}
	return false
}

// stopping tells whether the members have begun to stop for good: a hook that comes before that and whose Job is
// gone by now must not run a second time, against members that are no more. The mark is this deletion's only with
// the time of it. A backup of members that have stopped can be taken again.
func stopping(s *situation.Situation, hook dbv1.DeletionHook) bool {
	return hook.Type != dbv1.HookShutdown && !fences(s.Cluster, hook) && s.StatefulSet != nil &&
		s.StatefulSet.Annotations[dbv1.AnnotationTerminating] == StoppingMark(s.Cluster)
}

// StoppingMark is the value of the mark on the StatefulSet of a cluster whose members stop for good.
func StoppingMark(cluster *dbv1.DatabaseCluster) string {
	return cluster.DeletionTimestamp.UTC().Format(time.RFC3339)
}

// look is how a hook stands whose turn has come.
func look(s *situation.Situation, hook dbv1.DeletionHook) hookView {
	before, view := reported(s, hook.Name), see(s, hook)
	begun := stopping(s, hook)
	settled := hookView{phase: before.Phase, message: before.Message, stopped: view.stopped}
	switch {
	case before.Phase == dbv1.HookSucceeded && !doubted(s, hook), before.Phase == dbv1.HookFailed && passesOn(s):
		return settled // even if what told that has gone since
	case view.phase == dbv1.HookSucceeded && !(skips(s) && len(unknown(view.stopped)) > 0): // nobody was held, so nobody knows
		return view
	case begun && over(s, before.Phase):
		return settled
	case skips(s):
		view.phase = dbv1.HookSkipped
		view.message = fmt.Sprintf("skipped, because the cluster has the annotation %s=true", dbv1.AnnotationSkipDeletionHooks)
	case begun:
		return failed("Set spec.deletion.onFailure to Continue", "the result of deletion hook %q is unknown; members have started to stop, so the operator does not run the hook again", hook.Name)
	}
	return view
}

// doubted tells whether a hook that has succeeded is looked at again: the volumes that are left are deleted only while
// its backup holds them.
func doubted(s *situation.Situation, hook dbv1.DeletionHook) bool {
	return fences(s.Cluster, hook) && len(s.Own) > 0
}

// reported is what the status says of a hook.
func reported(s *situation.Situation, name string) dbv1.HookStatus {
	i := slices.IndexFunc(s.Cluster.Status.Hooks, func(h dbv1.HookStatus) bool { return h.Name == name })
	if i < 0 {
		return dbv1.HookStatus{}
	}
	return s.Cluster.Status.Hooks[i]
}

// outcome is what the deletion waits for because of a hook.
func (v hookView) outcome(hook dbv1.DeletionHook) phase.Outcome {
	o := phase.Outcome{Operations: v.operations, Reason: dbv1.ReasonHookRunning, Message: v.message, RequeueAfter: v.again}
	switch {
	case v.phase == dbv1.HookFailed:
		o.Reason = dbv1.ReasonHookFailed
	case hook.Type == dbv1.HookShutdown:
		o.Reason = dbv1.ReasonTerminating
	}
	if v.reason != "" {
		o.Stalled = &situation.Stall{Reason: v.reason, Message: fmt.Sprintf("%s. %s. To skip the deletion hooks, set the annotation %s=true on the cluster",
			strings.TrimSuffix(v.message, "."), v.remedy, dbv1.AnnotationSkipDeletionHooks)}
	}
	return o
}

// start starts a hook by making an object, where that is possible.
func start(s *situation.Situation, hook dbv1.DeletionHook, object resources.Child) hookView {
	if s.Terminating {
		return failed("Set spec.deletion.onFailure to Continue",
			"deletion hook %q cannot start: namespace %s is terminating, so the operator cannot create objects in it", hook.Name, s.Cluster.Namespace)
	}
	view := underway("starting deletion hook %q", hook.Name)
	view.operations = operation.List{operation.RunHook{Hook: hook.Name, Object: object}}
	return view
}

// taken is a hook that cannot start because of somebody else's object.
func taken(hook dbv1.DeletionHook, object state.Ref) hookView {
	view := failed(fmt.Sprintf("Delete %s %s", object.Kind, object.Name),
		"deletion hook %q cannot start: %s %s was not created for this cluster, so the operator does not change it", hook.Name, object.Kind, object.Name)
	view.reason = dbv1.ReasonNameConflict
	return view
}
