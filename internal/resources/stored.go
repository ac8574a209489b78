/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// A comparison with the desired fields cannot detect every change by others, such as an additional container. So the operator records
// the spec of a StatefulSet as it last wrote it: by the generation that the write has, or by a hash.

// untouched reports whether the spec is as the operator last wrote it. A new StatefulSet has no record: its generation is 1 until
// a client changes the spec.
func untouched(set *appsv1.StatefulSet) bool {
	switch recorded := set.Annotations[dbv1.AnnotationStoredSpec]; recorded {
	case "":
		return set.Generation == 1
	case generation(set.Generation), StoredSpecHash(set):
		return true
	default:
		return false
	}
}

// StoredSpecHash is a hash of the spec of a StatefulSet as the API server stores it, with defaults. It leaves out the replicas, which
// change in steps of their own, and the claim templates, which never change.
func StoredSpecHash(set *appsv1.StatefulSet) string {
	spec := set.Spec
	spec.Replicas, spec.VolumeClaimTemplates = nil, nil
	return hash(spec)
}

// RecordStoredSpec records the hash on a StatefulSet whose number of members is about to change, which raises the generation.
func RecordStoredSpec(set *appsv1.StatefulSet) {
	if untouched(set) {
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, dbv1.AnnotationStoredSpec, StoredSpecHash(set))
	}
}

// RecordGeneration records the generation that the StatefulSet has after a write that changes its spec. The API server counts the
// changes, and refuses a write to another version than the live one.
func RecordGeneration(object *unstructured.Unstructured, live *appsv1.StatefulSet) *unstructured.Unstructured {
	recorded := object.DeepCopy()
	annotations := recorded.GetAnnotations()
	annotations[dbv1.AnnotationStoredSpec] = generation(live.Generation + 1)
	recorded.SetAnnotations(annotations)
	return recorded
}

// Recorded reports whether the generation of a StatefulSet is the recorded one.
func Recorded(stored *unstructured.Unstructured) bool {
	return stored.GetAnnotations()[dbv1.AnnotationStoredSpec] == generation(stored.GetGeneration())
}

func generation(n int64) string { return fmt.Sprintf("generation-%d", n) }
