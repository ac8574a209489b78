/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// watchRules checks every completed write against the rules that hold at any moment, despite previous failures.
func (w *World) watchRules(c store.Change) {
	if claim, ok := c.Before.(*corev1.PersistentVolumeClaim); ok && w.IsMemberClaim(claim) && c.After == nil &&
		claim.DeletionTimestamp == nil && !w.unfinished(claim) {
		w.Breaks("claim %s is removed", claim.Name)
	}
	if w.by == "garbage" {
		if claim, ok := c.Object().(*corev1.PersistentVolumeClaim); ok && w.IsMemberClaim(claim) && claim.DeletionTimestamp != nil {
			w.Breaks("claim %s is garbage-collected", claim.Name)
		}
	}
	w.watchClients()
	w.watchRequests(c)
	w.watchFills(c)
	if w.by != operator {
		return
	}
	w.watchOwn(c)
	w.watchRestore()
	w.watchAccount(c)
	switch object := c.Object().(type) {
	case *corev1.PersistentVolumeClaim:
		w.watchClaim(c)
	case *corev1.Pod:
		w.watchPod(c, object)
	case *corev1.ConfigMap:
		w.watchConfig(c, object)
	case *appsv1.StatefulSet:
		w.watchStatefulSet(c)
	case *dbv1.DatabaseCluster:
		w.watchCluster(c)
	}
}

// watchOwn: the operator writes only the cluster and its own objects. For a terminating cluster it creates only Jobs.
func (w *World) watchOwn(c store.Change) {
	object, cluster := c.Object(), w.Cluster()
	switch {
	case w.outlives(object), w.released(object):
		return
	case cluster == nil:
		if _, last := object.(*dbv1.DatabaseCluster); !last {
			w.Breaks("%s is written although the cluster no longer exists", store.Ref(object))
		}
		return
	case object.GetNamespace() != cluster.Namespace:
		w.Breaks("%s is in another namespace", store.Ref(object))
	case object.GetUID() == cluster.UID, metav1.IsControlledBy(object, cluster),
		types.UID(object.GetLabels()[dbv1.LabelClusterUID]) == cluster.UID:
	// of the previous cluster of the same name
	case (isClaim(object) || w.isAgreement(object) || isRight(object)) && object.GetLabels()[dbv1.LabelInstance] == cluster.Name:
	default:
		w.Breaks("%s is not the cluster's", store.Ref(object))
	}
	if _, job := object.(*batchv1.Job); c.Before == nil && cluster.DeletionTimestamp != nil && !job {
		w.Breaks("%s is created for a terminating cluster", store.Ref(object))
	}
}

// outlives reports whether the operator may write an object after the cluster is deleted: an object of another kind that
// it reconciles, such as a backup, what it creates for one, or a pod whose finalizer it removes.
func (w *World) outlives(object client.Object) bool {
	labels := object.GetLabels()
	switch object.(type) {
	case *dbv1.DatabaseCluster:
		return false
	case *corev1.Pod:
		return object.GetDeletionTimestamp() != nil && labels[dbv1.LabelInstance] == w.Name
	default:
		if owner := metav1.GetControllerOf(object); owner != nil && owner.Kind == "DatabaseUser" {
			return true
		}
		return isReconciled(object) || labels[dbv1.LabelInstance] == w.Name && slices.ContainsFunc(reconciled(), func(kind client.Object) bool {
			label := dbv1.GroupVersion.Group + "/" + nounOf(kind) + "-uid"
			return label != dbv1.LabelClusterUID && labels[label] != ""
		})
	}
}

func isClaim(object client.Object) bool {
	_, is := object.(*corev1.PersistentVolumeClaim)
	return is
}

func (w *World) watchClaim(c store.Change) {
	before, changed := c.Before.(*corev1.PersistentVolumeClaim)
	after, kept := c.After.(*corev1.PersistentVolumeClaim)
	if changed && kept {
		w.watchEngine(before, after)
	}
	switch {
	case !changed && after.Annotations[dbv1.AnnotationRestoring] == "":
		w.Breaks("the operator creates claim %s, but not for a restore", after.Name)
	case !changed:
	case !kept, after.DeletionTimestamp != nil && before.DeletionTimestamp == nil:
		w.watchClaimEnd(before)
	case before.Annotations[dbv1.AnnotationRestoring] != "" && after.Annotations[dbv1.AnnotationRestored] != "" && !w.filled(after):
		w.Breaks("claim %s counts as restored, but no Job has filled it", after.Name)
	case after.Spec.Resources.Requests.Storage().Cmp(*before.Status.Capacity.Storage()) < 0:
		w.Breaks("claim %s shrinks", after.Name)
	}
}

// watchEngine: the engine annotation of a claim changes only to an engine that ran with the volume.
func (w *World) watchEngine(before, after *corev1.PersistentVolumeClaim) {
	is, ran := after.Annotations[dbv1.AnnotationEngine], strings.Fields(w.disk.volumes[after.UID].engines)
	if is != before.Annotations[dbv1.AnnotationEngine] && !slices.Contains(ran, is) {
		w.Breaks("the annotation of claim %s names engine %q, but only %v ran with it", after.Name, is, ran)
	}
}

// unfinished reports whether a claim belongs to an incomplete restore, so that its backup has the same data.
func (w *World) unfinished(claim *corev1.PersistentVolumeClaim) bool {
	if store.Get[*appsv1.StatefulSet](w.Store, w.Name) != nil || claim.Annotations[dbv1.AnnotationRestoring] == "" &&
		claim.Annotations[dbv1.AnnotationRestored] == "" {
		return false
	}
	return claim.Annotations[dbv1.AnnotationRestoring] != "" ||
		slices.ContainsFunc(store.All[*corev1.PersistentVolumeClaim](w.Store), func(c *corev1.PersistentVolumeClaim) bool {
			return c.Annotations[dbv1.AnnotationRestoring] != ""
		})
}

// filled reports whether a Job for this version of the claim has filled its volume.
func (w *World) filled(claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(store.All[*batchv1.Job](w.Store), func(job *batchv1.Job) bool {
		return len(job.Status.Conditions) > 0 && job.Status.Conditions[0].Type == batchv1.JobComplete &&
			mounts(job.Spec.Template.Spec, claim.Name) && !job.CreationTimestamp.Before(&claim.CreationTimestamp)
	})
}

func mounts(pod corev1.PodSpec, claim string) bool {
	return slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
	})
}

// watchRestore: only one Job at a time writes to a volume. The operator creates no member on a partly restored
// volume.
func (w *World) watchRestore() {
	set := store.Get[*appsv1.StatefulSet](w.Store, w.Name)
	for _, claim := range store.All[*corev1.PersistentVolumeClaim](w.Store) {
		template, _, _ := naming.TemplateOf(w.Name, claim.Name)
		if set != nil && claim.Annotations[dbv1.AnnotationRestoring] != "" && template == naming.ClaimTemplate(w.inUse()) {
			w.Breaks("a StatefulSet exists while a Job restores into claim %s", claim.Name)
		}
		writers := 0
		for _, job := range store.All[*batchv1.Job](w.Store) {
			if len(job.Status.Conditions) == 0 && mounts(job.Spec.Template.Spec, claim.Name) {
				writers++
			}
		}
		if writers > 1 {
			w.Breaks("%d Jobs write to claim %s", writers, claim.Name)
		}
	}
}

// watchPod: the operator stops a ready member only if at most maxUnavailable members are then unavailable.
func (w *World) watchPod(c store.Change, pod *corev1.Pod) {
	before, changed := c.Before.(*corev1.Pod)
	if !changed {
		w.Breaks("the operator creates pod %s", pod.Name)
		return
	}
	if !IsMember(pod) {
		w.watchPodOfJob(c)
		return
	}
	if pod.DeletionTimestamp == nil || before.DeletionTimestamp != nil || !IsReady(before) {
		return
	}
	set := store.Get[*appsv1.StatefulSet](w.Store, w.Name)
	switch {
	case set == nil && w.Cluster().DeletionTimestamp != nil:
		return
	case set == nil:
		w.Breaks("pod %s is deleted, although no controller re-creates it", pod.Name)
		return
	}
	if down := int(*set.Spec.Replicas) - len(w.serving()); down > w.maxUnavailable() {
		w.Breaks("pod %s is deleted: then %d members are unavailable", pod.Name, down)
	}
}

// watchConfig: a ConfigMap is deleted only when no pod uses it.
func (w *World) watchConfig(c store.Change, config *corev1.ConfigMap) {
	if c.After != nil {
		return
	}
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		for _, volume := range pod.Spec.Volumes {
			if volume.ConfigMap != nil && volume.ConfigMap.Name == config.Name {
				w.Breaks("ConfigMap %s is deleted while pod %s uses it", config.Name, pod.Name)
			}
		}
	}
}

// watchStatefulSet: the operator scales in one member at a time and deletes the StatefulSet only with orphaned pods.
func (w *World) watchStatefulSet(c store.Change) {
	before, changed := c.Before.(*appsv1.StatefulSet)
	if !changed {
		w.watchRecreated(c.After.(*appsv1.StatefulSet))
		return
	}
	after, kept := c.After.(*appsv1.StatefulSet)
	unused := *before.Spec.Replicas == 0 && len(podsOf(w.Store, before)) == 0 && w.switches()
	switch {
	case !kept && unused:
		return
	case !kept:
		w.Breaks("StatefulSet %s is deleted without orphaning its pods", before.Name)
		return
	case unused:
	case after.DeletionTimestamp != nil && before.DeletionTimestamp == nil && !store.HasFinalizer(after, metav1.FinalizerOrphanDependents):
		w.Breaks("StatefulSet %s is deleted without orphaning its pods", before.Name)
	}
	was, is := *before.Spec.Replicas, *after.Spec.Replicas
	if is < was-1 {
		w.Breaks("replicas change from %d to %d at once", was, is)
	}
	for _, pod := range podsOf(w.Store, before) {
		if is < was && !keeps(before, pod) {
			w.Breaks("replicas change from %d to %d while pod %s still exists", was, is, pod.Name)
		}
	}
}

// watchRecreated: a re-created StatefulSet stops none of the existing pods.
func (w *World) watchRecreated(set *appsv1.StatefulSet) {
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		if IsMember(pod) && pod.DeletionTimestamp == nil && !keeps(set, pod) {
			w.Breaks("StatefulSet %s is created with %d replicas while pod %s exists", set.Name, *set.Spec.Replicas, pod.Name)
		}
	}
}

// watchCluster: the finalizer is removed last, and the status is always true.
func (w *World) watchCluster(c store.Change) {
	before, changed := c.Before.(*dbv1.DatabaseCluster)
	after, kept := c.After.(*dbv1.DatabaseCluster)
	switch {
	case !changed:
		w.Breaks("the operator creates a cluster")
	case !kept, store.HasFinalizer(before, dbv1.Finalizer) && !store.HasFinalizer(after, dbv1.Finalizer):
		w.watchEnd(before)
	case before.Generation != after.Generation:
		w.Breaks("the operator changes the spec")
	case w.lag == nil && (w.fault == nil || w.fault.Kind != meanwhile): // otherwise it may show a previous state
		w.watchReady(after)
		w.watchInForce(before, after)
		w.watchObserved(before, after)
	}
}

// watchDelete: a delete request has the UID and the resourceVersion of the object as preconditions.
func (w *World) watchDelete(object client.Object, options *client.DeleteOptions) {
	if p := options.Preconditions; p == nil || p.UID == nil || *p.UID == "" || p.ResourceVersion == nil || *p.ResourceVersion == "" {
		w.Breaks("%s is deleted without its UID and resourceVersion", store.Ref(object))
	}
}
