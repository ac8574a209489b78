/*
SPDX-License-Identifier: Apache-2.0
*/

// Package olm reports to the Operator Lifecycle Manager when an upgrade of the operator would be disruptive. It
// sets the condition Upgradeable of the OperatorCondition that OLM v0 creates for each installed version. The
// operator does not depend on it.
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

// reportBackoff is how long a new replica stays unready because it cannot report to OLM. OLM creates the
// OperatorCondition, and the right to change it, at the same time as the operator.
var reportBackoff = wait.Backoff{Duration: 250 * time.Millisecond, Factor: 1.5, Steps: 10}

// Upgradeable maintains the condition.
type Upgradeable struct {
	// Clusters reads from the caches of the manager.
	Clusters client.Reader
	// Condition must not be read from a cache: OLM does not grant list and watch.
	Condition conditions.Condition
	Clock     clock.PassiveClock
	Log       logr.Logger

	reported chan struct{} // closed after the first report to OLM, or after it failed
}

// SetupWithManager lets the leader maintain the condition, and every replica report before it is ready.
func (u *Upgradeable) SetupWithManager(mgr ctrl.Manager) error {
	u.reported = make(chan struct{})
	err := ctrl.NewControllerManagedBy(mgr).
		Named("upgradeable").
		Watches(&dbv1.DatabaseCluster{}, handler.EnqueueRequestsFromMapFunc(theCondition), builder.WithPredicates(startsOrEndsRestore)).
		WatchesRawSource(source.Func(atStart)).
		Complete(u)
	return errors.Join(err, mgr.AddReadyzCheck("upgradeable", u.ready), mgr.Add(announcer{u}))
}

// theCondition maps every change to the only object to reconcile.
func theCondition(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{{}} }

// atStart lets a new leader reconcile even without a cluster: the condition may be the last report of another
// leader.
func atStart(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	queue.Add(reconcile.Request{})
	return nil
}

// startsOrEndsRestore passes only the changes of clusters that start or finish a restore.
var startsOrEndsRestore = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool { return flies(e.Object) },
	UpdateFunc: func(e event.UpdateEvent) bool { return flies(e.ObjectOld) != flies(e.ObjectNew) },
	DeleteFunc: func(e event.DeleteEvent) bool { return flies(e.Object) },
}

func flies(object client.Object) bool {
	cluster, ok := object.(*dbv1.DatabaseCluster)
	return ok && inFlight(cluster)
}

// Reconcile reports a changed verdict to OLM.
func (u *Upgradeable) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	var clusters dbv1.DatabaseClusterList
	if err := u.Clusters.List(ctx, &clusters, client.UnsafeDisableDeepCopy); err != nil { // they are only read
		return reconcile.Result{}, fmt.Errorf("list the clusters: %w", err)
	}
	var verdict UpgradeVerdict
	err := retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		verdict, err = u.report(ctx, clusters.Items)
		return err
	})
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("report to OLM whether the operator can be upgraded: %w", err)
	}
	return reconcile.Result{RequeueAfter: verdict.RequeueAfter}, nil
}

func (u *Upgradeable) report(ctx context.Context, clusters []dbv1.DatabaseCluster) (UpgradeVerdict, error) {
	now := u.Clock.Now()
	var said metav1.Condition
	// Set reads the condition again and returns the error, so an error here is ignored.
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
		return UpgradeVerdict{}, err
	}
	u.Log.Info("reported to OLM whether the operator can be upgraded", "status", verdict.Status, "reason", verdict.Reason, "message",
		verdict.Message)
	return verdict, nil
}

// ready is a check of /readyz.
func (u *Upgradeable) ready(*http.Request) error {
	select {
	case <-u.reported:
		return nil
	default:
		return errors.New("the operator has not reported to OLM yet whether it can be upgraded")
	}
}

// announcer reports before this replica is ready, leader or not. During an upgrade, the leader may still be the
// previous operator, which reports for another version.
type announcer struct{ *Upgradeable }

// NeedLeaderElection lets every replica report.
func (announcer) NeedLeaderElection() bool { return false }

// Start reports a first verdict if there is none. If that fails, the replica becomes ready nevertheless: OLM
// assumes that the operator can be upgraded, which is better than an operator that never becomes ready.
func (a announcer) Start(ctx context.Context) error {
	defer close(a.reported)
	var failed error
	err := wait.ExponentialBackoffWithContext(ctx, reportBackoff, func(ctx context.Context) (bool, error) {
		if _, failed = a.Condition.Get(ctx); failed != nil {
			_, failed = a.Reconcile(ctx, reconcile.Request{})
		}
		return failed == nil, nil
	})
	if err != nil && ctx.Err() == nil {
		a.Log.Error(failed, "cannot report to OLM whether the operator can be upgraded; OLM assumes that it can until the next report")
	}
	return nil
}
