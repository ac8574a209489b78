/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"context"
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/backup/plan"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// readLogs asks the Jobs that run how far they are, and copies what they last answered. A log that cannot be read, as while
// a copy is being restored, is no error.
func (o *observation) readLogs(ctx context.Context, logs Logs) {
	for i := range o.Jobs {
		job := &o.Jobs[i]
		reads := resources.ActionKindOf(job.Component).Log
		if o.err != nil || !job.Says(reads == resources.LogAnswer) || reads == resources.LogIgnored {
			continue
		}
		text, err := logs.Tail(ctx, o.backup.Namespace, job.Pod, naming.ActionContainer)
		if err != nil {
			logf.FromContext(ctx).V(1).Info("no progress is known", "pod", job.Pod, "cause", err.Error())
		}
		*job = job.Told(text)
	}
}

// readPolicy reads the NetworkPolicy around copies that run. It is not watched.
func (o *observation) readPolicy(ctx context.Context) {
	runs := func(j state.Task) bool { return j.Component == dbv1.ComponentVerification && !j.Ended() }
	if !slices.ContainsFunc(o.Jobs, runs) {
		return
	}
	policy := &networkingv1.NetworkPolicy{}
	if o.find(ctx, o.live, naming.VerificationPolicy(o.backup.Spec.Cluster, o.backup.UID), policy) {
		o.Policy = policy
	}
	o.PolicyRead = o.err == nil
}

// readRefusals asks why a Job has no pod. That it cannot be read harms nobody.
func (o *observation) readRefusals(ctx context.Context, logs Logs) {
	for i := range o.Jobs {
		job := &o.Jobs[i]
		if o.err != nil || !job.Podless(o.At) {
			continue
		}
		text, err := logs.Refusal(ctx, o.backup.Namespace, job.UID)
		if err != nil {
			logf.FromContext(ctx).V(1).Info("why a Job has no pod is not known", "job", job.Job, "cause", err.Error())
		}
		*job = job.Refuse(text)
	}
}

// readOthers finds out whether another backup of the cluster goes first.
func (o *observation) readOthers(ctx context.Context) {
	o.Turn = o.backup.CreationTimestamp.Time
	if plan.Underway(o.backup, o.Jobs) || o.err != nil {
		return
	}
	options := []client.ListOption{client.InNamespace(o.backup.Namespace)}
	if o.indexed {
		options = append(options, client.MatchingFields{indexSpecCluster: o.backup.Spec.Cluster})
	}
	others := &dbv1.DatabaseBackupList{}
	if err := o.List(ctx, others, options...); err != nil {
		o.err = fmt.Errorf("list the backups of %s: %w", o.backup.Spec.Cluster, err)
		return
	}
	o.Queue = plan.QueueOf(o.backup, others.Items)
}
