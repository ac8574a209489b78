/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// watchObserved: the observed generation rises when the objects express the spec, or when the user must act. If a
// later pass finds a difference, it decreases by one.
func (w *World) watchObserved(before, cluster *dbv1.DatabaseCluster) {
	observed := cluster.Status.ObservedGeneration
	stalled := meta.IsStatusConditionTrue(cluster.Status.Conditions, dbv1.ConditionStalled)
	if observed == before.Status.ObservedGeneration || stalled || cluster.DeletionTimestamp != nil {
		return
	}
	set := store.Get[*appsv1.StatefulSet](w.Store, w.Name)
	switch {
	case observed < before.Status.ObservedGeneration && observed == cluster.Generation-1:
	case observed != cluster.Generation:
		w.Breaks("observedGeneration changes to %d, the generation is %d", observed, cluster.Generation)
	case set == nil:
		w.Breaks("observedGeneration is %d without a StatefulSet", observed)
	case set.Spec.Template.Spec.Containers[0].Image != cluster.Spec.Image:
		w.Breaks("observedGeneration is %d, the template's image is %s", observed, set.Spec.Template.Spec.Containers[0].Image)
	case int(*set.Spec.Replicas) != w.wanted(cluster):
		w.Breaks("observedGeneration is %d with %d replicas", observed, *set.Spec.Replicas)
	}
}

// watchReady: Ready means that every member is ready and has the template of the spec.
func (w *World) watchReady(cluster *dbv1.DatabaseCluster) {
	if !meta.IsStatusConditionTrue(cluster.Status.Conditions, dbv1.ConditionReady) {
		return
	}
	set := store.Get[*appsv1.StatefulSet](w.Store, w.Name)
	if serving := len(w.serving()); set == nil || serving != w.wanted(cluster) {
		w.Breaks("Ready with %d of %d members", serving, w.wanted(cluster))
		return
	}
	for _, pod := range w.serving() {
		wanted, has := set.Spec.Template.Spec.Containers[0], pod.Spec.Containers[0]
		switch template := set.Spec.Template.Annotations[dbv1.AnnotationTemplate]; {
		case pod.Annotations[dbv1.AnnotationTemplate] != template:
			w.Breaks("Ready although pod %s has another template", pod.Name)
		case has.Image != cluster.Spec.Image:
			w.Breaks("Ready although pod %s runs %s", pod.Name, has.Image)
		case !equality.Semantic.DeepEqual(has.Resources, wanted.Resources):
			w.Breaks("Ready although pod %s has other resources", pod.Name)
		case !equality.Semantic.DeepEqual(pod.Status.ContainerStatuses[0].Resources, &wanted.Resources):
			w.Breaks("Ready although pod %s is not resized yet", pod.Name)
		}
	}
}
