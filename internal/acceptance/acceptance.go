/*
SPDX-License-Identifier: Apache-2.0
*/

// Package acceptance tells of each DatabaseEngine whether clusters can be run by it: in its status, and nowhere else.
// No cluster depends on it.
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
	// leftOutAgain is when a write is tried again for which the right is missing, or the CRD of today.
	leftOutAgain = 10 * time.Minute
	// whenever is how long the watch may take to begin.
	whenever = time.Duration(math.MaxInt64)
)

// Reconciler keeps the condition Accepted of DatabaseEngines.
type Reconciler struct {
	// Engines reads from memory.
	Engines client.Reader
	Writer  apply.Writer
	Clock   clock.PassiveClock
	Log     logr.Logger

	forbidden sync.Once
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseengines,verbs=list;watch,roleName=manager-cluster-role
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseengines/status,verbs=patch,roleName=manager-cluster-role

// SetupWithManager watches the engines through a cache of its own: an operator that may not list them, or finds no such
// kind, is ready and looks after databases all the same. It begins when it can, however late that is. What somebody
// writes into a status wakes nobody, so operators of different versions in one Kubernetes do not contend for it.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	engines, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		DefaultTransform: cache.TransformStripManagedFields(), DefaultWatchErrorHandler: r.watchFailed,
	})
	if err != nil {
		return fmt.Errorf("make a cache for engines: %w", err)
	}
	if err := mgr.Add(engines); err != nil {
		return err
	}
	r.Engines = engines
	options.CacheSyncTimeout = whenever
	options.EnableWarmup = new(bool)
	return ctrl.NewControllerManagedBy(mgr).
		Named("databaseengine").
		WatchesRawSource(source.Kind[client.Object](engines, &dbv1.DatabaseEngine{}, &handler.EnqueueRequestForObject{}, predicate.GenerationChangedPredicate{})).
		WithOptions(options).
		Complete(r)
}

// watchFailed says once what a missing right leaves undone: the watch is tried again for as long as it takes.
func (r *Reconciler) watchFailed(ctx context.Context, reflector *toolscache.Reflector, err error) {
	if !apierrors.IsForbidden(err) {
		toolscache.DefaultWatchErrorHandler(ctx, reflector, err)
		return
	}
	r.leftOut()
}

func (r *Reconciler) leftOut() {
	r.forbidden.Do(func() {
		r.Log.Info("left out: the operator may not list and watch DatabaseEngines, or write their status; apply its roles again")
	})
}

// Reconcile writes the status of an engine where it is not as it should be.
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
		return ctrl.Result{RequeueAfter: leftOutAgain}, nil
	case apierrors.IsNotFound(err):
		// An engine that is gone, which the next pass sees, or a CRD of before, which knows no status.
		return ctrl.Result{RequeueAfter: leftOutAgain}, nil
	default:
		return ctrl.Result{}, err
	}
}

func (r *Reconciler) write(ctx context.Context, declared *dbv1.DatabaseEngine, wanted dbv1.DatabaseEngineStatus) error {
	// Only what is ours: applying the conditions of others would make them ours.
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
