/*
SPDX-License-Identifier: Apache-2.0
*/

// Package controller observes, acts and reports for a DatabaseCluster. No other package calls the API server for a
// cluster.
package controller

import (
	"context"
	"io"
	"slices"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Reconciler reconciles DatabaseClusters with their specs. No decision depends on what it keeps between passes.
type Reconciler struct {
	kit.Base
	// Policies are the names of the admission policies that protect clusters, and of their bindings.
	Policies []string
	// TransferImage has the binary with which Jobs transfer backups.
	TransferImage string
	// Random is the source of generated passwords.
	Random io.Reader
	// ClusterDomain is the domain of the DNS names of Services, for example cluster.local.
	ClusterDomain string
	// ReferencePeriod is the reconciliation interval of a cluster that names Secrets or ConfigMaps of others, or requests
	// deletion protection: the operator does not watch those, nor the admission policies. 0 disables it.
	ReferencePeriod time.Duration
	// Process is a random name of this process, and Started when it started.
	Process string
	Started time.Time
	// Nodes is true if the operator may list and watch nodes.
	Nodes bool
	// Meter measures volumes, and Measured are the clusters whose volumes have another use; nil where none is measured.
	Meter    subject.Meter
	Measured <-chan event.GenericEvent
	// Comparisons remember what earlier passes have compared. Nil to compare everything in each pass.
	Comparisons *objects.Comparisons
}

// pass is one reconciliation of a cluster.
type pass = kit.Pass[*dbv1.DatabaseCluster, *situation.Situation, plan.Plan]

var (
	_ kit.Executor[*dbv1.DatabaseCluster, *situation.Situation, plan.Plan] = &Reconciler{}
	_ kit.Requeuer[*dbv1.DatabaseCluster, *situation.Situation, plan.Plan] = &Reconciler{}
	_ kit.Deferrable[*dbv1.DatabaseCluster]                                = &Reconciler{}
	_ kit.Ignorable[*dbv1.DatabaseCluster]                                 = &Reconciler{}
	_ kit.Cleaner                                                          = &Reconciler{}
)

// rejectedRequeueAfter is the longest delay before a rejected request is retried.
const rejectedRequeueAfter = time.Minute

// Reconcile runs one pass: observe, decide, act, report.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return kit.Reconcile(ctx, &r.Base, r, request.NamespacedName)
}

// Decide returns what to do.
func (r *Reconciler) Decide(_ *dbv1.DatabaseCluster, s *situation.Situation) plan.Plan {
	return plan.For(s)
}

// uptime is this moment in the life of the process. A real clock measures it by its monotonic reading.
func (r *Reconciler) uptime() state.Uptime {
	return state.Uptime{Process: r.Process, Running: r.Clock.Since(r.Started)}
}

// RequeueAfter returns the delay until the next pass if no watched change comes first. Problems that the user must
// correct do not delay operations that only need time.
func (r *Reconciler) RequeueAfter(p pass) (time.Duration, bool) {
	after := situation.Sooner(p.Plan.RequeueAfter, p.Facts.HeardIn())
	unwatched := p.Object.Spec.Deletion.Protection ||
		slices.ContainsFunc(p.Facts.References, func(r pods.Reference) bool { return !r.Own })
	if unwatched && (after == 0 || r.ReferencePeriod > 0 && r.ReferencePeriod <= after) {
		after = r.ReferencePeriod
	}
	if p.Plan.RequeueAfter > 0 && operation.Refused(p.Err) {
		return min(after, rejectedRequeueAfter), true
	}
	return after, p.Err == nil
}
