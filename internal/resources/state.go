/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// StateConfigMap is an empty ConfigMap in which members keep their agreement. It has the labels of members, by which they
// find it, but not the label of a manager: the operator does not watch what members write every few seconds. It has no
// owner: Kubernetes would delete an owned one in a foreground deletion while members still run.
//
// The one with their configuration has that label. Members rarely write it, and the operator repairs changes by other clients.
func StateConfigMap(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, name string) objects.Child {
	labels := naming.Labels(cluster, dbv1.ComponentDatabase)
	if watched, _ := engine.ConfigurationMap(cluster.Name, declared); name != watched {
		delete(labels, dbv1.LabelManagedBy)
	}
	return objects.New(corev1ac.ConfigMap(name, cluster.Namespace).WithLabels(labels))
}
