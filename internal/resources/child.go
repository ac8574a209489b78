/*
SPDX-License-Identifier: Apache-2.0
*/

// Package resources builds the desired objects of a cluster, one file for each kind.
package resources

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
	// exact is true if nested additions count, too: the API server adds no defaults to these fields.
	exact bool
	// recordsStoredSpec is true if an annotation records the hash of the stored spec after a write, to detect changes
	// by others.
	recordsStoredSpec bool
	cluster           *dbv1.DatabaseCluster // of a StatefulSet
}

// RecordsStoredSpec reports whether the operator records the hash of the stored spec after a write: see
// StoredSpecHash.
func (c Child) RecordsStoredSpec() bool { return c.recordsStoredSpec }

// Kind of the object.
func (c Child) Kind() string { return c.Object.GetKind() }

// Name of the object.
func (c Child) Name() string { return c.Object.GetName() }

func (c Child) String() string { return c.Kind() + " " + c.Name() }

// newChild turns an apply configuration into a Child that has its hash as an annotation. The hash reveals that a
// field or a key was removed from the desired object. A comparison with the live object cannot reveal that.
func newChild(configuration any, whole ...[]string) Child {
	object := &unstructured.Unstructured{Object: toMap(configuration)}
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[dbv1.AnnotationApplied] = hash(object.Object)
	object.SetAnnotations(annotations)
	return Child{Object: object, whole: whole}
}

// Hash of the JSON form of a value.
func Hash(value any) string { return hash(value) }

// hash of the JSON form of a value, whose keys are sorted.
func hash(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("%T does not marshal: %v", value, err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// set adds a field that the hash does not cover, because the field may differ from the spec for a while.
func (c Child) set(value any, path ...string) Child {
	setField(c.Object.Object, value, path...)
	return c
}

func setField(object map[string]any, value any, path ...string) {
	if err := unstructured.SetNestedField(object, value, path...); err != nil {
		panic(fmt.Sprintf("%s cannot be set: %v", path, err))
	}
}

// toMap returns the JSON form of a value, with whole numbers as int64, as in the API machinery.
func toMap(value any) map[string]any {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(value)
	if err != nil {
		panic(fmt.Sprintf("%T has no JSON form: %v", value, err))
	}
	return object
}

// as converts an API type into its apply configuration. Both have the same JSON form.
func as[Configuration any](value any) *Configuration {
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

func asEach[Configuration, Value any](values []Value) []*Configuration {
	all := make([]*Configuration, 0, len(values))
	for _, value := range values {
		all = append(all, as[Configuration](value))
	}
	return all
}

// ownedBy is the owner reference by which an object is garbage-collected with the cluster.
func ownedBy(cluster *dbv1.DatabaseCluster) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(dbv1.GroupVersion.String()).
		WithKind("DatabaseCluster").
		WithName(cluster.Name).
		WithUID(cluster.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}
