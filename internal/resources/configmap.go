/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// ConfigMap has the files of spec.config. It never changes: other files are a new ConfigMap. So a member sees new
// files only when the operator restarts it, even if its container restarts earlier.
func ConfigMap(cluster *dbv1.DatabaseCluster) objects.Child {
	return objects.New(corev1ac.ConfigMap(pods.ConfigMapName(cluster), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentConfig)).
		WithOwnerReferences(objects.OwnedBy(cluster)).
		WithData(cluster.Spec.Config.Files).
		WithImmutable(true))
}
