/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
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
	// Since is when the current passwords were generated or put in force.
	Since time.Time
	// Rotation is the rotation in progress, and Request the request of the last rotation; "" for none.
	Rotation, Request string
	// Content is the hash with which pods count as current. It stays the same when a rotation puts other passwords in force.
	Content string
	// Promoted is the hash of the passwords that the last rotation made the current ones; "" for none.
	Promoted string
}

// CredentialsOf returns the facts of the Secret with the credentials of a cluster.
func CredentialsOf(secret *corev1.Secret, cluster string) Credentials {
	labels := secret.Labels
	return Credentials{
		Name: secret.Name, UID: secret.UID, Version: secret.ResourceVersion, Values: secret.Data,
		Generated: labels[dbv1.LabelManagedBy] == dbv1.LabelManagedByValue && labels[dbv1.LabelInstance] == cluster &&
			labels[dbv1.LabelComponent] == dbv1.ComponentCredentials,
		Cluster: types.UID(labels[dbv1.LabelClusterUID]),
		Since:   since(secret), Rotation: secret.Annotations[dbv1.AnnotationRotation],
		Request: secret.Annotations[dbv1.AnnotationRotationRequest],
		Content: contentOfPods(secret), Promoted: secret.Annotations[dbv1.AnnotationContent],
	}
}

func since(secret *corev1.Secret) time.Time {
	if at, err := time.Parse(time.RFC3339, secret.Annotations[dbv1.AnnotationRotated]); err == nil {
		return at
	}
	return secret.CreationTimestamp.Time
}

// contentOfPods is the hash of the passwords, without those of a rotation in progress. If they are those that a rotation put in
// force, it is the hash from before, so no member restarts. After a rotation, passwords from before it have another hash than at that
// time: the members have to apply them again.
func contentOfPods(secret *corev1.Secret) string {
	plain := Current(secret.Data, secret.Annotations[dbv1.AnnotationRotation])
	if plain.Hash() == secret.Annotations[dbv1.AnnotationContent] {
		return secret.Annotations[dbv1.AnnotationContentOfPods]
	}
	if rotated := secret.Annotations[dbv1.AnnotationRotated]; rotated != "" {
		return pods.Content(plain, map[string]string{dbv1.AnnotationRotated: rotated})
	}
	return plain.Hash()
}

// RotatedKey is the key of the password that a rotation puts in force.
func RotatedKey(key, rotation string) string { return key + "." + rotation }

// PreviousKey is the key of the password that a rotation replaces, during the overlap.
func PreviousKey(key, rotation string) string { return RotatedKey(key, rotation) + ".previous" }

// OfRotation reports whether a key exists only during a rotation.
func OfRotation(key, rotation string) bool {
	return rotation != "" && (strings.HasSuffix(key, RotatedKey("", rotation)) || strings.HasSuffix(key, PreviousKey("", rotation)))
}

// Current returns the values without those of a rotation in progress.
func Current(values Values, rotation string) Values {
	plain := maps.Clone(values)
	maps.DeleteFunc(plain, func(key string, _ []byte) bool { return OfRotation(key, rotation) })
	return plain
}

// Rotated returns the values after the rotation in progress.
func (c Credentials) Rotated() Values {
	rotated := Current(c.Values, c.Rotation)
	for key := range rotated {
		if value, found := c.Values[RotatedKey(key, c.Rotation)]; found && c.Rotation != "" {
			rotated[key] = value
		}
	}
	return rotated
}

// InForce reports whether the passwords of the rotation in progress are those that clients use.
func (c Credentials) InForce() bool {
	return c.Rotated().Hash() == Current(c.Values, c.Rotation).Hash()
}

// Edited reports whether the user has replaced passwords that the rotation in progress had made the current ones.
func (c Credentials) Edited() bool {
	return c.Rotation != "" && !c.InForce() && c.Promoted == c.Rotated().Hash()
}

// DefaultOverlap is how long the database also accepts the previous passwords. The kubelet needs about two minutes to bring a changed
// Secret into running pods.
const DefaultOverlap = 10 * time.Minute

// OverlapEnds is when the database stops accepting the previous passwords.
func (c Credentials) OverlapEnds(spec dbv1.ClusterCredentialsRotation) time.Time {
	if spec.Overlap != nil {
		return c.Since.Add(spec.Overlap.Duration)
	}
	return c.Since.Add(DefaultOverlap)
}

// Stage is the stage of a rotation, in the name of its Job.
type Stage string

// Stages of a rotation: its passwords are put in force, and after the overlap the previous ones are removed.
const (
	StageRotate Stage = "rotate"
	StageRetire Stage = "retire"
)

// Stage is the stage of the rotation in progress.
func (c Credentials) Stage(spec dbv1.ClusterCredentialsRotation, at time.Time) Stage {
	if c.InForce() && !at.Before(c.OverlapEnds(spec)) {
		return StageRetire
	}
	return StageRotate
}

// Hash is a hash of the values.
func (v Values) Hash() string { return pods.Content(v, nil) }

// GeneratedFor reports whether the operator created the Secret for this cluster, or the cluster has adopted it. Only then the operator
// may delete it.
func (c Credentials) GeneratedFor(cluster types.UID) bool {
	return c.Found() && c.Generated && c.Cluster == cluster
}

// Found reports whether the Secret exists.
func (c Credentials) Found() bool { return c.UID != "" }

// Keys are the keys of the Secret, sorted.
func (c Credentials) Keys() []string { return slices.Sorted(maps.Keys(c.Values)) }

// SecretFacts are the facts of a connection Secret.
func SecretFacts(secret *corev1.Secret) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: MetadataFacts(secret.ObjectMeta), Type: secret.Type, Data: secret.Data}
}
