//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

func TestThePolicyAroundACopyThatRunsIsMadeRight(t *testing.T) {
	parallel(t)
	cluster := safe(t, "secluded-v1", func(pod *corev1.Pod) {
		if pod.Labels[dbv1.LabelComponent] != dbv1.ComponentVerification {
			yields(pod)
		}
	})
	b := awaitPhase(t, backup(t, cluster, "secluded", dbv1.BackupRetain), dbv1.BackupCompleted, "")
	change(t, b, func(b *dbv1.DatabaseBackup) { b.Annotations = map[string]string{dbv1.AnnotationVerify: "now"} })
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: naming.VerificationPolicy(cluster.Name, b.UID)}}
	eventually(t, "the copy to run behind its policy", func() error {
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(policy), policy); err != nil {
			return err
		}
		if len(jobs(t, b, dbv1.ComponentVerification)) == 0 {
			return errors.New("there is no Job")
		}
		return nil
	})
	change(t, policy, func(p *networkingv1.NetworkPolicy) { p.Spec.Egress = []networkingv1.NetworkPolicyEgressRule{{}} })
	eventually(t, "the policy to be right again", func() error {
		for _, rule := range read(t, policy).Spec.Egress {
			if len(rule.To) == 0 {
				return fmt.Errorf("a rule allows every peer: %v", policy.Spec.Egress)
			}
		}
		return nil
	})
}
