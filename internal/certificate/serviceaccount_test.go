/*
SPDX-License-Identifier: Apache-2.0
*/

package certificate_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestAReloadStartsOnlyAsTheServiceAccountOfItsCluster(t *testing.T) {
	cluster, observed := encrypted(t)
	cluster.Status.TLS.Served = previous
	cluster.Spec.ServiceAccount.Annotations = map[string]string{"role": "orders"}
	if got := plans.Text(plans.Decide(cluster, observed)); strings.Contains(got, reload) {
		t.Error("without it:", got)
	}
	observed.ServiceAccount = &corev1.ServiceAccount{}
	observed.ServiceAccount.Labels = map[string]string{dbv1.LabelClusterUID: plans.UID}
	if got := plans.Text(plans.Decide(cluster, observed)); !strings.Contains(got, reload) {
		t.Error("with it:", got)
	}
}
