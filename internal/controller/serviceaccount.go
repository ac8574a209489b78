/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get

// readServiceAccount reads the ServiceAccount that the operator creates, only if there is one to expect: the operator
// does not watch ServiceAccounts.
func (o *observation) readServiceAccount(ctx context.Context) {
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
