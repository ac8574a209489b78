/*
SPDX-License-Identifier: Apache-2.0
*/

// Package backup observes, acts and reports for a DatabaseBackup; what to do is decided in package plan below it.
package backup

import (
	"context"
	"errors"
	"net/netip"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/backup/plan"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
)

// Reconciler brings DatabaseBackups about. It keeps nothing between passes.
type Reconciler struct {
	kit.Base
	// TransferImage holds the transfer binary that Jobs run; "" where there are to be none.
	TransferImage string
	// NameServers are those that copies of a verification may ask besides pods of the cluster.
	NameServers []netip.Addr
}

type pass = kit.Pass[*dbv1.DatabaseBackup, plan.Observed, plan.Plan]

// foreignAgain is how often a name conflict is looked at again: somebody else's objects are not watched.
const foreignAgain = 30 * time.Second

// Reconcile makes one pass: observe, decide, act, report.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return kit.Reconcile(ctx, r.Base, r, request.NamespacedName)
}

// Deleted leaves nothing: what the backup owned is deleted with it.
func (r *Reconciler) Deleted(context.Context, client.ObjectKey) error { return nil }

// Decide returns what to do.
func (r *Reconciler) Decide(backup *dbv1.DatabaseBackup, observed plan.Observed) plan.Plan {
	return plan.For(backup, observed)
}

// RequeueAfter says when to look again.
func (r *Reconciler) RequeueAfter(p pass) (time.Duration, bool) {
	if errors.As(p.Err, new(plan.ForeignError)) {
		return foreignAgain, true
	}
	return p.Plan.RequeueAfter, p.Err == nil
}
