/*
SPDX-License-Identifier: Apache-2.0
*/

// Package identity gives the pods of a cluster a ServiceAccount, and the members their rights at the API server.
package identity

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Subject is the ServiceAccount of the members and its rights.
var Subject = subject.Subject{Read: read, Decide: decide}

func decide(s *situation.Situation) subject.Decision {
	if s.Deleting() {
		return subject.Decision{Leftovers: ended(s)}
	}
	d := subject.Decision{Operations: append(account(s), rights(s)...)}
	d.Stalled, d.RequeueAfter = replaced(s)
	if s.OwnsServiceAccount() && !pods.GeneratesServiceAccount(s.Cluster) {
		d.Leftovers = []operation.Removal{removal(s, "no member uses it")}
	}
	return d
}

// account is the write of the ServiceAccount, if it differs from the desired one.
func account(s *situation.Situation) operation.List {
	if !pods.GeneratesServiceAccount(s.Cluster) || s.ForeignServiceAccount() {
		return nil
	}
	if apply, needed := operation.ApplyOf(ServiceAccount(s.Cluster), s.ServiceAccount); needed {
		return operation.List{apply}
	}
	return nil
}

// rights are the writes of the rights of members that call the API server.
func rights(s *situation.Situation) operation.List {
	if !engine.Identifies(s.Engine) || s.ForeignServiceAccount() {
		return nil
	}
	var all operation.List
	role, binding := Role(s.Cluster, s.Engine), RoleBinding(s.Cluster)
	if apply, needed := operation.ApplyOf(role, s.Role); needed && !s.OwnedByAnother("Role", role.Name()) && !foreignAgreement(s) {
		all = append(all, apply)
	}
	if apply, needed := operation.ApplyOf(binding, s.RoleBinding); needed && !s.OwnedByAnother("RoleBinding", binding.Name()) {
		all = append(all, apply)
	}
	return all
}

// foreignAgreement reports whether another owner has an object that the Role names: the members must not change it.
func foreignAgreement(s *situation.Situation) bool {
	return slices.ContainsFunc(engine.StateConfigMaps(s.Cluster.Name, s.Engine),
		func(name string) bool { return s.OwnedByAnother("ConfigMap", name) })
}

// ended are what remains of a cluster that is being deleted. Members that still run need it. None has an owner, so Kubernetes does not
// delete them with the cluster.
func ended(s *situation.Situation) []operation.Removal {
	if len(s.Members) > 0 {
		return nil
	}
	const why = "its cluster is deleted"
	var all []operation.Removal
	if r := s.RoleBinding; r != nil && r.Labels[dbv1.LabelClusterUID] == string(s.Cluster.UID) {
		all = append(all, operation.TargetOf(rbacv1.SchemeGroupVersion.WithKind("RoleBinding"), r).Because(why))
	}
	if r := s.Role; r != nil && r.Labels[dbv1.LabelClusterUID] == string(s.Cluster.UID) {
		all = append(all, operation.TargetOf(rbacv1.SchemeGroupVersion.WithKind("Role"), r).Because(why))
	}
	if s.OwnsServiceAccount() {
		all = append(all, removal(s, why))
	}
	return all
}

// removal deletes the ServiceAccount that the operator created.
func removal(s *situation.Situation, why string) operation.Removal {
	return operation.TargetOf(operation.Core("ServiceAccount"), s.ServiceAccount).Because(why)
}
