/*
SPDX-License-Identifier: Apache-2.0
*/

package connection

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// secret is the connection Secret. Only the operator may write its data.
func secret(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, data map[string][]byte) objects.Child {
	return objects.New(corev1ac.Secret(naming.Connection(cluster.Name), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentConnection)).
		WithOwnerReferences(objects.OwnedBy(cluster)).
		WithType(secretType(declared)).
		WithData(data), []string{"data"})
}

// secretType is the type of the connection Secret, in the form of the Service Binding specification.
func secretType(declared *dbv1.DatabaseEngine) corev1.SecretType {
	return corev1.SecretType("servicebinding.io/" + declared.Spec.Connection.Type)
}
