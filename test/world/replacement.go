/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"slices"

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

// released reports whether no member uses a volume, and the DatabaseRestore that retained it is being deleted, after it has reported its
// data. The cluster may no longer exist.
func (w *World) released(object client.Object) bool {
	claim, is := object.(*corev1.PersistentVolumeClaim)
	if !is {
		return false
	}
	template, _, _ := naming.TemplateOf(w.Name, claim.Name)
	cluster := w.Cluster()
	return slices.ContainsFunc(store.All[*dbv1.DatabaseRestore](w.Store), func(r *dbv1.DatabaseRestore) bool {
		unused := template == r.Status.RetainedVolumeClaimTemplate
		if cluster != nil && string(cluster.UID) == claim.Labels[dbv1.LabelClusterUID] {
			unused = template != naming.ClaimTemplate(w.inUse())
		}
		accepted := template == naming.RestoredTemplate(r.UID) || cluster == nil || cluster.DeletionTimestamp != nil || r.Status.ReplacedAt != nil
		return r.DeletionTimestamp != nil && unused && accepted
	})
}
