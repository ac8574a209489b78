/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// readPrimaryBudget reads the budget of the primary. It exists only during a drain, and the cache has all budgets, so only a live pass for
// members with roles looks for it at the API server.
func (o *observation) readPrimaryBudget(ctx context.Context, cached kit.View) {
	from, name, budget := cached, naming.PrimaryBudget(o.Cluster.Name), &policyv1.PodDisruptionBudget{}
	if o.live && engine.HasRoles(o.Engine) {
		from = kit.View{Reader: o.Live}
	}
	if o.Err != nil {
		return
	}
	found, err := from.Find(ctx, client.ObjectKey{Namespace: o.Cluster.Namespace, Name: name}, budget)
	o.Err = err
	o.PrimaryBudget = subject.Owned(&o.ClusterReading, state.Ref{Kind: "PodDisruptionBudget", Name: name}, budget, found,
		state.PodDisruptionBudgetFacts)
}

// readOtherBudgets reads which PodDisruptionBudgets of others select members. It reads the cache, because no decision depends on them.
func (o *observation) readOtherBudgets(ctx context.Context, cached kit.View) {
	budgets := &policyv1.PodDisruptionBudgetList{}
	if o.Err == nil {
		if err := cached.List(ctx, budgets, cached.By(o.Cluster.Namespace, subject.IndexOthers, "true")...); err != nil {
			o.Err = fmt.Errorf("list the PodDisruptionBudgets of others: %w", err)
		}
	}
	own := func(name string) bool { return subject.IsBudgetOf(o.Cluster.Name, name) }
	o.OtherBudgets = subject.OthersThatSelect(budgets.Items, o.Members, own)
}

// clustersOfBudget finds the cluster of a PodDisruptionBudget. One of others may select the members of any cluster in its namespace.
func (r *Reconciler) clustersOfBudget(ctx context.Context, object client.Object) []reconcile.Request {
	if len(subject.OfOthers(object)) == 0 {
		return clusterOf(ctx, object)
	}
	return r.Requests(ctx, object, &dbv1.DatabaseClusterList{}, nil)
}
