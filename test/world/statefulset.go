/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// runStatefulSets is the StatefulSet controller for podManagementPolicy Parallel and updateStrategy OnDelete. Other
// settings break a rule.
func (w *World) runStatefulSets() {
	for _, set := range store.All[*appsv1.StatefulSet](w.Store) {
		switch {
		case set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement, set.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType:
			w.Breaks("StatefulSet %s is not Parallel and OnDelete", set.Name)
		case w.Store.Terminating == set.Namespace: // it cannot create pods or revisions; the existing ones are deleted
		case set.DeletionTimestamp == nil && !w.delays():
			w.runStatefulSet(set)
		}
	}
}

func (w *World) runStatefulSet(set *appsv1.StatefulSet) {
	w.adopt(set)
	revision := w.revise(set)
	first, end := ordinalsOf(set)
	for ordinal := first; ordinal < end; ordinal++ {
		w.createMember(set, ordinal, revision)
	}
	for _, pod := range slices.Backward(podsOf(w.Store, set)) {
		if !keeps(set, pod) && pod.DeletionTimestamp == nil {
			w.journal.add(w.by, fmt.Sprintf("stops pod %s, which is one too many", pod.Name))
			w.end(pod)
		}
	}
	w.reportStatefulSet(set, revision)
}

// ordinalsOf returns the first ordinal of a StatefulSet, and the one after the last.
func ordinalsOf(set *appsv1.StatefulSet) (first, end int) {
	if set.Spec.Ordinals != nil {
		first = int(set.Spec.Ordinals.Start)
	}
	return first, first + int(*set.Spec.Replicas)
}

// keeps reports whether a pod has one of the ordinals of a StatefulSet.
func keeps(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	first, end := ordinalsOf(set)
	return ordinalOf(pod) >= first && ordinalOf(pod) < end
}

// adopt adds its owner reference to matching pods and revisions without an owner.
func (w *World) adopt(set *appsv1.StatefulSet) {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	if err != nil {
		panic(err)
	}
	for _, object := range w.Store.Sorted() {
		switch object.(type) {
		case *corev1.Pod, *appsv1.ControllerRevision:
		default:
			continue
		}
		if metav1.GetControllerOf(object) != nil || object.GetDeletionTimestamp() != nil || !selector.Matches(labels.Set(object.GetLabels())) {
			continue
		}
		adopted := object.DeepCopyObject().(client.Object)
		adopted.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))})
		w.Store.Put(adopted)
		w.journal.add(w.by, "adopts "+store.Ref(object))
	}
}

// revise records the template as the newest revision and returns its name: equal templates have equal names. A
// revision keeps the annotations that the StatefulSet had at its creation.
func (w *World) revise(set *appsv1.StatefulSet) string {
	text, err := json.Marshal(map[string]any{"spec": map[string]any{"template": set.Spec.Template}})
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(text)
	revision := store.Get[*appsv1.ControllerRevision](w.Store, set.Name+"-"+hex.EncodeToString(sum[:4]))
	if revision == nil {
		revision = &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: text}}
		revision.Namespace, revision.Name = set.Namespace, set.Name+"-"+hex.EncodeToString(sum[:4])
		revision.Labels, revision.Annotations = set.Spec.Template.Labels, set.Annotations
		revision.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	}
	newest := int64(0)
	for _, other := range store.All[*appsv1.ControllerRevision](w.Store) {
		if other.Name != revision.Name {
			newest = max(newest, other.Revision)
		}
	}
	revision.Revision = max(revision.Revision, newest+1)
	w.Store.Put(revision)
	w.journal.revision(revision.Name)
	return revision.Name
}

func (w *World) createMember(set *appsv1.StatefulSet, ordinal int, revision string) {
	podName := fmt.Sprintf("%s-%d", set.Name, ordinal)
	exists := store.Get[*corev1.Pod](w.Store, podName)
	// a pod without a node gets missing claims
	if exists != nil && exists.Spec.NodeName != "" || !w.createClaims(set, podName) || exists != nil {
		return
	}
	pod := &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: *set.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.Name = set.Namespace, podName
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	metav1.SetMetaDataLabel(&pod.ObjectMeta, appsv1.StatefulSetRevisionLabel, revision)
	metav1.SetMetaDataLabel(&pod.ObjectMeta, appsv1.StatefulSetPodNameLabel, podName)
	metav1.SetMetaDataLabel(&pod.ObjectMeta, appsv1.PodIndexLabel, strconv.Itoa(ordinal))
	for _, template := range set.Spec.VolumeClaimTemplates {
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: template.Name + "-" + podName}}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: template.Name, VolumeSource: source})
	}
	w.Store.Put(pod)
	w.journal.add(w.by, fmt.Sprintf("creates pod %s with %s", pod.Name, w.journal.revision(revision)))
}

// createClaims creates the claims of a pod. It returns false if one is terminating; then the pod cannot be created.
func (w *World) createClaims(set *appsv1.StatefulSet, podName string) bool {
	for _, template := range set.Spec.VolumeClaimTemplates {
		claim := template.DeepCopy()
		claim.Namespace, claim.Name = set.Namespace, template.Name+"-"+podName
		claim.Labels = labels.Merge(claim.Labels, set.Spec.Selector.MatchLabels)
		live := store.Get[*corev1.PersistentVolumeClaim](w.Store, claim.Name)
		switch {
		case live == nil:
			w.Store.Put(claim)
			w.journal.add(w.by, fmt.Sprintf("creates claim %s of %s", claim.Name, claim.Spec.Resources.Requests.Storage()))
		case live.DeletionTimestamp != nil:
			w.journal.once(w.by, fmt.Sprintf("cannot create pod %s: claim %s is being deleted", podName, claim.Name))
			return false
		}
	}
	return true
}

func (w *World) reportStatefulSet(set *appsv1.StatefulSet, revision string) {
	status := appsv1.StatefulSetStatus{
		ObservedGeneration: set.Generation, UpdateRevision: revision, CurrentRevision: set.Status.CurrentRevision,
		CollisionCount: new(int32(0)),
	}
	if status.CurrentRevision == "" {
		status.CurrentRevision = revision
	}
	for _, pod := range podsOf(w.Store, set) {
		status.Replicas++
		if IsReady(pod) {
			status.ReadyReplicas++
			status.AvailableReplicas++
		}
		if pod.DeletionTimestamp != nil {
			continue
		}
		if pod.Labels[appsv1.StatefulSetRevisionLabel] == revision {
			status.UpdatedReplicas++
		}
		if pod.Labels[appsv1.StatefulSetRevisionLabel] == status.CurrentRevision {
			status.CurrentReplicas++
		}
	}
	set.Status = status
	w.Store.Put(set)
}

// podsOf returns the pods that a StatefulSet controls, by ordinal.
func podsOf(s *store.Store, set *appsv1.StatefulSet) []*corev1.Pod {
	pods := slices.DeleteFunc(store.All[*corev1.Pod](s), func(pod *corev1.Pod) bool { return !metav1.IsControlledBy(pod, set) })
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return ordinalOf(a) - ordinalOf(b) })
	return pods
}

func ordinalOf(pod *corev1.Pod) int {
	ordinal, err := strconv.Atoi(pod.Name[strings.LastIndex(pod.Name, "-")+1:])
	if err != nil {
		panic(err)
	}
	return ordinal
}

// end deletes a pod as its controller does.
func (w *World) end(pod *corev1.Pod) {
	pod.DeletionTimestamp = new(metav1.NewTime(w.Clock.Now()))
	w.Store.Put(pod)
}
