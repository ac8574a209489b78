/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Values are the values of a Secret. Their text form hides them.
type Values map[string][]byte

func (Values) String() string { return "(hidden)" }

// GoString hides the values from %#v.
func (Values) GoString() string { return "(hidden)" }

// Credentials is the Secret with the credentials of a cluster, as it was read. The zero value is one that does not exist.
type Credentials struct {
	Name    string
	UID     types.UID
	Version string
	// Generated is true if an operator created the Secret for a cluster of this name. Cluster is the UID of that cluster.
	Generated bool
	Cluster   types.UID
	Values    Values
}

// CredentialsOf returns the facts of the Secret with the credentials of a cluster.
func CredentialsOf(secret *corev1.Secret, cluster string) Credentials {
	labels := secret.Labels
	return Credentials{
		Name: secret.Name, UID: secret.UID, Version: secret.ResourceVersion, Values: secret.Data,
		Generated: labels[dbv1.LabelManagedBy] == dbv1.LabelManagedByValue && labels[dbv1.LabelInstance] == cluster &&
			labels[dbv1.LabelComponent] == dbv1.ComponentCredentials,
		Cluster: types.UID(labels[dbv1.LabelClusterUID]),
	}
}

// Found reports whether the Secret exists.
func (c Credentials) Found() bool { return c.UID != "" }

// Keys are the keys of the Secret, sorted.
func (c Credentials) Keys() []string { return slices.Sorted(maps.Keys(c.Values)) }

// SecretFacts are the facts of a connection Secret.
func SecretFacts(secret *corev1.Secret) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metadataFacts(secret.ObjectMeta), Type: secret.Type, Data: secret.Data}
}
