/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// ConfigMapName is the name of the ConfigMap with the files of spec.config; "" if there are no files.
func ConfigMapName(cluster *dbv1.DatabaseCluster) string {
	if cluster.Spec.Config == nil {
		return ""
	}
	return naming.ConfigMap(cluster.Name, hash(cluster.Spec.Config.Files)[:8])
}

// ConfigMap has the files of spec.config. It never changes: other files are a new ConfigMap. So a member sees new
// files only when the operator restarts it, even if its container restarts earlier.
func ConfigMap(cluster *dbv1.DatabaseCluster) Child {
	return newChild(corev1ac.ConfigMap(ConfigMapName(cluster), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentConfig)).
		WithOwnerReferences(ownedBy(cluster)).
		WithData(cluster.Spec.Config.Files).
		WithImmutable(true))
}
