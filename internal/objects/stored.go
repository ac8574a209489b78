/*
SPDX-License-Identifier: Apache-2.0
*/

package objects

import (
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// A comparison with the desired fields cannot detect every change by others, such as an additional container. So the operator records
// the spec of a StatefulSet, or of the Deployment of a companion, as it last wrote it. The write itself records the UID, and the generation
// that the API server gives it. The next status of its owner records the UID, the generation and a hash of the spec without what other
// clients may change.

// Untouched reports whether the spec is as the operator last wrote it, by the record in a status. Until its first record, an object has
// generation 1 unless a client has changed the spec. So in the seconds until the first status, one that another client deletes and creates
// again with another template is not noticed.
func Untouched(written *dbv1.WrittenWorkload, live metav1.Object) bool {
	recorded := live.GetAnnotations()[dbv1.AnnotationStoredSpec]
	switch {
	case RecordsNext(live):
		return false
	case recorded == Generation(live, live.GetGeneration()), written != nil && isRecorded(written, live):
		return true
	case recorded == "" && written == nil:
		return live.GetGeneration() == 1
	}
	now := StoredSpecHash(live)
	return now == recorded || written != nil && now == written.SpecHash
}

func isRecorded(written *dbv1.WrittenWorkload, live metav1.Object) bool {
	return written.UID == string(live.GetUID()) && written.Generation == live.GetGeneration()
}

// Written is the record of an object for the status. It is the previous one if the object does not exist, or if another client has changed
// it.
func Written(previous *dbv1.WrittenWorkload, live metav1.Object) *dbv1.WrittenWorkload {
	if reflect.ValueOf(live).IsNil() || previous != nil && isRecorded(previous, live) || !Untouched(previous, live) {
		return previous
	}
	return &dbv1.WrittenWorkload{UID: string(live.GetUID()), Generation: live.GetGeneration(), SpecHash: StoredSpecHash(live)}
}

// Behind reports whether a StatefulSet is from before the one that the status records, or another one. One that another client has created
// is neither.
func Behind(cluster *dbv1.DatabaseCluster, set *appsv1.StatefulSet) bool {
	written := cluster.Status.StatefulSet
	switch {
	case written == nil, set != nil && !metav1.IsControlledBy(set, cluster):
		return false
	case set == nil, written.UID != string(set.UID):
		return true
	}
	return set.Generation < written.Generation
}

// StoredSpecHash is a hash of the spec of a StatefulSet or a Deployment as the API server stores it, with defaults. It leaves out the
// replicas, which change in steps of their own, and the claim templates, which never change.
func StoredSpecHash(live metav1.Object) string {
	switch live := live.(type) {
	case *appsv1.StatefulSet:
		spec := live.Spec
		spec.Replicas, spec.VolumeClaimTemplates = nil, nil
		return Hash(spec)
	case *appsv1.Deployment:
		spec := live.Spec
		spec.Replicas = nil
		return Hash(spec)
	}
	panic(fmt.Sprintf("no spec of %T is recorded", live))
}

// RecordStoredSpec records the hash on a StatefulSet whose members are about to change from those of the live one, which raises the
// generation.
func RecordStoredSpec(cluster *dbv1.DatabaseCluster, live, set *appsv1.StatefulSet) {
	if Untouched(cluster.Status.StatefulSet, live) {
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, dbv1.AnnotationStoredSpec, StoredSpecHash(set))
	}
}

// RecordingGeneration records the generation that the object has after a write that changes its spec once. The API server counts the
// changes, and refuses a write to another version than the live one. A write that may not change the spec records nothing: a record of
// a generation that does not exist yet would hide the next change by another client.
func (c Child) RecordingGeneration(live metav1.Object) Child {
	if !c.recordsStoredSpec || uncovered("", c.Object.Object["spec"], Fields(live)["spec"]) == "" {
		return c
	}
	recorded := c.Object.DeepCopy()
	annotations := recorded.GetAnnotations()
	annotations[dbv1.AnnotationStoredSpec] = Generation(live, live.GetGeneration()+1)
	recorded.SetAnnotations(annotations)
	c.Object = recorded
	return c
}

// Unrecorded returns the hash of the spec that the API server stored, after a write that did not change the spec once; "" if the write
// recorded the generation, or the status has the hash and the write recorded nothing.
func (c Child) Unrecorded(stored *unstructured.Unstructured) (hash string, err error) {
	if !c.recordsStoredSpec || stored.GetAnnotations()[dbv1.AnnotationStoredSpec] == Generation(stored, stored.GetGeneration()) {
		return "", nil
	}
	live, err := workload(stored)
	if err != nil {
		return "", fmt.Errorf("read the stored %s: %w", c, err)
	}
	hash = StoredSpecHash(live)
	if c.written != nil && c.written.SpecHash == hash && !RecordsNext(live) {
		return "", nil
	}
	return hash, nil
}

// workload is a stored object in its type.
func workload(stored *unstructured.Unstructured) (metav1.Object, error) {
	if stored.GetKind() == "Deployment" {
		live := &appsv1.Deployment{}
		return live, runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, live)
	}
	live := &appsv1.StatefulSet{}
	return live, runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, live)
}

// RecordsNext reports whether the recorded generation does not exist yet. Then the write of the record did not change the spec, for example
// because a webhook set the changed field back. The next change by another client would get that generation.
func RecordsNext(live metav1.Object) bool {
	return live.GetAnnotations()[dbv1.AnnotationStoredSpec] == Generation(live, live.GetGeneration()+1)
}

// Generation is the record of a generation. A copy of an object that another client creates also has the annotation, but another UID.
func Generation(live metav1.Object, n int64) string {
	return fmt.Sprintf("generation-%d-of-%s", n, live.GetUID())
}
