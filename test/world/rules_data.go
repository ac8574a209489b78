/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// watchData checks every write against the rules that prevent data loss.
func (w *World) watchData(c store.Change) {
	if len(w.disk.streams) > 0 {
		w.outdateStreams()
	}
	switch object := c.Object().(type) {
	case *dbv1.DatabaseBackup:
		w.watchBackup(c)
	case *batchv1.Job:
		w.watchBackupJobs()
	case *corev1.Pod:
		w.watchLabels(object)
	}
}

// watchBackup: a final phase never changes, and a complete backup is in the bucket.
func (w *World) watchBackup(c store.Change) {
	before, changed := c.Before.(*dbv1.DatabaseBackup)
	after, kept := c.After.(*dbv1.DatabaseBackup)
	if kept && !changed && w.by == operator {
		w.disk.own[after.UID] = true
	}
	switch {
	case changed && kept && before.Status.Phase.Finished() && before.Status.Phase != after.Status.Phase:
		w.Breaks("the phase of DatabaseBackup %s changes from %s to %q", after.Name, before.Status.Phase, after.Status.Phase)
	case changed && !kept:
		w.watchBackupEnd(before)
	case w.by == operator && changed && before.DeletionTimestamp == nil && after.DeletionTimestamp != nil:
		w.watchRetention(before)
		w.watchExpiry(before)
		w.watchLastCopies(before)
	case changed && kept && before.Status.Phase != dbv1.BackupCompleted && after.Status.Phase == dbv1.BackupCompleted:
		w.watchCompletion(after)
	}
	if kept {
		w.watchVerified(after)
	}
	w.watchBackups()
}

// watchBackups: a complete backup stays complete in the bucket until it is deleted with its data.
func (w *World) watchBackups() {
	for _, b := range store.All[*dbv1.DatabaseBackup](w.Store) {
		terminating := b.DeletionTimestamp != nil && b.Spec.DeletionPolicy == dbv1.BackupDelete
		if there := w.disk.bucket[b.Status.Location]; b.Status.Phase == dbv1.BackupCompleted && !terminating &&
			(!there.complete || there.id != string(b.UID)) {
			w.Breaks("DatabaseBackup %s is complete, but not in the bucket", b.Name)
		}
	}
}

// watchBackupEnd: the data is retained or deleted as the policy requires. In a terminating namespace it is retained.
func (w *World) watchBackupEnd(b *dbv1.DatabaseBackup) {
	there, found := w.disk.bucket[b.Status.Location]
	if b.Status.Location == "" || found && there.id != string(b.UID) {
		return
	}
	complete := b.Status.Phase == dbv1.BackupCompleted
	switch {
	case complete && b.Spec.DeletionPolicy != dbv1.BackupDelete && !there.complete:
		w.Breaks("DatabaseBackup %s is deleted with data that it must retain", b.Name)
	case found && (!complete || b.Spec.DeletionPolicy == dbv1.BackupDelete) && w.Store.Terminating == "":
		w.Breaks("DatabaseBackup %s is deleted, but its data remains at %s", b.Name, b.Status.Location)
	}
}

// watchRetention: the newest complete backup is never deleted.
func (w *World) watchRetention(target *dbv1.DatabaseBackup) {
	if target.Status.Phase != dbv1.BackupCompleted {
		return
	}
	for _, b := range store.All[*dbv1.DatabaseBackup](w.Store) {
		newer := b.CreationTimestamp.After(target.CreationTimestamp.Time)
		if b.UID != target.UID && b.DeletionTimestamp == nil && b.Status.Phase == dbv1.BackupCompleted && newer {
			return
		}
	}
	w.Breaks("DatabaseBackup %s is deleted, although it is the newest complete one", target.Name)
}

// watchBackupJobs: one backup of a cluster at a time.
func (w *World) watchBackupJobs() {
	var running []string
	for _, job := range store.All[*batchv1.Job](w.Store) {
		if job.Labels[dbv1.LabelComponent] == dbv1.ComponentBackup && !jobEnded(job) {
			running = append(running, job.Name)
		}
	}
	if len(running) > 1 {
		w.Breaks("backup Jobs run at the same time: %s", strings.Join(running, ", "))
	}
}

// watchLabels: the Service selects only members.
func (w *World) watchLabels(pod *corev1.Pod) {
	selector := labels.SelectorFromSet(naming.Selector(w.Name))
	if pod.Spec.RestartPolicy == corev1.RestartPolicyNever && selector.Matches(labels.Set(pod.Labels)) {
		w.Breaks("pod %s of a Job has the labels of a member", pod.Name)
	}
}

// watchPodOfJob: the operator only removes the finalizer from a Job's pod. It may delete an ended pod to free a
// claim.
func (w *World) watchPodOfJob(c store.Change) {
	before := c.Before.(*corev1.Pod)
	after, kept := c.After.(*corev1.Pod)
	deleted := !kept || after.DeletionTimestamp != nil && before.DeletionTimestamp == nil
	if deleted && !HasEnded(before) && before.DeletionTimestamp == nil {
		w.Breaks("pod %s is deleted while it runs", before.Name)
	}
}

// watchClaimEnd: the policy deletes a volume only after every hook has succeeded, or if the volume only ever had a
// part of a backup. No pod may use it.
func (w *World) watchClaimEnd(claim *corev1.PersistentVolumeClaim) {
	if w.released(claim) || w.watchRebuild(claim) {
		return
	}
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		if has := w.ClaimOf(pod); has != nil && has.UID == claim.UID && !HasEnded(pod) {
			w.Breaks("claim %s is deleted while pod %s uses it", claim.Name, pod.Name)
		}
	}
	cluster := w.Cluster()
	if claim.Labels[dbv1.LabelClusterUID] != string(cluster.UID) {
		w.Breaks("claim %s is deleted, although it belongs to another cluster", claim.Name)
	}
	byPolicy := cluster.DeletionTimestamp != nil && cluster.Spec.Deletion.Volumes == dbv1.VolumesDelete && len(w.incompleteHooks(cluster)) == 0
	if !byPolicy && (!w.unfinished(claim) || w.disk.volumes[claim.UID].served) {
		w.Breaks("claim %s is deleted", claim.Name)
	}
	backup := slices.ContainsFunc(cluster.Spec.Deletion.Hooks, isBackupHook)
	if related := w.disk.shared.topology != ""; backup && related {
		w.watchCopies(claim)
	} else if backup && !w.unfinished(claim) && !w.isSaved(claim) {
		w.Breaks("claim %s is deleted, although no existing backup started after its member had stopped", claim.Name)
	}
}

func isBackupHook(hook dbv1.DeletionHook) bool { return hook.Type == dbv1.HookBackup }

// isSaved reports whether a complete, retained backup has all data that a member has written to its volume.
func (w *World) isSaved(claim *corev1.PersistentVolumeClaim) bool {
	_, ordinal, _ := naming.TemplateOf(w.Name, claim.Name)
	return slices.ContainsFunc(store.All[*dbv1.DatabaseBackup](w.Store), func(b *dbv1.DatabaseBackup) bool {
		stream := w.disk.streams[streamOf(b.Status.Location, int(ordinal))]
		return b.Status.Phase == dbv1.BackupCompleted && b.DeletionTimestamp == nil && b.Spec.Destination == nil &&
			b.Status.ClusterUID == claim.Labels[dbv1.LabelClusterUID] && stream == claim.UID
	})
}

// outdateStreams marks streams as outdated: a running member may accept a write that earlier streams miss. Deleted
// volumes do not matter.
func (w *World) outdateStreams() {
	stopped := map[types.UID]bool{}
	for _, claim := range store.All[*corev1.PersistentVolumeClaim](w.Store) {
		stopped[claim.UID] = true
	}
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		if claim := w.ClaimOf(pod); claim != nil && IsMember(pod) && Runs(pod) {
			stopped[claim.UID] = false
		}
	}
	maps.DeleteFunc(w.disk.streams, func(_ string, uid types.UID) bool { return !stopped[uid] })
}

// incompleteHooks returns the deletion hooks that have not completed.
func (w *World) incompleteHooks(cluster *dbv1.DatabaseCluster) []string {
	var names []string
	for i, hook := range cluster.Spec.Deletion.Hooks {
		done := false
		switch hook.Type {
		case dbv1.HookCommand:
			done = w.disk.succeeded[naming.HookJob(w.Name, hook.Name, cluster.UID)]
		case dbv1.HookBackup:
			done = slices.ContainsFunc(store.All[*dbv1.DatabaseBackup](w.Store), func(b *dbv1.DatabaseBackup) bool {
				return strings.HasPrefix(b.Name, w.Name+"-"+hook.Name+"-") && b.Status.Phase == dbv1.BackupCompleted
			}) || !w.hasData(cluster)
		case dbv1.HookShutdown:
			done = i < len(cluster.Status.Hooks) && w.wentWell(cluster.Status.Hooks[i]) && !wasSkipped(cluster, cluster.Status.Hooks[i])
		}
		if !done {
			names = append(names, hook.Name)
		}
	}
	return names
}

// hasData reports whether there is anything to back up: a member has run, or a volume of the cluster has more than a part of its first
// data.
func (w *World) hasData(cluster *dbv1.DatabaseCluster) bool {
	return w.disk.shared.ran[string(cluster.UID)] ||
		slices.ContainsFunc(store.All[*corev1.PersistentVolumeClaim](w.Store), func(claim *corev1.PersistentVolumeClaim) bool {
			return claim.Labels[dbv1.LabelClusterUID] == string(cluster.UID) && w.IsMemberClaim(claim) &&
				w.disk.volumes[claim.UID].data != "" && claim.Annotations[dbv1.AnnotationRestoring] == ""
		})
}

// wasSkipped reports whether a shutdown was skipped before the exit code of every member was recorded.
func wasSkipped(cluster *dbv1.DatabaseCluster, hook dbv1.HookStatus) bool {
	return cluster.Annotations[dbv1.AnnotationSkipDeletionHooks] == "true" &&
		slices.ContainsFunc(hook.Stopped, func(s dbv1.StoppedMember) bool { return s.ExitCode == nil })
}

// wentWell reports whether a shutdown is recorded correctly and every exit code is 0.
func (w *World) wentWell(hook dbv1.HookStatus) bool {
	recorded := map[string]int32{}
	for _, s := range hook.Stopped {
		if s.ExitCode != nil {
			recorded[s.Pod] = *s.ExitCode
		}
	}
	for pod, code := range w.disk.exits {
		if is, known := recorded[pod]; !known || is != code || code != 0 {
			return false
		}
	}
	return true
}

// watchEnd: the operator removes the finalizer only after the members have stopped. Every hook must have completed,
// have been skipped by the user, or have failed with a policy that ignores failures.
func (w *World) watchEnd(cluster *dbv1.DatabaseCluster) {
	set := store.Get[*appsv1.StatefulSet](w.Store, w.Name)
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		orphaned := set != nil && metav1.IsControlledBy(pod, set) && !metav1.IsControlledBy(set, cluster)
		if IsMember(pod) && !orphaned && pod.DeletionTimestamp == nil && pod.Labels[dbv1.LabelClusterUID] == string(cluster.UID) {
			w.Breaks("the finalizer is removed while pod %s still exists", pod.Name)
		}
	}
	for _, hook := range w.incompleteHooks(cluster) {
		i := slices.IndexFunc(cluster.Status.Hooks, func(h dbv1.HookStatus) bool { return h.Name == hook })
		phase := dbv1.HookPending
		if i >= 0 {
			phase = cluster.Status.Hooks[i].Phase
		}
		skipped := cluster.Annotations[dbv1.AnnotationSkipDeletionHooks] == "true"
		passed := phase == dbv1.HookFailed && cluster.Spec.Deletion.HookFailurePolicy == dbv1.HookFailureContinue
		if !skipped && !passed {
			w.Breaks("the finalizer is removed, but hook %s is %s and has not completed", hook, phase)
		}
	}
}

// leftovers returns objects that no controller will remove.
func (w *World) leftovers() error {
	cluster := w.Cluster()
	var texts []string
	if cluster != nil && cluster.DeletionTimestamp != nil && len(w.Members()) == 0 {
		texts = append(texts, "the finalizer is not removed")
	}
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		if pod.DeletionTimestamp != nil && !w.disk.lost[pod.Name] {
			texts = append(texts, fmt.Sprintf("pod %s stays because of the finalizers %s", pod.Name, strings.Join(pod.Finalizers, ", ")))
		}
	}
	for _, claim := range store.All[*corev1.PersistentVolumeClaim](w.Store) {
		if !w.IsMemberClaim(claim) && len(claim.OwnerReferences) == 0 {
			texts = append(texts, "claim "+claim.Name+" stays")
		}
	}
	for _, job := range store.All[*batchv1.Job](w.Store) {
		ownerless := len(job.OwnerReferences) == 0
		if cluster == nil && ownerless && !jobEnded(job) || job.Spec.TTLSecondsAfterFinished == nil {
			texts = append(texts, "Job "+job.Name+" stays")
		}
	}
	if texts = append(texts, w.unmade()...); len(texts) == 0 {
		return nil
	}
	slices.Sort(texts)
	return fmt.Errorf("%s", strings.Join(slices.Compact(texts), "\n"))
}

// locations returns the locations of backups in order.
func (w *World) locations() []string { return slices.Sorted(maps.Keys(w.disk.bucket)) }
