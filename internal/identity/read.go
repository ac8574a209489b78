/*
SPDX-License-Identifier: Apache-2.0
*/

package identity

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get

func read(ctx context.Context, r *subject.ClusterReading) {
	readServiceAccount(ctx, r)
	readRights(ctx, r)
}

// readServiceAccount reads the ServiceAccount that the operator creates, only if there is one to expect: the operator
// does not watch ServiceAccounts.
func readServiceAccount(ctx context.Context, o *subject.ClusterReading) {
	wanted := pods.GeneratesServiceAccount(engine.Resolve(o.Cluster, o.Engine))
	created := o.StatefulSet != nil && o.StatefulSet.Annotations[dbv1.AnnotationServiceAccount] != ""
	if !wanted && !created && o.Cluster.DeletionTimestamp == nil {
		return
	}
	account := &corev1.ServiceAccount{}
	if !o.FindLive(ctx, naming.ServiceAccount(o.Cluster.Name), account) {
		return
	}
	switch {
	case state.IsServiceAccountOf(o.Cluster.Name, account):
		o.ServiceAccount = state.ServiceAccountFacts(account)
	case wanted:
		account.DeletionTimestamp = nil // one of a previous cluster may still be terminating
		o.Foreign = append(o.Foreign, state.Ref{
			Kind: "ServiceAccount", Name: account.Name, OfPreviousCluster: state.IsServiceAccountOf(o.Cluster.Name, account),
		})
	}
}

// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=get

// readRights reads the rights of members that call the API server. The operator does not watch them. A deletion looks for them also if
// the engine and the ServiceAccount, which show that they exist, are deleted.
func readRights(ctx context.Context, o *subject.ClusterReading) {
	unknown := o.Cluster.DeletionTimestamp != nil && o.Cluster.Spec.Engine != "" && o.Engine == nil
	if !engine.Identifies(o.Engine) && !state.HadRights(o.ServiceAccount) && !unknown {
		return
	}
	o.Role = unowned(ctx, o, "Role", state.RoleFacts)
	o.RoleBinding = unowned(ctx, o, "RoleBinding", state.RoleBindingFacts)
}

// unowned reads an object that has no owner, so that its labels show who created it.
func unowned[T any, Object interface {
	*T
	client.Object
}](ctx context.Context, o *subject.ClusterReading, kind string, facts func(Object) Object) Object {
	object, name := Object(new(T)), naming.Role(o.Cluster.Name)
	if !o.FindLive(ctx, name, object) {
		return nil
	}
	if object.GetLabels()[dbv1.LabelManagedBy] != dbv1.LabelManagedByValue || object.GetLabels()[dbv1.LabelInstance] != o.Cluster.Name {
		o.Foreign = append(o.Foreign, state.Ref{Kind: kind, Name: name})
		return nil
	}
	return facts(object)
}
