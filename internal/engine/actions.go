/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Names of the actions, as in spec.actions.
const (
	ActionProbe   = "probe"
	ActionBackup  = "backup"
	ActionRestore = "restore"
	ActionCheck   = "check"
	// ActionCredentials is not needed by any field: without it, a rotation restarts the members.
	ActionCredentials = "credentials"
	ActionReload      = "reload"
	ActionArchive     = "archive"
	ActionRecover     = "recover"
	// The others are required by the topology, or not needed by any field.
	ActionInitialize   = "initialize"
	ActionHandOver     = "handOver"
	ActionConfigure    = "configure"
	ActionMemberRemove = "memberRemove"
)

// Actions are all actions that an engine can have: the fields of spec.actions.
var Actions = func() (all []string) {
	for name := range actionsOf(dbv1.EngineActions{}) {
		all = append(all, name)
	}
	return all
}()

// actionsOf are the names of all actions, each with the action; nil if the engine does not have it.
func actionsOf(actions dbv1.EngineActions) iter.Seq2[string, *dbv1.EngineAction] {
	fields := reflect.ValueOf(actions)
	return func(yield func(string, *dbv1.EngineAction) bool) {
		for i := range fields.NumField() {
			name, _, _ := strings.Cut(fields.Type().Field(i).Tag.Get("json"), ",")
			if !yield(name, commandOf(fields.Field(i))) {
				return
			}
		}
	}
}

// commandOf is the command of an action, which all types of actions have.
func commandOf(action reflect.Value) *dbv1.EngineAction {
	if action.IsNil() {
		return nil
	}
	command, _ := reflect.TypeAssert[[]string](action.Elem().FieldByName("Command"))
	return &dbv1.EngineAction{Command: command}
}

// Action returns the action of this name; nil if the engine does not have it.
func Action(actions dbv1.EngineActions, name string) *dbv1.EngineAction {
	for other, action := range actionsOf(actions) {
		if other == name {
			return action
		}
	}
	return nil
}

// offered reports whether an engine has the action of this name.
func offered(actions dbv1.EngineActions, name string) bool { return Action(actions, name) != nil }

// need is an action that a field of the cluster's spec requires of the engine.
type need struct {
	field string
	asked bool
	name  string
}

// actionProblem reports an action that the spec needs and the engine does not offer.
func actionProblem(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) string {
	var actions dbv1.EngineActions
	if declared != nil {
		actions = declared.Spec.Actions
	}
	for _, n := range needs(cluster.Spec, actions) {
		switch {
		case !n.asked || offered(actions, n.name):
		case declared == nil:
			return fmt.Sprintf("%s needs an engine with the action %s: set spec.engine to one, or remove the field", n.field, n.name)
		default:
			return fmt.Sprintf(
				"%s needs the action %s, which DatabaseEngine %s does not have: set spec.engine to another engine, or remove the field",
				n.field, n.name, declared.Name)
		}
	}
	return ""
}

// declaredProblem reports flaws of the engine itself that affect the cluster. They matter only until there are
// members. Existing members run with the flaws, and a newer operator, which detects more flaws, must keep managing
// them.
func declaredProblem(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, hasMembers bool) string {
	if declared == nil || hasMembers {
		return ""
	}
	var needed []string
	for _, n := range needs(cluster.Spec, declared.Spec.Actions) {
		if n.asked {
			needed = append(needed, n.name)
		}
	}
	return Declared(declared, needed...)
}

// Archives reports whether a spec asks for a continuous archive.
func Archives(spec dbv1.DatabaseClusterSpec) bool {
	return spec.Backup != nil && spec.Backup.Archive != nil
}

// target is the moment in an archive to which the cluster is recovered; nil for none.
func target(spec dbv1.DatabaseClusterSpec) *dbv1.RecoveryTarget {
	if spec.Bootstrap == nil || spec.Bootstrap.FromBackup == nil {
		return nil
	}
	return spec.Bootstrap.FromBackup.RecoveryTarget
}

// Unreachable is why an engine cannot recover to a target; "" if it can.
func Unreachable(target *dbv1.RecoveryTarget, declared *dbv1.DatabaseEngine) string {
	switch {
	case target == nil:
		return ""
	case declared.Spec.Actions.Recover == nil:
		return fmt.Sprintf("DatabaseEngine %s has no action recover", declared.Name)
	case target.Name != "" && !slices.Contains(declared.Spec.Actions.Recover.Targets, dbv1.RecoverToName):
		return fmt.Sprintf("DatabaseEngine %s can recover to a time, but not to a named point", declared.Name)
	}
	return ""
}

// targetProblem reports a target that the engine cannot recover to.
func targetProblem(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) string {
	if declared == nil {
		return ""
	}
	cause := Unreachable(target(cluster.Spec), declared)
	if cause == "" {
		return ""
	}
	return fmt.Sprintf("spec.bootstrap.fromBackup.recoveryTarget: %s. Correct recoveryTarget", cause)
}

func needs(spec dbv1.DatabaseClusterSpec, actions dbv1.EngineActions) []need {
	backs := func(h dbv1.DeletionHook) bool { return h.Type == dbv1.HookBackup }
	verifies := spec.Backup != nil && spec.Backup.Verification != nil
	return []need{
		{"spec.engine", actions.Initialize != nil, ActionInitialize},
		{"spec.engine", actions.HandOver != nil, ActionHandOver},
		{"spec.engine", actions.Configure != nil, ActionConfigure},
		{"spec.engine", actions.MemberRemove != nil, ActionMemberRemove},
		{"spec.backup", spec.Backup != nil, ActionBackup},
		{"a hook of type Backup in spec.deletion.hooks", slices.ContainsFunc(spec.Deletion.Hooks, backs), ActionBackup},
		{"spec.backup", spec.Backup != nil && offered(actions, ActionCheck), ActionCheck},
		{"spec.backup.verification", verifies, ActionRestore},
		{"spec.backup.verification without a command", verifies && len(spec.Backup.Verification.Command) == 0, ActionProbe},
		{"spec.backup.verification.recover", verifies && spec.Backup.Verification.Recover != "", ActionRecover},
		{"spec.backup.archive", Archives(spec), ActionArchive},
		{"spec.bootstrap.fromBackup.recoveryTarget", target(spec) != nil, ActionRecover},
		{"spec.tls", spec.TLS != nil && offered(actions, ActionReload), ActionReload},
		{"spec.bootstrap.fromBackup", spec.Bootstrap != nil && spec.Bootstrap.FromBackup != nil, ActionRestore},
	}
}
