/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// GeneratesServiceAccount reports whether the operator creates the ServiceAccount of a cluster.
func GeneratesServiceAccount(cluster *dbv1.DatabaseCluster) bool {
	return len(cluster.Spec.ServiceAccount.Annotations) > 0
}

// ServiceAccountName is the ServiceAccount of a cluster's members and Jobs; "" for the default of the namespace.
func ServiceAccountName(cluster *dbv1.DatabaseCluster) string {
	if GeneratesServiceAccount(cluster) {
		return naming.ServiceAccount(cluster.Name)
	}
	return cluster.Spec.ServiceAccount.Name
}

// ServiceAccountProblem returns why no Job may run as the ServiceAccount that the operator creates for a cluster; "" if Jobs
// may. The account is nil if it does not exist or another owner created it. A missing one counts, because another owner may create it
// before the pod starts.
func ServiceAccountProblem(cluster *dbv1.DatabaseCluster, account *corev1.ServiceAccount) string {
	if !GeneratesServiceAccount(cluster) || account != nil && account.Labels[dbv1.LabelClusterUID] == string(cluster.UID) {
		return ""
	}
	return fmt.Sprintf("ServiceAccount %s does not exist or was not created for DatabaseCluster %s", naming.ServiceAccount(cluster.Name),
		cluster.Name)
}

// withServiceAccount sets the deprecated field as well: the API server copies the name there, and would restore a
// removed name from it.
func withServiceAccount(spec *corev1ac.PodSpecApplyConfiguration, cluster *dbv1.DatabaseCluster) *corev1ac.PodSpecApplyConfiguration {
	name := ServiceAccountName(cluster)
	if name == "" {
		return spec
	}
	return spec.WithServiceAccountName(name).WithDeprecatedServiceAccount(name)
}
