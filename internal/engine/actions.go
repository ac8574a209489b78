/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"fmt"
	"slices"

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
	// The others are required by the topology, or not needed by any field.
	ActionInitialize   = "initialize"
	ActionHandOver     = "handOver"
	ActionConfigure    = "configure"
	ActionMemberRemove = "memberRemove"
)

// offer is an action that an engine can have: its name, and its field in spec.actions.
type offer struct {
	name string
	of   func(dbv1.EngineActions) *dbv1.EngineAction
}

var offers = []offer{
	{ActionInitialize, func(a dbv1.EngineActions) *dbv1.EngineAction { return a.Initialize }},
	{ActionHandOver, func(a dbv1.EngineActions) *dbv1.EngineAction { return a.HandOver }},
	{ActionConfigure, func(a dbv1.EngineActions) *dbv1.EngineAction { return a.Configure }},
	{ActionMemberRemove, func(a dbv1.EngineActions) *dbv1.EngineAction { return a.MemberRemove }},
	{ActionProbe, func(a dbv1.EngineActions) *dbv1.EngineAction { return a.Probe }},
	{ActionBackup, func(a dbv1.EngineActions) *dbv1.EngineAction { return a.Backup }},
	{ActionRestore, func(a dbv1.EngineActions) *dbv1.EngineAction { return a.Restore }},
	{ActionCredentials, func(a dbv1.EngineActions) *dbv1.EngineAction { return a.Credentials }},
	{ActionCheck, func(a dbv1.EngineActions) *dbv1.EngineAction {
		if a.Check == nil {
			return nil
		}
		return &dbv1.EngineAction{Command: a.Check.Command}
	}},
	{ActionReload, func(a dbv1.EngineActions) *dbv1.EngineAction { return a.Reload }},
}

// Actions are all actions that an engine can have.
var Actions = func() (all []string) {
	for _, o := range offers {
		all = append(all, o.name)
	}
	return all
}()

// Action returns the action of this name; nil if the engine does not have it.
func Action(actions dbv1.EngineActions, name string) *dbv1.EngineAction {
	for _, o := range offers {
		if o.name == name {
			return o.of(actions)
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
			return fmt.Sprintf("%s needs the action %s, which DatabaseEngine %s does not have: set spec.engine to another engine, or remove the field",
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
		{"spec.tls", spec.TLS != nil && offered(actions, ActionReload), ActionReload},
		{"spec.bootstrap.fromBackup", spec.Bootstrap != nil && spec.Bootstrap.FromBackup != nil, ActionRestore},
	}
}
