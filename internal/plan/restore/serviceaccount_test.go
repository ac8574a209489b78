/*
SPDX-License-Identifier: Apache-2.0
*/

package restore_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/dbcluster/databasecluster-operator/internal/identity"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestARestoreStartsOnlyAsTheServiceAccountOfItsCluster(t *testing.T) {
	cluster := plans.Orders()
	observed := plans.Standing(t, cluster)
	beginsWith(cluster, &observed, bucket)
	filling(cluster, &observed, 0, nil)
	filling(cluster, &observed, 1, nil)
	starts := func() bool {
		_, found := plans.Find[operation.Create](plans.Decide(cluster, observed), "restore ")
		return found
	}
	if !starts() {
		t.Fatal("it does not start without annotations")
	}
	cluster.Spec.ServiceAccount.Annotations = map[string]string{"role": "orders"}
	if starts() {
		t.Error("it starts without its ServiceAccount")
	}
	observed.ServiceAccount = &corev1.ServiceAccount{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(identity.ServiceAccount(cluster).Object.Object, observed.ServiceAccount); err != nil {
		t.Fatal(err)
	}
	if !starts() {
		t.Errorf("with its ServiceAccount: %s", plans.Text(plans.Decide(cluster, observed)))
	}
}
