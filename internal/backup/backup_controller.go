/*
SPDX-License-Identifier: Apache-2.0
*/

// Package backup observes, acts and reports for a DatabaseBackup. Its subpackage plan decides what to do.
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

// Reconciler reconciles DatabaseBackups. It keeps no state between passes.
type Reconciler struct {
	kit.Base
	// TransferImage has the transfer binary that Jobs run; "" to create no Jobs.
	TransferImage string
	// NameServers are those that copies of a verification may use besides pods of the cluster.
	NameServers []netip.Addr
}

type pass = kit.Pass[*dbv1.DatabaseBackup, plan.BackupFacts, plan.BackupPlan]

// conflictRequeueAfter is the delay until a name conflict is checked again: objects of other owners are not watched.
const conflictRequeueAfter = 30 * time.Second

// Reconcile runs one pass: observe, decide, act, report.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return kit.Reconcile(ctx, &r.Base, r, request.NamespacedName)
}

// Deleted does nothing: the garbage collector deletes the objects of the backup.
func (r *Reconciler) Deleted(context.Context, client.ObjectKey) error { return nil }

// Decide returns what to do.
func (r *Reconciler) Decide(backup *dbv1.DatabaseBackup, observed plan.BackupFacts) plan.BackupPlan {
	return plan.For(backup, observed)
}

// RequeueAfter returns the delay until the next pass.
func (r *Reconciler) RequeueAfter(p pass) (time.Duration, bool) {
	if errors.As(p.Err, new(plan.ForeignError)) {
		return conflictRequeueAfter, true
	}
	return p.Plan.RequeueAfter, p.Err == nil
}
