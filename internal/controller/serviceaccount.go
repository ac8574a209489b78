/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get

// readServiceAccount reads the ServiceAccount that the operator creates, only if there is one to expect: the operator
// does not watch ServiceAccounts. It has no owner, so its labels show who created it.
func (o *observation) readServiceAccount(ctx context.Context) {
	wanted := resources.GeneratesServiceAccount(o.cluster)
	created := o.StatefulSet != nil && o.StatefulSet.Annotations[dbv1.AnnotationServiceAccount] != ""
	if !wanted && !created && o.cluster.DeletionTimestamp == nil {
		return
	}
	account := &corev1.ServiceAccount{}
	if !o.FindLive(ctx, naming.ServiceAccount(o.cluster.Name), account) {
		return
	}
	ours := account.Labels[dbv1.LabelManagedBy] == dbv1.LabelManagedByValue && account.Labels[dbv1.LabelInstance] == o.cluster.Name
	terminating := account.DeletionTimestamp != nil
	switch {
	case ours && !terminating:
		o.ServiceAccount = state.ServiceAccountFacts(account)
	case wanted:
		o.Foreign = append(o.Foreign, state.Ref{Kind: "ServiceAccount", Name: account.Name, OfPreviousCluster: ours})
	}
}
