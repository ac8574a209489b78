/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// need is an action that a field of the spec asks of the engine.
type need struct {
	field  string
	asked  bool
	name   string
	action *dbv1.EngineAction
}

// actionProblem says which action the spec needs that the engine does not offer.
func actionProblem(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) string {
	var actions dbv1.EngineActions
	if declared != nil {
		actions = declared.Spec.Actions
	}
	for _, n := range needs(cluster.Spec, actions) {
		switch {
		case !n.asked || n.action != nil:
		case declared == nil:
			return fmt.Sprintf("%s needs an engine with the action %s: name one in spec.engine, or take the field out", n.field, n.name)
		default:
			return fmt.Sprintf("%s needs the action %s, which DatabaseEngine %s does not have: name another in spec.engine, or take the field out",
				n.field, n.name, declared.Name)
		}
	}
	return ""
}

// declaredProblem says what is wrong with the engine itself, as far as the cluster needs it. That matters until there are
// members: those run with it, flawed or not, and a newer operator, which sees more flaws, must not stop looking after them.
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
	verifies := spec.Backup != nil && spec.Backup.Verify != nil
	return []need{
		{"spec.backup", spec.Backup != nil, ActionBackup, actions.Backup},
		{"a hook of type Backup in spec.deletion.hooks", slices.ContainsFunc(spec.Deletion.Hooks, backs), ActionBackup, actions.Backup},
		{"spec.backup", spec.Backup != nil && actions.Check != nil, ActionCheck, actionOf(actions.Check)},
		{"spec.backup.verify", verifies, ActionRestore, actions.Restore},
		{"spec.backup.verify without a command", verifies && len(spec.Backup.Verify.Command) == 0, ActionProbe, actions.Probe},
		{"spec.bootstrap.fromBackup", spec.Bootstrap != nil && spec.Bootstrap.FromBackup != nil, ActionRestore, actions.Restore},
	}
}

// actionOf is the action that a check is; nil when there is none.
func actionOf(check *dbv1.EngineCheck) *dbv1.EngineAction {
	if check == nil {
		return nil
	}
	return &dbv1.EngineAction{Command: check.Command}
}
