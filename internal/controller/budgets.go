/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// indexOthers is the name of the index of the PodDisruptionBudgets of others. Most namespaces have none.
const indexOthers = "others"

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
		if err := cached.List(ctx, budgets, cached.By(o.Cluster.Namespace, indexOthers, "true")...); err != nil {
			o.Err = fmt.Errorf("list the PodDisruptionBudgets of others: %w", err)
		}
	}
	for i := range budgets.Items {
		budget := &budgets.Items[i]
		if !isBudgetOf(o.Cluster.Name, budget.Name) && // also without its labels
			len(ofOthers(budget)) > 0 && selectsAny(budget, o.Members) {
			o.OtherBudgets = append(o.OtherBudgets, budget.Name)
		}
	}
	slices.Sort(o.OtherBudgets)
}

// ofOthers is the value of the index indexOthers.
func ofOthers(object client.Object) []string {
	if isBudgetOf(ownerOfBudget(object), object.GetName()) {
		return nil
	}
	return []string{"true"}
}

// isBudgetOf reports whether the operator gives that name to a PodDisruptionBudget of the cluster.
func isBudgetOf(cluster, name string) bool {
	return name == naming.PodDisruptionBudget(cluster) || name == naming.PrimaryBudget(cluster)
}

// ownerOfBudget is the cluster whose PodDisruptionBudget it is; "" for none.
func ownerOfBudget(object client.Object) string {
	if object.GetLabels()[dbv1.LabelManagedBy] != dbv1.LabelManagedByValue {
		return ""
	}
	return object.GetLabels()[dbv1.LabelInstance]
}

func selectsAny(budget *policyv1.PodDisruptionBudget, members []state.Member) bool {
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	return err == nil && slices.ContainsFunc(members, func(m state.Member) bool { return selector.Matches(labels.Set(m.Labels)) })
}

// clustersOfBudget finds the cluster of a PodDisruptionBudget. One of others may select the members of any cluster in its namespace.
func (r *Reconciler) clustersOfBudget(ctx context.Context, object client.Object) []reconcile.Request {
	if len(ofOthers(object)) == 0 {
		return clusterOf(ctx, object)
	}
	return r.Requests(ctx, object, &dbv1.DatabaseClusterList{}, nil)
}
