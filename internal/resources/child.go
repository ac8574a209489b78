/*
SPDX-License-Identifier: Apache-2.0
*/

// Package resources makes the objects of a cluster as they should be, one file a kind.
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

// Child is one object of a cluster as it should be. It holds the fields that the operator owns and no
// others: what the API server defaults and what others add to the live object is theirs.
type Child struct {
	Object *unstructured.Unstructured
	// whole are paths that are the operator's alone: what others add there is drift, too.
	whole [][]string
	// recordsStoredSpec says that a hash noted after the last write tells what others changed at those paths.
	recordsStoredSpec bool
}

// Sealed tells whether the hash of what the API server made of a write has to be noted: see Seal.
func (c Child) RecordsStoredSpec() bool { return c.recordsStoredSpec }

// Kind and Name say which object it is, for people.
func (c Child) Kind() string { return c.Object.GetKind() }

// Name of the object.
func (c Child) Name() string { return c.Object.GetName() }

func (c Child) String() string { return c.Kind() + " " + c.Name() }

// newChild turns an apply configuration into a Child that carries the hash of what it says. The hash
// tells that a field or a key was taken out of the desired object, which a comparison with the live
// one cannot.
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

// hash of the JSON form of a value, whose keys are sorted.
func hash(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("%T does not marshal: %v", value, err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// set adds a field that the hash does not cover, because it may differ from the spec for a while.
func (c Child) set(value any, path ...string) Child {
	setField(c.Object.Object, value, path...)
	return c
}

func setField(object map[string]any, value any, path ...string) {
	if err := unstructured.SetNestedField(object, value, path...); err != nil {
		panic(fmt.Sprintf("%s cannot be set: %v", path, err))
	}
}

// toMap is the JSON form of a value: whole numbers as int64, as the API machinery has them.
func toMap(value any) map[string]any {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(value)
	if err != nil {
		panic(fmt.Sprintf("%T has no JSON form: %v", value, err))
	}
	return object
}

// as turns an API type into its apply configuration; both have the same JSON form.
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

// ownedBy makes an object go when the cluster goes.
func ownedBy(cluster *dbv1.DatabaseCluster) *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(dbv1.GroupVersion.String()).
		WithKind("DatabaseCluster").
		WithName(cluster.Name).
		WithUID(cluster.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}
