/*
SPDX-License-Identifier: Apache-2.0
*/

package objects

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// A comparison with the desired fields cannot detect every change by others, such as an additional container. So the operator records
// the spec of a StatefulSet as it last wrote it. The write itself records the UID, and the generation that the API server gives it. The
// next status of the cluster records the UID, the generation and a hash of the spec without what other clients may change.

// Untouched reports whether the spec is as the operator last wrote it. Until its first record, a StatefulSet has generation 1 unless a
// client has changed the spec. So in the seconds until the first status, a StatefulSet that another client deletes and creates again with
// another template is not noticed.
func Untouched(cluster *dbv1.DatabaseCluster, set *appsv1.StatefulSet) bool {
	recorded, written := set.Annotations[dbv1.AnnotationStoredSpec], cluster.Status.StatefulSet
	switch {
	case recordsNext(set):
		return false
	case recorded == Generation(set, set.Generation), written != nil && written.UID == string(set.UID) && written.Generation == set.Generation:
		return true
	case recorded == "" && written == nil:
		return set.Generation == 1
	}
	now := StoredSpecHash(set)
	return now == recorded || written != nil && now == written.SpecHash
}

// Written is the record of a StatefulSet for the status. It is the previous one if another client has changed the StatefulSet.
func Written(cluster *dbv1.DatabaseCluster, set *appsv1.StatefulSet) *dbv1.WrittenStatefulSet {
	previous := cluster.Status.StatefulSet
	if set == nil || previous != nil && previous.UID == string(set.UID) && previous.Generation == set.Generation || !Untouched(cluster, set) {
		return previous
	}
	return &dbv1.WrittenStatefulSet{UID: string(set.UID), Generation: set.Generation, SpecHash: StoredSpecHash(set)}
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

// StoredSpecHash is a hash of the spec of a StatefulSet as the API server stores it, with defaults. It leaves out the replicas, which
// change in steps of their own, and the claim templates, which never change.
func StoredSpecHash(set *appsv1.StatefulSet) string {
	spec := set.Spec
	spec.Replicas, spec.VolumeClaimTemplates = nil, nil
	return Hash(spec)
}

// RecordStoredSpec records the hash on a StatefulSet whose members are about to change from those of the live one, which raises the
// generation.
func RecordStoredSpec(cluster *dbv1.DatabaseCluster, live, set *appsv1.StatefulSet) {
	if Untouched(cluster, live) {
		metav1.SetMetaDataAnnotation(&set.ObjectMeta, dbv1.AnnotationStoredSpec, StoredSpecHash(set))
	}
}

// RecordingGeneration records the generation that the StatefulSet has after a write that changes its spec once. The API server counts the
// changes, and refuses a write to another version than the live one. A write that may not change the spec records nothing: a record of
// a generation that does not exist yet would hide the next change by another client.
func (c Child) RecordingGeneration(live metav1.Object) Child {
	set, is := live.(*appsv1.StatefulSet)
	if !is || !c.recordsStoredSpec || uncovered("", c.Object.Object["spec"], Fields(&set.Spec)) == "" {
		return c
	}
	recorded := c.Object.DeepCopy()
	annotations := recorded.GetAnnotations()
	annotations[dbv1.AnnotationStoredSpec] = Generation(set, set.Generation+1)
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
	set := &appsv1.StatefulSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, set); err != nil {
		return "", fmt.Errorf("read the stored StatefulSet %s: %w", stored.GetName(), err)
	}
	hash = StoredSpecHash(set)
	if written := c.cluster.Status.StatefulSet; written != nil && written.SpecHash == hash && !recordsNext(set) {
		return "", nil
	}
	return hash, nil
}

// recordsNext reports whether the recorded generation does not exist yet. Then the write of the record did not change the spec, for example
// because a webhook set the changed field back. The next change by another client would get that generation.
func recordsNext(set metav1.Object) bool {
	return set.GetAnnotations()[dbv1.AnnotationStoredSpec] == Generation(set, set.GetGeneration()+1)
}

// Generation is the record of a generation. A copy of a StatefulSet that another client creates also has the annotation, but another UID.
func Generation(set metav1.Object, n int64) string {
	return fmt.Sprintf("generation-%d-of-%s", n, set.GetUID())
}
