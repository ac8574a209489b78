/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseengines,verbs=get,roleName=manager-cluster-role

// readEngine reads the DatabaseEngine in force: the one that the spec names, unless the data is of another one whose
// members cannot continue with it. Everything that is read later belongs to the engine in force. An engine is
// immutable, so it is not watched. The operator checks for a missing one regularly.
//
// If the operator may not read it, or its CRD does not exist, the user must act. The status reports that, and a
// deletion continues without the engine.
func (o *observation) readEngine(ctx context.Context) {
	asked := engine.Named{Name: o.Cluster.Spec.Engine}
	asked.Declared, o.EngineUnreadable = o.findEngine(ctx, asked.Name)
	o.Engine = asked.Declared
	name, differs := o.EngineOfData(o.Cluster.UID, asked.Name)
	if !differs {
		return
	}
	data := engine.Named{Name: name}
	data.Declared, _ = o.findEngine(ctx, name)
	if o.Change = engine.ChangeOf(data, asked); o.Change != nil {
		o.Cluster, o.Engine = o.Change.InForce(o.Cluster), data.Declared
	}
}

// findEngine returns nil for an engine that does not exist, or that the operator may not read.
func (o *observation) findEngine(ctx context.Context, name string) (declared *dbv1.DatabaseEngine, unreadable string) {
	if name == "" || o.Err != nil {
		return nil, ""
	}
	declared = &dbv1.DatabaseEngine{}
	found, err := kit.View{Reader: o.Live}.Find(ctx, client.ObjectKey{Name: name}, declared)
	switch {
	case apierrors.IsForbidden(err), kit.NoKind(err):
		return nil, err.Error()
	case err != nil:
		o.Err = err
		return nil, ""
	case !found:
		return nil, ""
	}
	return declared, ""
}
