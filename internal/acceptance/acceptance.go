/*
SPDX-License-Identifier: Apache-2.0
*/

// Package acceptance reports in the status of each DatabaseEngine whether clusters can use it. No cluster depends
// on this.
package acceptance

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/status"
)

const (
	// skippedRequeueAfter is the delay before a write is retried that failed because of a missing permission or an old CRD.
	skippedRequeueAfter = 10 * time.Minute
	// unlimited is an unlimited timeout for the start of the watch.
	unlimited = time.Duration(math.MaxInt64)
)

// Reconciler maintains the condition Accepted of DatabaseEngines.
type Reconciler struct {
	// Engines reads from the cache. Synced reports whether that cache is complete.
	Engines client.Reader
	Synced  func(context.Context) bool
	Writer  apply.Writer
	Clock   clock.PassiveClock
	Log     logr.Logger

	forbidden sync.Once
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseengines,verbs=list;watch,roleName=manager-cluster-role
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseengines/status,verbs=patch,roleName=manager-cluster-role

// SetupWithManager watches the engines through a separate cache: an operator without permission to list them, or
// without their CRD, is ready and manages databases nevertheless. The watch starts as soon as it can.
//
// Status changes start no pass, so operators of different versions in one Kubernetes cluster do not compete for the
// status.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	engines, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		DefaultTransform: cache.TransformStripManagedFields(), DefaultWatchErrorHandler: r.watchFailed,
	})
	if err != nil {
		return fmt.Errorf("create a cache for engines: %w", err)
	}
	if err := mgr.Add(engines); err != nil {
		return err
	}
	r.Engines = engines
	r.Synced = func(ctx context.Context) bool {
		informer, err := engines.GetInformer(ctx, &dbv1.DatabaseEngine{}, cache.BlockUntilSynced(false))
		return err == nil && informer.HasSynced()
	}
	options.CacheSyncTimeout = unlimited
	options.EnableWarmup = new(bool)
	return ctrl.NewControllerManagedBy(mgr).
		Named("databaseengine").
		WatchesRawSource(
			source.Kind[client.Object](engines, &dbv1.DatabaseEngine{}, &handler.EnqueueRequestForObject{}, predicate.GenerationChangedPredicate{})).
		WithOptions(options).
		Complete(r)
}

// Known returns the engines in the cache, for readers that must neither wait nor send a request. It returns none while the
// cache is not complete, as without the right to list engines. The caller must not change them.
func (r *Reconciler) Known(ctx context.Context) ([]dbv1.DatabaseEngine, error) {
	if !r.Synced(ctx) {
		return nil, nil
	}
	var engines dbv1.DatabaseEngineList
	err := r.Engines.List(ctx, &engines, client.UnsafeDisableDeepCopy)
	return engines.Items, err
}

// watchFailed logs a missing permission once. The watch is retried without a limit.
func (r *Reconciler) watchFailed(ctx context.Context, reflector *toolscache.Reflector, err error) {
	if !apierrors.IsForbidden(err) {
		toolscache.DefaultWatchErrorHandler(ctx, reflector, err)
		return
	}
	r.leftOut()
}

func (r *Reconciler) leftOut() {
	r.forbidden.Do(func() {
		r.Log.Info("skipped: the operator is not allowed to list and watch DatabaseEngines, or to write their status; apply its roles again")
	})
}

// Reconcile writes the status of an engine if it differs.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	declared := &dbv1.DatabaseEngine{}
	if err := r.Engines.Get(ctx, request.NamespacedName, declared); err != nil || declared.DeletionTimestamp != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	wanted := status.OfEngine(declared, metav1.NewTime(r.Clock.Now()))
	if equality.Semantic.DeepEqual(declared.Status, wanted) {
		return ctrl.Result{}, nil
	}
	switch err := r.write(ctx, declared, wanted); {
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: kit.ConflictDelay}, nil
	case apierrors.IsForbidden(err):
		r.leftOut()
		return ctrl.Result{RequeueAfter: skippedRequeueAfter}, nil
	case apierrors.IsNotFound(err):
		// The engine was deleted, which the next pass reads, or an old CRD has no status.
		return ctrl.Result{RequeueAfter: skippedRequeueAfter}, nil
	default:
		return ctrl.Result{}, err
	}
}

func (r *Reconciler) write(ctx context.Context, declared *dbv1.DatabaseEngine, wanted dbv1.DatabaseEngineStatus) error {
	// Apply only the operator's condition: applying the conditions of others would take their ownership.
	wanted.Conditions = []metav1.Condition{*meta.FindStatusCondition(wanted.Conditions, dbv1.ConditionAccepted)}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&wanted)
	if err != nil {
		return fmt.Errorf("convert the status of %s: %w", declared.Name, err)
	}
	object := &unstructured.Unstructured{Object: map[string]any{"status": content}}
	object.SetGroupVersionKind(dbv1.GroupVersion.WithKind("DatabaseEngine"))
	object.SetName(declared.Name)
	return r.Writer.Report(ctx, object, declared.UID, declared.ResourceVersion)
}
