/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// Credentials is the Secret with generated credentials, without its values, which are random. It has no owner reference:
// retained volumes are lost without their password, and in a foreground deletion the hooks need it.
func Credentials(cluster *dbv1.DatabaseCluster) objects.Child {
	secret := corev1ac.Secret(naming.Credentials(cluster.Name), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentCredentials)).
		WithType(corev1.SecretTypeOpaque)
	if request := cluster.Annotations[dbv1.AnnotationRotateCredentials]; request != "" { // new passwords need no rotation
		secret.WithAnnotations(map[string]string{dbv1.AnnotationRotationRequest: request})
	}
	return objects.New(secret)
}

// Connection is the connection Secret. Only the operator may write its data.
func Connection(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine, data map[string][]byte) objects.Child {
	return objects.New(corev1ac.Secret(naming.Connection(cluster.Name), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentConnection)).
		WithOwnerReferences(objects.OwnedBy(cluster)).
		WithType(ConnectionType(declared)).
		WithData(data), []string{"data"})
}

// ConnectionType is the type of the connection Secret, in the form of the Service Binding specification.
func ConnectionType(declared *dbv1.DatabaseEngine) corev1.SecretType {
	return corev1.SecretType("servicebinding.io/" + declared.Spec.Connection.Type)
}
