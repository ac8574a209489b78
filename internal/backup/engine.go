/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// withEngineInForce reads the engine of the cluster. While the operator refuses a change of spec.engine, that is the
// engine of the data: the other one would back up one member of several, or several copies of one database.
func (o *observation) withEngineInForce(ctx context.Context, cluster *dbv1.DatabaseCluster) *dbv1.DatabaseCluster {
	asked := engine.Named{Name: cluster.Spec.Engine, Declared: o.findEngine(ctx, cluster.Spec.Engine)}
	o.Engine = asked.Declared
	if o.set == nil || !metav1.IsControlledBy(o.set, cluster) {
		return cluster
	}
	name, differs := state.Observed{StatefulSet: o.set}.EngineOfData(cluster.UID, asked.Name)
	if !differs {
		return cluster
	}
	data := engine.Named{Name: name, Declared: o.findEngine(ctx, name)}
	change := engine.ChangeOf(data, asked)
	if change != nil {
		o.Engine = data.Declared
	}
	return change.InForce(cluster)
}

func (o *observation) findEngine(ctx context.Context, name string) *dbv1.DatabaseEngine {
	declared := &dbv1.DatabaseEngine{}
	if name == "" || !o.FindOutside(ctx, name, declared) {
		return nil
	}
	return declared
}
