/*
SPDX-License-Identifier: Apache-2.0
*/

// Package backup observes, acts and reports for a DatabaseBackup. Its subpackage plan decides what to do.
package backup

import (
	"context"
	"net/netip"

	ctrl "sigs.k8s.io/controller-runtime"

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

var _ kit.Executor[*dbv1.DatabaseBackup, plan.BackupFacts, plan.BackupPlan] = &Reconciler{}

// Reconcile runs one pass: observe, decide, act, report.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return kit.Reconcile(ctx, &r.Base, r, request.NamespacedName)
}

// Decide returns what to do.
func (r *Reconciler) Decide(backup *dbv1.DatabaseBackup, observed plan.BackupFacts) plan.BackupPlan {
	return plan.For(backup, observed)
}
