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
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// hookView is the state of a deletion hook, with its next operations.
type hookView struct {
	phase dbv1.HookPhase
	// message describes progress or the cause of a failure.
	message string
	// remedy is the action that the user has to take; reason is the reason of the Stall.
	remedy, reason string
	operations     operation.List
	// requeueAfter is the time after which this changes without an event.
	requeueAfter time.Duration
	stopped      []dbv1.StoppedMember
	// stops is true if the members stop for this hook although its type is not Shutdown.
	stops bool
}

// hookType implements the hooks of one type.
type hookType struct {
	// see returns the observed state of the hook.
	see func(*situation.Situation, dbv1.DeletionHook) hookView
	// makes returns the object of the hook; nil if the type creates none.
	makes func(cluster *dbv1.DatabaseCluster, fence string, hook dbv1.DeletionHook) state.Ref
}

var hookTypes = map[dbv1.HookType]hookType{
	dbv1.HookBackup:   {backupHook, finalBackup},
	dbv1.HookCommand:  {commandHook, hookJob},
	dbv1.HookShutdown: {shutdownHook, nil},
}

// Makes returns the object that a hook creates. Its name is empty if the hook creates none, or none yet.
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
		return failed("Update the operator", "deletion hook %q has type %q, which this version of the operator does not support", hook.Name,
			hook.Type)
	case s.OwnedByAnother(object.Kind, object.Name):
		return taken(hook, object)
	}
	return kind.see(s, hook)
}

func underway(format string, arguments ...any) hookView {
	return hookView{phase: dbv1.HookRunning, message: fmt.Sprintf(format, arguments...)}
}

// waitsFor returns a hook that continues by itself after the user has acted.
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

// goThrough returns the states of all hooks, in their order, and the outcome of the first one that blocks the deletion.
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

// awaitTurn returns a hook that waits for the hooks before it, or that has run before: a repeated final backup does not repeat the
// hooks after it. The view records the exit codes of members that stop for that backup.
func awaitTurn(s *situation.Situation, hook dbv1.DeletionHook, stops bool) hookView {
	before := reported(s, hook.Name)
	view := hookView{phase: dbv1.HookPending, message: "waiting for the hooks before this one", stopped: before.Stopped}
	if known := before.Phase == dbv1.HookSucceeded || before.Phase == dbv1.HookFailed && continuesOnFailure(s); known &&
		!situation.Fences(s.Cluster, hook) {
		view.phase, view.message = before.Phase, before.Message
	}
	if stops && hook.Type == dbv1.HookShutdown && !s.Skips() {
		view.stopped = record(s, view.stopped)
	}
	return view
}

// over reports whether the deletion continues after a hook in that phase.
func over(s *situation.Situation, phase dbv1.HookPhase) bool {
	switch phase {
	case dbv1.HookSucceeded, dbv1.HookSkipped:
		return true
	case dbv1.HookFailed:
		return continuesOnFailure(s)
	case dbv1.HookPending, dbv1.HookRunning:
	}
	return false
}

// stopping reports whether the members have started to stop permanently. A hook that precedes this and whose Job no longer exists
// must not run again, because its members no longer run. The mark belongs to this deletion only if it has the deletion's time. A
// backup of stopped members can be repeated.
func stopping(s *situation.Situation, hook dbv1.DeletionHook) bool {
	return hook.Type != dbv1.HookShutdown && !situation.Fences(s.Cluster, hook) && s.StatefulSet != nil &&
		s.StatefulSet.Annotations[dbv1.AnnotationTerminating] == members.TerminatingMark(s.Cluster)
}

// look returns the state of the current hook.
func look(s *situation.Situation, hook dbv1.DeletionHook) hookView {
	before, view := reported(s, hook.Name), see(s, hook)
	begun := stopping(s, hook)
	recorded := hookView{phase: before.Phase, message: before.Message, stopped: view.stopped}
	switch {
	case before.Phase == dbv1.HookSucceeded && !doubted(s, hook), before.Phase == dbv1.HookFailed && continuesOnFailure(s):
		return recorded // even if its Job no longer exists
	// no pod had the finalizer, so no exit code is known
	case view.phase == dbv1.HookSucceeded && !(s.Skips() && len(unknown(view.stopped)) > 0):
		return view
	case begun && over(s, before.Phase):
		return recorded
	case s.Skips():
		view.phase = dbv1.HookSkipped
		view.message = fmt.Sprintf("skipped, because the cluster has the annotation %s=true", dbv1.AnnotationSkipDeletionHooks)
	case begun:
		return failed("Set spec.deletion.hookFailurePolicy to Continue",
			"the result of deletion hook %q is unknown; members have started to stop, so the operator does not run the hook again", hook.Name)
	}
	return view
}

// doubted reports whether a hook that succeeded is checked again: remaining volumes are deleted only while its backup contains
// their data.
func doubted(s *situation.Situation, hook dbv1.DeletionHook) bool {
	return situation.Fences(s.Cluster, hook) && len(s.Own) > 0
}

// reported returns the status of a hook.
func reported(s *situation.Situation, name string) dbv1.HookStatus {
	i := slices.IndexFunc(s.Cluster.Status.Hooks, func(h dbv1.HookStatus) bool { return h.Name == name })
	if i < 0 {
		return dbv1.HookStatus{}
	}
	return s.Cluster.Status.Hooks[i]
}

// outcome returns what the deletion waits for because of a hook.
func (v hookView) outcome(hook dbv1.DeletionHook) phase.Outcome {
	o := phase.Outcome{Operations: v.operations, Reason: dbv1.ReasonHookRunning, Message: v.message, RequeueAfter: v.requeueAfter}
	switch {
	case v.phase == dbv1.HookFailed:
		o.Reason = dbv1.ReasonHookFailed
	case hook.Type == dbv1.HookShutdown:
		o.Reason = dbv1.ReasonTerminating
	}
	if v.reason != "" {
		o.Stalled = &situation.Stall{Reason: v.reason,
			Message: fmt.Sprintf("%s. %s. To skip the deletion hooks, set the annotation %s=true on the cluster",
				strings.TrimSuffix(v.message, "."), v.remedy, dbv1.AnnotationSkipDeletionHooks)}
	}
	return o
}

// start creates the object of a hook, if that is possible.
func start(s *situation.Situation, hook dbv1.DeletionHook, object objects.Child) hookView {
	if s.Terminating {
		return failed("Set spec.deletion.hookFailurePolicy to Continue",
			"deletion hook %q cannot start: namespace %s is terminating, so the operator cannot create objects in it", hook.Name,
			s.Cluster.Namespace)
	}
	if obstacle := s.JobObstacle(); obstacle != "" {
		return accountless(s, hook, obstacle)
	}
	view := underway("starting deletion hook %q", hook.Name)
	text := fmt.Sprintf("deletion hook %q started as %s", hook.Name, object)
	view.operations = operation.List{operation.Create{Work: operation.Work{
		Is: operation.LastInDeletion, Text: fmt.Sprintf("start deletion hook %q as %s", hook.Name, object),
		Event:  operation.Normal("HookStarted", "RunHook", text),
		Remedy: fmt.Sprintf("; to skip the deletion hooks, set the annotation %s=true on the cluster", dbv1.AnnotationSkipDeletionHooks),
	}, Objects: []objects.Child{object}}}
	return view
}

// accountless returns a hook whose pods would run as a ServiceAccount that was not created for this cluster. In a deletion, the
// operator creates none.
func accountless(s *situation.Situation, hook dbv1.DeletionHook, obstacle string) hookView {
	view := failed("Set spec.serviceAccount.name instead of spec.serviceAccount.annotations", "deletion hook %q cannot start: %s", hook.Name,
		obstacle)
	if s.ForeignServiceAccount() {
		view.reason = dbv1.ReasonNameConflict
	}
	view.requeueAfter = situation.MissingRequeue // ServiceAccounts are not watched
	return view
}

// taken returns a hook that an object of another owner blocks.
func taken(hook dbv1.DeletionHook, object state.Ref) hookView {
	view := failed(fmt.Sprintf("Delete %s %s", object.Kind, object.Name),
		"deletion hook %q cannot start: %s %s was not created for this cluster, so the operator does not change it", hook.Name, object.Kind,
		object.Name)
	view.reason = dbv1.ReasonNameConflict
	return view
}
