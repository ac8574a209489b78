/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/accounts"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/named"
)

// ClusterFacts are the fields of a cluster by which its objects are judged.
func ClusterFacts(c *dbv1.DatabaseCluster) any {
	available := meta.FindStatusCondition(c.Status.Conditions, dbv1.ConditionAvailable)
	return []any{
		c.UID, c.Spec.Engine, c.Spec.Container.Port, c.Spec.Bootstrap, c.Spec.TLS, c.DeletionTimestamp, c.Status.Objects,
		c.Status.Binding, available,
	}
}

// See reads what the verdict about an object needs.
func See(ctx context.Context, from *kit.Reading, cluster string) accounts.Seen {
	seen, found := accounts.Seen{}, &dbv1.DatabaseCluster{}
	if !from.Find(ctx, cluster, found) {
		return seen
	}
	seen.Cluster, seen.Engine = found, named.Engine(ctx, from, found.Spec.Engine)
	seen.All, seen.Jobs = accounts.List(ctx, from, cluster), []batchv1.Job{}
	if found.Status.Objects != nil {
		seen.Jobs = accounts.JobsOf(ctx, from, found)
	}
	return seen
}

// Clusters is the watch by which a change of a cluster starts a pass for each of its objects of a kind.
func Clusters(base *kit.Base, list client.ObjectList) kit.Watch {
	return kit.Watch{Object: &dbv1.DatabaseCluster{}, When: kit.Changed(ClusterFacts),
		MapFunc: func(ctx context.Context, cluster client.Object) []reconcile.Request {
			own, is := list.DeepCopyObject().(client.ObjectList)
			if !is {
				return nil
			}
			return base.Requests(ctx, cluster, own, func(o client.Object) bool {
				return slices.Contains(accounts.ClusterName(o), cluster.GetName())
			})
		}}
}
