/*
SPDX-License-Identifier: Apache-2.0
*/

// Package companion observes, acts and reports for a DatabaseCompanion.
package companion

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/companion/plan"
	"github.com/dbcluster/databasecluster-operator/internal/execute"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Reconciler reconciles DatabaseCompanions. It keeps no state between passes.
type Reconciler struct {
	kit.Base
	// ReferencePeriod is the time after which a companion that is blocked reads Secrets again.
	ReferencePeriod time.Duration
}

type pass = kit.Pass[*dbv1.DatabaseCompanion, plan.CompanionFacts, plan.CompanionPlan]

var _ kit.Executor[*dbv1.DatabaseCompanion, plan.CompanionFacts, plan.CompanionPlan] = &Reconciler{}

// Reconcile runs one pass: observe, decide, act, report.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return kit.Reconcile(ctx, &r.Base, r, request.NamespacedName)
}

// Decide returns what to do.
func (r *Reconciler) Decide(companion *dbv1.DatabaseCompanion, seen plan.CompanionFacts) plan.CompanionPlan {
	return plan.For(companion, seen)
}

// +kubebuilder:rbac:groups="",resources=services,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=create;patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=create;patch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=create;patch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=create;patch
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasecompanions/finalizers,verbs=update

// Execute executes one operation of the plan.
func (r *Reconciler) Execute(ctx context.Context, p *pass, o operation.Operation) ([]kit.Event, error) {
	if acting, is := o.(subject.Acting); is {
		return acting.Act(ctx, subject.Means{Writer: r.Writer, Live: r.Live, At: r.Clock.Now()})
	}
	return execute.Hands{Base: r.Base, Object: p.Object, Purpose: p.Plan.Why}.Execute(ctx, o)
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasecompanions/status,verbs=patch

// Report returns the DatabaseCompanion with its status after a pass.
func (r *Reconciler) Report(p pass) (*dbv1.DatabaseCompanion, []kit.Event) {
	after := p.Object.DeepCopy()
	after.Status = plan.StatusOf(p.Object, p.Facts, p.Plan, p.Err, metav1.NewTime(r.Clock.Now()))
	return after, kit.Transitions(plan.Transitions, p.Object.Status.Conditions, after.Status.Conditions)
}
