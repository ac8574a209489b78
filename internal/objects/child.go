/*
SPDX-License-Identifier: Apache-2.0
*/

// Package objects compares desired objects with those of the API server.
package objects

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Child is one desired object of a cluster. It has only the fields that the operator owns. Defaults of the API
// server and additions of other controllers are not in it.
type Child struct {
	Object *unstructured.Unstructured
	// whole are paths that only the operator may write. Additions by others are drift, too.
	whole [][]string
	// Exact is true if nested additions count, too: the API server adds no defaults to these fields.
	Exact bool
	// recordsStoredSpec is true if an annotation records the hash of the stored spec after a write, to detect changes
	// by others.
	recordsStoredSpec bool
	written           *dbv1.WrittenWorkload // the record in a status
}

// RecordsStoredSpec reports whether the operator records the hash of the stored spec after a write: see
// StoredSpecHash.
func (c Child) RecordsStoredSpec() bool { return c.recordsStoredSpec }

// RecordingStoredSpec returns an object with a pod template, whose stored spec is recorded, beside the present record in a status.
func (c Child) RecordingStoredSpec(written *dbv1.WrittenWorkload) Child {
	c.recordsStoredSpec, c.written = true, written
	return c
}

// Kind of the object.
func (c Child) Kind() string { return c.Object.GetKind() }

// Name of the object.
func (c Child) Name() string { return c.Object.GetName() }

func (c Child) String() string { return c.Kind() + " " + c.Name() }

// New turns an apply configuration into a Child that has its hash as an annotation. The hash reveals that a
// field or a key was removed from the desired object. A comparison with the live object cannot reveal that.
func New(configuration any, whole ...[]string) Child {
	object := &unstructured.Unstructured{Object: Fields(configuration)}
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[dbv1.AnnotationApplied] = Hash(object.Object)
	object.SetAnnotations(annotations)
	return Child{Object: object, whole: whole}
}

// Hash of the JSON form of a value, whose keys are sorted.
func Hash(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("%T does not marshal: %v", value, err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Set adds a field that the hash does not cover, because the field may differ from the spec for a while.
func (c Child) Set(value any, path ...string) Child {
	SetField(c.Object.Object, value, path...)
	return c
}

// SetField sets a field of an object in its JSON form.
func SetField(object map[string]any, value any, path ...string) {
	if err := unstructured.SetNestedField(object, value, path...); err != nil {
		panic(fmt.Sprintf("%s cannot be set: %v", path, err))
	}
}

// Fields returns the JSON form of a value, with whole numbers as int64, as in the API machinery.
func Fields(value any) map[string]any {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(value)
	if err != nil {
		panic(fmt.Sprintf("%T has no JSON form: %v", value, err))
	}
	return object
}

// As converts an API type into its apply configuration. Both have the same JSON form.
func As[Configuration any](value any) *Configuration {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("%T does not marshal: %v", value, err))
	}
	configuration := new(Configuration)
	if err := json.Unmarshal(text, configuration); err != nil {
		panic(fmt.Sprintf("%T is not a %T: %v", value, configuration, err))
	}
	return configuration
}

// AsEach converts each value as As does.
func AsEach[Configuration, Value any](values []Value) []*Configuration {
	all := make([]*Configuration, 0, len(values))
	for _, value := range values {
		all = append(all, As[Configuration](value))
	}
	return all
}

// OwnedBy is the owner reference by which an object is garbage-collected with the cluster.
func OwnedBy(cluster *dbv1.DatabaseCluster) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(dbv1.GroupVersion.String()).
		WithKind("DatabaseCluster").
		WithName(cluster.Name).
		WithUID(cluster.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}
