/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"context"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/backup/plan"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/named"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// copied reports whether Jobs of a verification exist. They are deleted after the NetworkPolicy.
func (o *observation) copied() bool {
	return slices.ContainsFunc(o.Jobs, func(j jobs.Job) bool { return j.Component == dbv1.ComponentVerification })
}

// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get

// readPolicy reads the NetworkPolicy of the copies. It is not watched.
func (o *observation) readPolicy(ctx context.Context) {
	policy := &networkingv1.NetworkPolicy{}
	if o.FindLive(ctx, naming.VerificationPolicy(o.backup.Spec.Cluster, o.backup.UID), policy) {
		o.Policy = policy
	}
	runs := func(j jobs.Job) bool { return j.Component == dbv1.ComponentVerification && !j.Ended() }
	o.Isolates = o.Err == nil && slices.ContainsFunc(o.Jobs, runs)
}

// readOthers checks whether another backup of the cluster is earlier in the queue.
func (o *observation) readOthers(ctx context.Context) {
	o.FirstSince = o.backup.CreationTimestamp.Time
	if plan.Underway(o.backup, o.Jobs) || o.Err != nil {
		return
	}
	others := &dbv1.DatabaseBackupList{}
	if o.List(ctx, others, named.IndexBackups, o.backup.Spec.Cluster); o.Err == nil {
		o.Queue, o.Earlier = plan.QueueOf(o.backup, others.Items), plan.EarlierOf(o.backup, o.Cluster, others.Items)
	}
}
