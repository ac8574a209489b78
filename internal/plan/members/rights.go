/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Rights are the writes of the rights of members that call the API server, and of the objects in which they keep their agreement.
// Those of a previous cluster of the same name are deleted first: see StaleAgreements.
func Rights(s *situation.Situation) operation.List {
	if !engine.Identifies(s.Engine) || s.ForeignServiceAccount() {
		return nil
	}
	var all operation.List
	role, binding := resources.Role(s.Cluster, s.Engine), resources.RoleBinding(s.Cluster)
	if apply, needed := applyOf(role, s.Role); needed && !s.OwnedByAnother("Role", role.Name()) && !foreignAgreement(s) {
		all = append(all, apply)
	}
	if apply, needed := applyOf(binding, s.RoleBinding); needed && !s.OwnedByAnother("RoleBinding", binding.Name()) {
		all = append(all, apply)
	}
	for _, name := range lacking(s) {
		all = append(all, operation.MakeAgreement{Child: resources.StateConfigMap(s.Cluster, name)})
	}
	return all
}

// foreignAgreement reports whether another owner has an object that the Role names: the members must not change it.
func foreignAgreement(s *situation.Situation) bool {
	return slices.ContainsFunc(engine.StateConfigMaps(s.Cluster.Name, s.Engine), func(name string) bool { return s.OwnedByAnother("ConfigMap", name) })
}

// lacking are the names of agreements that do not exist.
func lacking(s *situation.Situation) []string {
	if !s.AgreementsRead {
		return nil
	}
	return slices.DeleteFunc(engine.StateConfigMaps(s.Cluster.Name, s.Engine), func(name string) bool {
		_, exists := state.First(s.Agreements, func(a state.Agreement) bool { return a.Name == name })
		return exists || s.OwnedByAnother("ConfigMap", name)
	})
}

// StaleAgreements are the objects in which members of a previous cluster of the same name kept their agreement. New members would
// believe them.
func StaleAgreements(s *situation.Situation) []operation.Removal {
	if !s.NotStarted() || s.PreviousUser != "" {
		return nil
	}
	stale := func(a state.Agreement) bool { return a.Cluster != s.Cluster.UID && !a.Terminating }
	return agreements(state.Only(s.Agreements, stale), "it belongs to a previous cluster of the same name")
}

func agreements(all []state.Agreement, why string) []operation.Removal {
	removals := make([]operation.Removal, 0, len(all))
	for _, a := range all {
		removals = append(removals, operation.Removal{Kind: "ConfigMap", Name: a.Name, UID: a.UID, Version: a.Version, Why: why})
	}
	return removals
}

// agreed reports whether the first members may start: their rights and their agreements exist, and are not those of a previous
// cluster.
func agreed(s *situation.Situation) bool {
	if !engine.Identifies(s.Engine) || !s.NotStarted() {
		return true
	}
	ours := state.Only(s.Agreements, func(a state.Agreement) bool { return a.Cluster == s.Cluster.UID && !a.Terminating })
	stale := len(s.Agreements) > len(ours)
	return s.ServiceAccount != nil && s.Role != nil && s.RoleBinding != nil && !stale && len(lacking(s)) == 0
}

// RightsRemovals are the rights and the agreements of a cluster whose members have ended. The ServiceAccount, which shows that they
// exist, is deleted after them.
func RightsRemovals(s *situation.Situation) []operation.Removal {
	const why = "its cluster is deleted"
	ours := func(a state.Agreement) bool { return a.Cluster == s.Cluster.UID && !a.Terminating }
	all := agreements(state.Only(s.Agreements, ours), why)
	if r := s.RoleBinding; r != nil && r.Labels[dbv1.LabelClusterUID] == string(s.Cluster.UID) {
		all = append(all, operation.Removal{Kind: "RoleBinding", Name: r.Name, UID: r.UID, Version: r.ResourceVersion, Why: why})
	}
	if r := s.Role; r != nil && r.Labels[dbv1.LabelClusterUID] == string(s.Cluster.UID) {
		all = append(all, operation.Removal{Kind: "Role", Name: r.Name, UID: r.UID, Version: r.ResourceVersion, Why: why})
	}
	return all
}
