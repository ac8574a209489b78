/*
SPDX-License-Identifier: Apache-2.0
*/

// Package controller observes, acts and reports for a DatabaseCluster. It is the only package that
// talks to the API server for one.
package controller

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/status"
)

// Reconciler brings DatabaseClusters in line with their specs. It keeps nothing between passes.
type Reconciler struct {
	kit.Base
	// Policies are the names of the admission policies that protect clusters, and of their bindings.
	Policies []string
	// TransferImage holds the binary that Jobs transfer backups with.
	TransferImage string
	// ReferencePeriod is how often a cluster is looked at again whose spec names Secrets or ConfigMaps, or asks
	// for protection: those, and the policies, are not watched. 0: only when something else wakes it.
	ReferencePeriod time.Duration
}

// pass is one pass for a cluster.
type pass = kit.Pass[*dbv1.DatabaseCluster, *situation.Situation, plan.Plan]

// refusedAgain is when what the API server refused is tried again, at the latest.
const refusedAgain = time.Minute

// Reconcile makes one pass: observe, decide, act, report.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return kit.Reconcile(ctx, r.Base, r, request.NamespacedName)
}

// Decide returns what to do.
func (r *Reconciler) Decide(_ *dbv1.DatabaseCluster, s *situation.Situation) plan.Plan {
	return plan.For(s)
}

// RequeueAfter says when to look again although nothing may wake the cluster. What a human has to correct does not delay what only
// takes time.
func (r *Reconciler) RequeueAfter(p pass) (time.Duration, bool) {
	after := p.Plan.RequeueAfter
	unwatched := len(p.Facts.References) > 0 || p.Facts.Protection != nil
	if unwatched && (after == 0 || r.ReferencePeriod > 0 && r.ReferencePeriod <= after) {
		after = r.ReferencePeriod
	}
	if p.Plan.RequeueAfter > 0 && status.Refused(p.Err) {
		return min(after, refusedAgain), true
	}
	return after, p.Err == nil
}
