//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

func TestTheNetworkPolicyOfARunningCopyIsRepaired(t *testing.T) {
	parallel(t)
	cluster := safe(t, "secluded-v1", func(pod *corev1.Pod) {
		if pod.Labels[dbv1.LabelComponent] != dbv1.ComponentVerification {
			yields(pod)
		}
	})
	b := awaitPhase(t, backup(t, cluster, "secluded", dbv1.BackupRetain), dbv1.BackupCompleted, "")
	change(t, b, func(b *dbv1.DatabaseBackup) { b.Annotations = map[string]string{dbv1.AnnotationVerify: "now"} })
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: naming.VerificationPolicy(cluster.Name, b.UID)}}
	await(t, policy, "the copy to run with its NetworkPolicy", func() bool { return len(jobs(t, b, dbv1.ComponentVerification)) > 0 })
	change(t, policy, func(p *networkingv1.NetworkPolicy) { p.Spec.Egress = []networkingv1.NetworkPolicyEgressRule{{}} })
	await(t, policy, "the policy to have no egress rule for all peers", func() bool {
		return !slices.ContainsFunc(policy.Spec.Egress, func(rule networkingv1.NetworkPolicyEgressRule) bool { return len(rule.To) == 0 })
	})
}
