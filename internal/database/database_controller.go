/*
SPDX-License-Identifier: Apache-2.0
*/

// Package database observes, acts and reports for a Database.
package database

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/accounts"
	"github.com/dbcluster/databasecluster-operator/internal/accounts/plan"
	"github.com/dbcluster/databasecluster-operator/internal/execute"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// Reconciler reconciles Databases. It keeps no state between passes. The Job of the cluster makes them.
type Reconciler struct{ kit.Base }

type pass = kit.Pass[*dbv1.Database, accounts.Seen, plan.ObjectPlan]

var _ kit.Executor[*dbv1.Database, accounts.Seen, plan.ObjectPlan] = &Reconciler{}

// Reconcile runs one pass: observe, decide, act, report.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return kit.Reconcile(ctx, &r.Base, r, request.NamespacedName)
}

// Controller declares the changes that start a pass for a Database.
func (r *Reconciler) Controller() kit.Controller {
	return kit.Controller{
		Name: "database", For: &dbv1.Database{}, When: kit.Changed(databaseFacts),
		Watches: []kit.Watch{plan.Clusters(&r.Base, &dbv1.DatabaseList{})},
	}
}

func databaseFacts(o *dbv1.Database) any {
	return []any{o.Spec, o.Status, o.Finalizers, o.DeletionTimestamp}
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databases,verbs=get;list;watch

// Observe reads the facts about a Database.
func (r *Reconciler) Observe(ctx context.Context, d *dbv1.Database, from kit.Reading) (accounts.Seen, error) {
	seen := plan.See(ctx, &from, d.Spec.ClusterRef.Name)
	return seen, from.Err
}

// Decide returns what to do.
func (r *Reconciler) Decide(d *dbv1.Database, seen accounts.Seen) plan.ObjectPlan {
	return plan.For(accounts.OfDatabase(d), seen)
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databases,verbs=patch
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databases/finalizers,verbs=update

// Execute executes one operation of the plan.
func (r *Reconciler) Execute(ctx context.Context, p *pass, o operation.Operation) ([]kit.Event, error) {
	return execute.Hands{Base: r.Base, Object: p.Object, Purpose: p.Plan.Why}.Execute(ctx, o)
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databases/status,verbs=patch

// Report returns the Database with its status after a pass.
func (r *Reconciler) Report(p pass) (*dbv1.Database, []kit.Event) {
	after := p.Object.DeepCopy()
	after.Status.DatabaseObjectStatus = p.Plan.StatusOf(p.Facts, p.Err, metav1.NewTime(r.Clock.Now()))
	return after, kit.Transitions(plan.Transitions, p.Object.Status.Conditions, after.Status.Conditions)
}
