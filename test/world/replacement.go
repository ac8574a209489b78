/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// stops reports whether all members are to stop: the cluster hibernates, or gets other volumes.
func (w *World) stops() bool {
	cluster := w.Cluster()
	return cluster != nil && cluster.Spec.Hibernated || w.switches()
}

// switches reports whether a DatabaseRestore asks for volumes that the members do not use, and they have data.
func (w *World) switches() bool {
	used := naming.ClaimTemplate(w.inUse())
	for _, r := range store.All[*dbv1.DatabaseRestore](w.Store) {
		own := naming.RestoredTemplate(r.UID)
		switch {
		case r.Spec.Mode == dbv1.RestoreUndo && used == own:
			return true
		case r.DeletionTimestamp == nil && r.Spec.Mode == dbv1.RestoreReplace && used != own && w.isRestored(own):
			return true
		}
	}
	return false
}

// isRestored reports whether the volumes of a template have data, and none has only a part of it.
func (w *World) isRestored(template string) bool {
	restored := false
	for _, claim := range store.All[*corev1.PersistentVolumeClaim](w.Store) {
		if of, _, named := naming.TemplateOf(w.Name, claim.Name); !named || of != template {
			continue
		}
		if claim.Annotations[dbv1.AnnotationRestoring] != "" || w.disk.volumes[claim.UID].data == "" {
			return false
		}
		restored = true
	}
	return restored
}

// watchFills: after a restore has failed that was to replace the data of a cluster, no other one starts for the same DatabaseRestore. The
// members have continued, and the same data would replace what clients have written since.
func (w *World) watchFills(c store.Change) {
	job, is := c.Object().(*batchv1.Job)
	if !is || job.Labels[dbv1.LabelComponent] != dbv1.ComponentRestore {
		return
	}
	for _, v := range job.Spec.Template.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		template, _, named := naming.TemplateOf(w.Name, v.PersistentVolumeClaim.ClaimName)
		switch {
		case !named || template == naming.DataVolume:
		case c.Before == nil && w.disk.failed[template]:
			w.Breaks("Job %s repeats a restore that has failed, to replace the data of a cluster", job.Name)
		case JobIs(job, batchv1.JobFailed):
			w.disk.failed[template] = true
		}
	}
}

// released reports whether no member uses a volume, and the DatabaseRestore that retained it is being deleted, so that its data is not
// needed. The cluster may no longer exist.
func (w *World) released(object client.Object) bool {
	claim, is := object.(*corev1.PersistentVolumeClaim)
	if !is {
		return false
	}
	template, _, _ := naming.TemplateOf(w.Name, claim.Name)
	cluster := w.Cluster()
	own := cluster != nil && string(cluster.UID) == claim.Labels[dbv1.LabelClusterUID]
	ended := !own || cluster.DeletionTimestamp != nil
	return slices.ContainsFunc(store.All[*dbv1.DatabaseRestore](w.Store), func(r *dbv1.DatabaseRestore) bool {
		unused := template == r.Status.RetainedVolumeClaimTemplate
		if own {
			unused = template != naming.ClaimTemplate(w.inUse())
		}
		return r.DeletionTimestamp != nil && unused && w.accepted(r, claim, ended)
	})
}

// accepted reports whether a volume that a DatabaseRestore retains may be deleted with it. What members have written to it is only needed
// no more after the restored data was reported, or while an undo is asked for. If the cluster has ended, it also has to delete its volumes.
func (w *World) accepted(r *dbv1.DatabaseRestore, claim *corev1.PersistentVolumeClaim, ended bool) bool {
	template, _, _ := naming.TemplateOf(w.Name, claim.Name)
	since, cluster := r.Status.ReplacedAt, w.Cluster()
	deletes := cluster != nil && string(cluster.UID) == r.Status.ClusterUID && cluster.Spec.Deletion.Volumes == dbv1.VolumesDelete
	switch {
	case !w.disk.volumes[claim.UID].served:
		return true
	case ended && !deletes:
		return false
	case template == naming.RestoredTemplate(r.UID):
		return !ended && (r.Spec.Mode == dbv1.RestoreUndo || w.begun(template, claim))
	default:
		return r.Spec.Mode == dbv1.RestoreReplace && since != nil && !r.DeletionTimestamp.Before(since)
	}
}

// begun reports whether another volume of a template that members have used is being deleted: the user has decided against all of them.
func (w *World) begun(template string, claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(store.All[*corev1.PersistentVolumeClaim](w.Store), func(c *corev1.PersistentVolumeClaim) bool {
		of, _, named := naming.TemplateOf(w.Name, c.Name)
		return named && of == template && c.UID != claim.UID && c.DeletionTimestamp != nil && w.disk.volumes[c.UID].served
	})
}
