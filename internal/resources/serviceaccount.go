/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// ServiceAccount has the annotations of the spec, by which a platform gives the pods an identity. It has no owner: in a
// foreground deletion, Kubernetes would delete it before the Jobs of deletion hooks ran.
func ServiceAccount(cluster *dbv1.DatabaseCluster) objects.Child {
	return objects.New(corev1ac.ServiceAccount(naming.ServiceAccount(cluster.Name), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentDatabase)).
		WithAnnotations(cluster.Spec.ServiceAccount.Annotations).
		WithAutomountServiceAccountToken(false))
}
