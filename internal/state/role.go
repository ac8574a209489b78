/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// RoleOf returns the role of a member; see RoleIn.
func (o Observed) RoleOf(m Member) dbv1.MemberRole { return RoleIn(o.Engine, m) }

// RoleIn returns the role of a member, as the software of its engine has labeled it; "" while it is unknown, and for an
// engine without roles.
func RoleIn(declared *dbv1.DatabaseEngine, m Member) dbv1.MemberRole {
	if declared == nil || declared.Spec.Roles == nil {
		return ""
	}
	roles := declared.Spec.Roles
	switch m.Labels[roles.Label] {
	case roles.Primary:
		return dbv1.RolePrimary
	case roles.Replica:
		return dbv1.RoleReplica
	default:
		return ""
	}
}

// Primaries returns the members that report that they are the primary, also those that are not ready or terminating.
func (o Observed) Primaries() []Member {
	return Only(o.Members, func(m Member) bool { return o.RoleOf(m) == dbv1.RolePrimary })
}

// ReadyPrimaries returns the primaries that clients can reach.
func (o Observed) ReadyPrimaries() []Member {
	return Only(o.Primaries(), func(m Member) bool { return m.Ready && !m.Terminating })
}

// Primary returns the only ready primary; found is false if there is none, or more than one.
func (o Observed) Primary() (primary Member, found bool) {
	all := o.ReadyPrimaries()
	if len(all) != 1 {
		return Member{}, false
	}
	return all[0], true
}

// Agreement is a ConfigMap in which members keep their agreement.
type Agreement struct {
	Name    string
	UID     types.UID
	Version string
	// Cluster is the UID of the cluster that it was created for, or that adopted it.
	Cluster     types.UID
	Terminating bool
	// Holder is the pod that has the lock of the primary, and Term changes whenever another pod gets it. Both are "" if the engine does
	// not declare them, or if the object has none.
	Holder, Term string
}

// AgreementOf returns the Agreement of an object. Its data belongs to the members; only the lock is read, if the engine declares where
// it is.
func AgreementOf(object metav1.Object, cluster string, lock *dbv1.EngineLock) Agreement {
	a := Agreement{
		Name: object.GetName(), UID: object.GetUID(), Version: object.GetResourceVersion(),
		Cluster: types.UID(object.GetLabels()[dbv1.LabelClusterUID]), Terminating: object.GetDeletionTimestamp() != nil,
	}
	if lock != nil && a.Name == naming.State(cluster, lock.ConfigMap) {
		a.Holder, a.Term = object.GetAnnotations()[lock.Holder], object.GetAnnotations()[lock.Term]
	}
	return a
}

// RoleFacts are the facts of a Role.
func RoleFacts(role *rbacv1.Role) *rbacv1.Role {
	return &rbacv1.Role{ObjectMeta: MetadataFacts(role.ObjectMeta), Rules: role.Rules}
}

// RoleBindingFacts are the facts of a RoleBinding.
func RoleBindingFacts(binding *rbacv1.RoleBinding) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{ObjectMeta: MetadataFacts(binding.ObjectMeta), RoleRef: binding.RoleRef, Subjects: binding.Subjects}
}

// JobOf returns the Job of an action on members by its name.
func (o Observed) JobOf(job string) (jobs.Job, bool) {
	return First(o.Jobs, func(t jobs.Job) bool { return t.Name == job })
}
