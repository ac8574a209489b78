/*
SPDX-License-Identifier: Apache-2.0
*/

// Package olm tells the Operator Lifecycle Manager when an upgrade of the operator would come at a bad moment: by the
// condition Upgradeable of the OperatorCondition that OLM v0 makes for each installed version. Nothing of the operator
// depends on it.
package olm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"github.com/operator-framework/operator-lib/conditions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// patience is how long a replica that starts is not ready because OLM could not be told anything yet. OLM makes the
// OperatorCondition, and the right to change it, beside the operator and not before it.
var patience = wait.Backoff{Duration: 250 * time.Millisecond, Factor: 1.5, Steps: 10}

// Upgradeable keeps the condition as the clusters are.
type Upgradeable struct {
	// Clusters reads from the caches of the manager.
	Clusters client.Reader
	// Condition must not be read from a cache: OLM grants no list and no watch.
	Condition conditions.Condition
	Clock     clock.PassiveClock
	Log       logr.Logger

	told chan struct{} // closed when OLM was told for the first time, or could not be
}

// SetupWithManager makes the leader keep the condition, and every replica say something before it is ready.
func (u *Upgradeable) SetupWithManager(mgr ctrl.Manager) error {
	u.told = make(chan struct{})
	err := ctrl.NewControllerManagedBy(mgr).
		Named("upgradeable").
		Watches(&dbv1.DatabaseCluster{}, handler.EnqueueRequestsFromMapFunc(theCondition), builder.WithPredicates(takesOffOrLands)).
		WatchesRawSource(source.Func(atStart)).
		Complete(u)
	return errors.Join(err, mgr.AddReadyzCheck("upgradeable", u.ready), mgr.Add(announcer{u}))
}

// theCondition is the only thing that there is to reconcile, whatever happened.
func theCondition(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{{}} }

// atStart makes a new leader look also where there is no cluster: what it finds may be another leader's last word.
func atStart(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	queue.Add(reconcile.Request{})
	return nil
}

// takesOffOrLands keeps all but a few of the changes of clusters from waking anybody.
var takesOffOrLands = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool { return flies(e.Object) },
	UpdateFunc: func(e event.UpdateEvent) bool { return flies(e.ObjectOld) != flies(e.ObjectNew) },
	DeleteFunc: func(e event.DeleteEvent) bool { return flies(e.Object) },
}

func flies(object client.Object) bool {
	cluster, ok := object.(*dbv1.DatabaseCluster)
	return ok && inFlight(cluster)
}

// Reconcile tells OLM how it is, where that is news.
func (u *Upgradeable) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	var clusters dbv1.DatabaseClusterList
	if err := u.Clusters.List(ctx, &clusters, client.UnsafeDisableDeepCopy); err != nil { // they are only read
		return reconcile.Result{}, fmt.Errorf("list the clusters: %w", err)
	}
	var verdict Verdict
	err := retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		verdict, err = u.tell(ctx, clusters.Items)
		return err
	})
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("tell OLM whether the operator may be upgraded: %w", err)
	}
	return reconcile.Result{RequeueAfter: verdict.Again}, nil
}

func (u *Upgradeable) tell(ctx context.Context, clusters []dbv1.DatabaseCluster) (Verdict, error) {
	now := u.Clock.Now()
	var said metav1.Condition
	// Set reads again, and says itself what is wrong when this could not.
	if before, err := u.Condition.Get(ctx); err == nil {
		said = *before
	}
	verdict := Judge(clusters, said, now)
	if said.Status == verdict.Status && said.Reason == verdict.Reason && said.Message == verdict.Message {
		return verdict, nil
	}
	at := func(condition *metav1.Condition) { condition.LastTransitionTime = metav1.NewTime(now) }
	err := u.Condition.Set(ctx, verdict.Status, conditions.WithReason(verdict.Reason), conditions.WithMessage(verdict.Message), at)
	if err != nil {
		return Verdict{}, err
	}
	u.Log.Info("told OLM whether the operator may be upgraded", "status", verdict.Status, "reason", verdict.Reason, "message", verdict.Message)
	return verdict, nil
}

// ready is an answer to /readyz.
func (u *Upgradeable) ready(*http.Request) error {
	select {
	case <-u.told:
		return nil
	default:
		return errors.New("OLM has not been told yet whether the operator may be upgraded")
	}
}

// announcer speaks before this replica is ready, leader or not: while an upgrade is rolled out, the leader may still be
// the operator of before, which speaks for another version.
type announcer struct{ *Upgradeable }

// NeedLeaderElection lets every replica do it.
func (announcer) NeedLeaderElection() bool { return false }

// Start says what there is to say where nobody has said anything. When that cannot be said, an operator of which OLM
// believes that it may be upgraded is better than one that never becomes ready.
func (a announcer) Start(ctx context.Context) error {
	defer close(a.told)
	var failed error
	err := wait.ExponentialBackoffWithContext(ctx, patience, func(ctx context.Context) (bool, error) {
		if _, failed = a.Condition.Get(ctx); failed != nil {
			_, failed = a.Reconcile(ctx, reconcile.Request{})
		}
		return failed == nil, nil
	})
	if err != nil && ctx.Err() == nil {
		a.Log.Error(failed, "OLM could not be told whether the operator may be upgraded; it believes so until it is told otherwise")
	}
	return nil
}
