/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"context"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// readAnswer asks the copy that runs what it last answered. That it does not say so harms nobody.
func (o *observation) readAnswer(ctx context.Context, logs Logs) {
	for _, job := range o.Jobs {
		if o.err != nil || job.Component != dbv1.ComponentVerification || job.over() || !job.Active || !job.Started || job.Pod == "" {
			continue
		}
		text, err := logs.Tail(ctx, o.backup.Namespace, job.Pod, naming.ActionContainer)
		if err != nil { // as long as the copy is being restored
			logf.FromContext(ctx).V(1).Info("no answer is known", "pod", job.Pod, "cause", err.Error())
		}
		o.Answer = protocol.ParseAnswer(text)
	}
}

// readPolicy reads the NetworkPolicy around copies that run. It is not watched.
func (o *observation) readPolicy(ctx context.Context) {
	runs := func(j Job) bool { return j.Component == dbv1.ComponentVerification && !j.over() }
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
		job.Task = job.Refuse(text)
	}
}
