/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// watchRules checks every completed write against the rules that hold at any moment, despite previous failures.
func (w *world) watchRules(c change) {
	if claim, ok := c.before.(*corev1.PersistentVolumeClaim); ok && w.isMemberClaim(claim) && c.after == nil && claim.DeletionTimestamp == nil && !w.unfinished(claim) {
		w.breaks("claim %s is removed", claim.Name)
	}
	if w.by == "garbage" {
		if claim, ok := c.object().(*corev1.PersistentVolumeClaim); ok && w.isMemberClaim(claim) && claim.DeletionTimestamp != nil {
			w.breaks("claim %s is garbage-collected", claim.Name)
		}
	}
	w.watchClients()
	w.watchRequests(c)
	if w.by != operator {
		return
	}
	w.watchOwn(c)
	w.watchRestore()
	switch object := c.object().(type) {
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
func (w *world) watchOwn(c change) {
	object, cluster := c.object(), w.cluster()
	switch {
	case w.outlives(object):
		return
	case cluster == nil:
		if _, last := object.(*dbv1.DatabaseCluster); !last {
			w.breaks("%s is written although the cluster no longer exists", ref(object))
		}
		return
	case object.GetNamespace() != cluster.Namespace:
		w.breaks("%s is in another namespace", ref(object))
	case object.GetUID() == cluster.UID, metav1.IsControlledBy(object, cluster), types.UID(object.GetLabels()[dbv1.LabelClusterUID]) == cluster.UID:
	case (isClaim(object) || w.isAgreement(object) || isRight(object)) && object.GetLabels()[dbv1.LabelInstance] == cluster.Name: // of the previous cluster of the same name
	default:
		w.breaks("%s is not the cluster's", ref(object))
	}
	if _, job := object.(*batchv1.Job); c.before == nil && cluster.DeletionTimestamp != nil && !job {
		w.breaks("%s is created for a terminating cluster", ref(object))
	}
}

// outlives reports whether the operator may write an object after the cluster is deleted: a backup, its objects, or a
// pod whose finalizer it removes.
func (w *world) outlives(object client.Object) bool {
	switch o := object.(type) {
	case *dbv1.DatabaseBackup:
		return o.Spec.Cluster == w.name
	case *batchv1.Job, *networkingv1.NetworkPolicy:
		return object.GetLabels()[dbv1.LabelBackupUID] != "" && object.GetLabels()[dbv1.LabelInstance] == w.name
	case *corev1.Pod:
		return object.GetDeletionTimestamp() != nil && object.GetLabels()[dbv1.LabelInstance] == w.name
	default:
		return false
	}
}

func isClaim(object client.Object) bool {
	_, is := object.(*corev1.PersistentVolumeClaim)
	return is
}

func (w *world) watchClaim(c change) {
	before, changed := c.before.(*corev1.PersistentVolumeClaim)
	after, kept := c.after.(*corev1.PersistentVolumeClaim)
	if changed && kept {
		w.watchEngine(before, after)
	}
	switch {
	case !changed && after.Annotations[dbv1.AnnotationRestoring] == "":
		w.breaks("the operator creates claim %s, but not for a restore", after.Name)
	case !changed:
	case !kept, after.DeletionTimestamp != nil && before.DeletionTimestamp == nil:
		w.watchClaimEnd(before)
	case before.Annotations[dbv1.AnnotationRestoring] != "" && after.Annotations[dbv1.AnnotationRestored] != "" && !w.filled(after):
		w.breaks("claim %s counts as restored, but no Job has filled it", after.Name)
	case after.Spec.Resources.Requests.Storage().Cmp(*before.Status.Capacity.Storage()) < 0:
		w.breaks("claim %s shrinks", after.Name)
	}
}

// watchEngine: the engine annotation of a claim changes only to an engine that ran with the volume.
func (w *world) watchEngine(before, after *corev1.PersistentVolumeClaim) {
	is, ran := after.Annotations[dbv1.AnnotationEngine], strings.Fields(w.disk.volumes[after.UID].engines)
	if is != before.Annotations[dbv1.AnnotationEngine] && !slices.Contains(ran, is) {
		w.breaks("the annotation of claim %s names engine %q, but only %v ran with it", after.Name, is, ran)
	}
}

// unfinished reports whether a claim belongs to an incomplete restore, so that its backup has the same data.
func (w *world) unfinished(claim *corev1.PersistentVolumeClaim) bool {
	if get[*appsv1.StatefulSet](w.store, w.name) != nil || claim.Annotations[dbv1.AnnotationRestoring] == "" && claim.Annotations[dbv1.AnnotationRestored] == "" {
		return false
	}
	return claim.Annotations[dbv1.AnnotationRestoring] != "" ||
		slices.ContainsFunc(all[*corev1.PersistentVolumeClaim](w.store), func(c *corev1.PersistentVolumeClaim) bool {
			return c.Annotations[dbv1.AnnotationRestoring] != ""
		})
}

// filled reports whether a Job for this version of the claim has filled its volume.
func (w *world) filled(claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(all[*batchv1.Job](w.store), func(job *batchv1.Job) bool {
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
func (w *world) watchRestore() {
	set := get[*appsv1.StatefulSet](w.store, w.name)
	for _, claim := range all[*corev1.PersistentVolumeClaim](w.store) {
		if set != nil && claim.Annotations[dbv1.AnnotationRestoring] != "" {
			w.breaks("a StatefulSet exists while a Job restores into claim %s", claim.Name)
		}
		writers := 0
		for _, job := range all[*batchv1.Job](w.store) {
			if len(job.Status.Conditions) == 0 && mounts(job.Spec.Template.Spec, claim.Name) {
				writers++
			}
		}
		if writers > 1 {
			w.breaks("%d Jobs write to claim %s", writers, claim.Name)
		}
	}
}

// watchPod: the operator stops a ready member only if at most maxUnavailable members are then unavailable.
func (w *world) watchPod(c change, pod *corev1.Pod) {
	before, changed := c.before.(*corev1.Pod)
	if !changed {
		w.breaks("the operator creates pod %s", pod.Name)
		return
	}
	if !isMember(pod) {
		w.watchPodOfJob(c)
		return
	}
	if pod.DeletionTimestamp == nil || before.DeletionTimestamp != nil || !isReady(before) {
		return
	}
	set := get[*appsv1.StatefulSet](w.store, w.name)
	switch {
	case set == nil && w.cluster().DeletionTimestamp != nil:
		return
	case set == nil:
		w.breaks("pod %s is deleted, although no controller re-creates it", pod.Name)
		return
	}
	if down := int(*set.Spec.Replicas) - len(w.serving()); down > w.maxUnavailable() {
		w.breaks("pod %s is deleted: then %d members are unavailable", pod.Name, down)
	}
}

// watchConfig: a ConfigMap is deleted only when no pod uses it.
func (w *world) watchConfig(c change, config *corev1.ConfigMap) {
	if c.after != nil {
		return
	}
	for _, pod := range all[*corev1.Pod](w.store) {
		for _, volume := range pod.Spec.Volumes {
			if volume.ConfigMap != nil && volume.ConfigMap.Name == config.Name {
				w.breaks("ConfigMap %s is deleted while pod %s uses it", config.Name, pod.Name)
			}
		}
	}
}

// watchStatefulSet: the operator scales in one member at a time and deletes the StatefulSet only with orphaned pods.
func (w *world) watchStatefulSet(c change) {
	before, changed := c.before.(*appsv1.StatefulSet)
	if !changed {
		w.watchRecreated(c.after.(*appsv1.StatefulSet))
		return
	}
	after, kept := c.after.(*appsv1.StatefulSet)
	switch {
	case !kept:
		w.breaks("StatefulSet %s is deleted without orphaning its pods", before.Name)
		return
	case after.DeletionTimestamp != nil && before.DeletionTimestamp == nil && !hasFinalizer(after, metav1.FinalizerOrphanDependents):
		w.breaks("StatefulSet %s is deleted without orphaning its pods", before.Name)
	}
	was, is := *before.Spec.Replicas, *after.Spec.Replicas
	if is < was-1 {
		w.breaks("replicas change from %d to %d at once", was, is)
	}
	for _, pod := range podsOf(w.store, before) {
		if is < was && !keeps(before, pod) {
			w.breaks("replicas change from %d to %d while pod %s still exists", was, is, pod.Name)
		}
	}
}

// watchRecreated: a re-created StatefulSet stops none of the existing pods.
func (w *world) watchRecreated(set *appsv1.StatefulSet) {
	for _, pod := range all[*corev1.Pod](w.store) {
		if isMember(pod) && pod.DeletionTimestamp == nil && !keeps(set, pod) {
			w.breaks("StatefulSet %s is created with %d replicas while pod %s exists", set.Name, *set.Spec.Replicas, pod.Name)
		}
	}
}

// watchCluster: the finalizer is removed last, and the status is always true.
func (w *world) watchCluster(c change) {
	before, changed := c.before.(*dbv1.DatabaseCluster)
	after, kept := c.after.(*dbv1.DatabaseCluster)
	switch {
	case !changed:
		w.breaks("the operator creates a cluster")
	case !kept, hasFinalizer(before, dbv1.Finalizer) && !hasFinalizer(after, dbv1.Finalizer):
		w.watchEnd(before)
	case before.Generation != after.Generation:
		w.breaks("the operator changes the spec")
	case w.lag == nil && (w.fault == nil || w.fault.kind != meanwhile): // otherwise it may show a previous state
		w.watchReady(after)
		w.watchInForce(before, after)
		w.watchObserved(before, after)
	}
}

// watchObserved: the observed generation rises when the objects express the spec, or when the user must act. If a
// later pass finds a difference, it decreases by one.
func (w *world) watchObserved(before, cluster *dbv1.DatabaseCluster) {
	observed := cluster.Status.ObservedGeneration
	stalled := meta.IsStatusConditionTrue(cluster.Status.Conditions, dbv1.ConditionStalled)
	if observed == before.Status.ObservedGeneration || stalled || cluster.DeletionTimestamp != nil {
		return
	}
	set := get[*appsv1.StatefulSet](w.store, w.name)
	switch {
	case observed < before.Status.ObservedGeneration && observed == cluster.Generation-1:
	case observed != cluster.Generation:
		w.breaks("observedGeneration changes to %d, the generation is %d", observed, cluster.Generation)
	case set == nil:
		w.breaks("observedGeneration is %d without a StatefulSet", observed)
	case set.Spec.Template.Spec.Containers[0].Image != cluster.Spec.Image:
		w.breaks("observedGeneration is %d, the template's image is %s", observed, set.Spec.Template.Spec.Containers[0].Image)
	case int(*set.Spec.Replicas) != w.wanted(cluster):
		w.breaks("observedGeneration is %d with %d replicas", observed, *set.Spec.Replicas)
	}
}

// watchReady: Ready means that every member is ready and has the template of the spec.
func (w *world) watchReady(cluster *dbv1.DatabaseCluster) {
	if !meta.IsStatusConditionTrue(cluster.Status.Conditions, dbv1.ConditionReady) {
		return
	}
	set := get[*appsv1.StatefulSet](w.store, w.name)
	if serving := len(w.serving()); set == nil || serving != w.wanted(cluster) {
		w.breaks("Ready with %d of %d members", serving, w.wanted(cluster))
		return
	}
	for _, pod := range w.serving() {
		wanted, has := set.Spec.Template.Spec.Containers[0], pod.Spec.Containers[0]
		switch template := set.Spec.Template.Annotations[dbv1.AnnotationTemplate]; {
		case pod.Annotations[dbv1.AnnotationTemplate] != template:
			w.breaks("Ready although pod %s has another template", pod.Name)
		case has.Image != cluster.Spec.Image:
			w.breaks("Ready although pod %s runs %s", pod.Name, has.Image)
		case !equality.Semantic.DeepEqual(has.Resources, wanted.Resources):
			w.breaks("Ready although pod %s has other resources", pod.Name)
		case !equality.Semantic.DeepEqual(pod.Status.ContainerStatuses[0].Resources, &wanted.Resources):
			w.breaks("Ready although pod %s is not resized yet", pod.Name)
		}
	}
}

// watchDelete: a delete request has the UID and the resourceVersion of the object as preconditions.
func (w *world) watchDelete(object client.Object, options *client.DeleteOptions) {
	if p := options.Preconditions; p == nil || p.UID == nil || *p.UID == "" || p.ResourceVersion == nil || *p.ResourceVersion == "" {
		w.breaks("%s is deleted without its UID and resourceVersion", ref(object))
	}
}
