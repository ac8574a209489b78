/*
SPDX-License-Identifier: Apache-2.0
*/

// Package controller observes, acts and reports for a DatabaseCluster. It is the only package that
// talks to the API server for one.
package controller

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/status"
)

// Reconciler brings DatabaseClusters in line with their specs. It keeps nothing between passes.
type Reconciler struct {
	// Cached reads from memory, Live from the API server.
	Cached, Live client.Reader
	Writer       apply.Writer
	Events       events.EventRecorder
	Clock        clock.PassiveClock
	// Policies are the names of the admission policies that protect clusters, and of their bindings.
	Policies []string
	// Logs reads how far Jobs are; nil: nobody is told.
	Logs kit.Logs
	// TransferImage holds the binary that Jobs transfer backups with.
	TransferImage string
	// ReferencePeriod is how often a cluster is looked at again whose spec names Secrets or ConfigMaps, or asks
	// for protection: those, and the policies, are not watched. 0: only when something else wakes it.
	ReferencePeriod time.Duration

	indexed bool
}

// refusedAgain is when what the API server refused is tried again, at the latest.
const refusedAgain = time.Minute

// Reconcile makes one pass: observe, decide, act, report.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	// Observe: read everything once. What could not be read is not taken for absent.
	cluster, observed, err := r.observe(ctx, r.view(), request.NamespacedName)
	if cluster == nil && err == nil {
		return ctrl.Result{}, r.releaseLeft(ctx, request.NamespacedName) // gone: what it owned goes with it
	}
	if err != nil {
		return ctrl.Result{}, err
	}

	// Decide. What disturbs members is decided again from the API server itself, not from a cache that
	// may lag behind.
	situation, todo := plan.For(cluster, observed)
	if todo.NeedsLiveRead() {
		cluster, observed, err = r.observe(ctx, r.liveView(), request.NamespacedName)
		if cluster == nil || err != nil {
			return ctrl.Result{}, err
		}
		situation, todo = plan.For(cluster, observed)
	}

	// Act: the operations in their order, of which at most the last is disruptive.
	done, actErr := r.act(ctx, situation, todo)

	// Report: always, also after an error.
	reportErr := r.report(ctx, status.Pass{Situation: situation, Plan: todo, Err: actErr}, done)

	// What a human has to mend does not hold up what only takes time.
	if todo.RequeueAfter > 0 && status.Refused(actErr) && reportErr == nil {
		return ctrl.Result{RequeueAfter: min(r.again(todo, observed), refusedAgain)}, nil
	}
	if err := errors.Join(actErr, reportErr); !apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: r.again(todo, observed)}, err
	}
	logf.FromContext(ctx).V(1).Info("looking again: something changed meanwhile")
	return ctrl.Result{RequeueAfter: conflictDelay}, nil
}

// again is when to look again although nothing may wake the cluster.
func (r *Reconciler) again(todo plan.Plan, observed state.Observed) time.Duration {
	unwatched := len(observed.References) > 0 || observed.Protection != nil
	if !unwatched || todo.RequeueAfter > 0 && (r.ReferencePeriod == 0 || todo.RequeueAfter < r.ReferencePeriod) {
		return todo.RequeueAfter
	}
	return r.ReferencePeriod
}
