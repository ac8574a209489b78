/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseengines,verbs=get,roleName=manager-cluster-role

// readEngine reads the DatabaseEngine that the spec names. It is immutable, so it is not watched. The operator
// checks for a missing one regularly.
//
// If the operator may not read it, or its CRD does not exist, the user must act. The status reports that, and a
// deletion continues without the engine.
func (o *observation) readEngine(ctx context.Context) {
	if o.cluster.Spec.Engine == "" {
		return
	}
	declared := &dbv1.DatabaseEngine{}
	found, err := kit.View{Reader: o.Live}.Find(ctx, client.ObjectKey{Name: o.cluster.Spec.Engine}, declared)
	switch {
	case apierrors.IsForbidden(err), meta.IsNoMatchError(err):
		o.EngineUnreadable = err.Error()
	case err != nil:
		o.Err = err
	case found:
		o.Engine = declared
	}
}
