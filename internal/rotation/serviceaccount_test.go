/*
SPDX-License-Identifier: Apache-2.0
*/

package rotation_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/rotation"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestARotationStartsOnlyAsTheServiceAccountOfItsCluster(t *testing.T) {
	cluster, observed := generated(t)
	begun()(cluster, &observed)
	cluster.Spec.ServiceAccount.Annotations = map[string]string{"role": "orders"}
	p := rotation.For(situation.Of(cluster, observed))
	if len(p.Operations) > 0 || p.Reason != dbv1.ReasonRotating || !strings.Contains(p.Message, "ServiceAccount orders does not exist or was not created for") {
		t.Errorf("without it: %v, %s: %s", p.Operations, p.Reason, p.Message)
	}
	observed.ServiceAccount = &corev1.ServiceAccount{}
	observed.ServiceAccount.Labels = map[string]string{dbv1.LabelClusterUID: plans.UID}
	if p := rotation.For(situation.Of(cluster, observed)); len(p.Operations) != 1 {
		t.Errorf("with it: %v", p)
	}
}
