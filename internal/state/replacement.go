/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// Replacement is what a DatabaseRestore asks a cluster for: that its members use other volumes.
type Replacement struct {
	// Restore is the DatabaseRestore.
	Restore dbv1.ReplacementRestoreRef
	// Template is the volumeClaimTemplate of the other volumes: see naming.ClaimTemplate.
	Template string
	// Asked is true if the members are to use them. A deletion of the DatabaseRestore ends a replacement that is not complete, but no undo.
	Asked bool
	// Source is the data of these volumes; nil if they are the volumes from before.
	Source *dbv1.BackupSource
	// Failure is why the restore of the source has failed, as the status remembers it; "" if it is not known to have failed.
	Failure string
	// Volumes are the claims of the template, and Filling is the observed state of the restore into them.
	Volumes []Volume
	Filling ObservedRestore
	// Conflicts are claims and Jobs of the names that the restore needs, of other owners.
	Conflicts []Ref
}

// Cluster is the cluster as it is to be with the other volumes, before it has members.
func (r Replacement) Cluster(cluster *dbv1.DatabaseCluster) *dbv1.DatabaseCluster {
	next := cluster.DeepCopy()
	next.Status.Replacement = &dbv1.ClusterReplacementStatus{RestoreRef: &r.Restore, VolumeClaimTemplate: r.Template, Failure: r.Failure}
	next.Status.Restore, next.Status.Bootstrap = nil, nil
	if before := cluster.Status.Replacement; before != nil && r.Source != nil {
		next.Status.Restore = before.Restore
	}
	if next.Spec.Bootstrap == nil {
		next.Spec.Bootstrap = &dbv1.ClusterBootstrap{}
	}
	next.Spec.Bootstrap.FromBackup = r.Source
	return next
}

// Replaces reports whether a cluster is one with the other volumes of its replacement: see Replacement.Cluster. The status of the cluster
// itself has a stage.
func Replaces(cluster *dbv1.DatabaseCluster) bool {
	r := cluster.Status.Replacement
	return r != nil && r.RestoreRef != nil && r.Stage == ""
}

// ReplacementOf is what the DatabaseRestores of a cluster ask it for; nil for nothing. Only one at a time replaces its data: the first one,
// until it is deleted.
func ReplacementOf(cluster *dbv1.DatabaseCluster, restores []dbv1.DatabaseRestore) *Replacement {
	now := cluster.Status.Replacement
	inOrder := slices.SortedFunc(slices.Values(restores), func(a, b dbv1.DatabaseRestore) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	held := func(r dbv1.DatabaseRestore) bool { return now.RestoreRef.UID == string(r.UID) }
	if now == nil || now.RestoreRef == nil {
		held = func(r dbv1.DatabaseRestore) bool { return begins(cluster, r) }
	}
	restore, found := First(inOrder, func(r dbv1.DatabaseRestore) bool { return r.Spec.ClusterRef.Name == cluster.Name && held(r) })
	if !found {
		return nil
	}
	own, used := naming.RestoredTemplate(restore.UID), naming.ClaimTemplate(cluster)
	r := &Replacement{Restore: dbv1.ReplacementRestoreRef{Name: restore.Name, UID: string(restore.UID)}, Template: own}
	wanted := restore.Spec.Mode == dbv1.RestoreReplace
	if used == own {
		r.Template, wanted = cmp.Or(now.OtherVolumeClaimTemplate, naming.DataVolume), !wanted
	} else {
		r.Source = sourceOf(restore)
		r.Failure = failureOf(now)
	}
	r.Asked = wanted && (restore.DeletionTimestamp == nil || restore.Spec.Mode == dbv1.RestoreUndo)
	return r
}

// failureOf is the remembered failure of the DatabaseRestore that a cluster has begun with; "" for none.
func failureOf(now *dbv1.ClusterReplacementStatus) string {
	if now == nil || now.RestoreRef == nil {
		return ""
	}
	return now.Failure
}

// begins reports whether a DatabaseRestore asks to replace the data of this cluster, and is ready for it: it has its finalizer and knows
// its source. A cluster that has never had members has no data to replace. A request is executed once: a tool may create the object again.
func begins(cluster *dbv1.DatabaseCluster, r dbv1.DatabaseRestore) bool {
	known := r.Spec.Source.Location != nil || r.Status.BackupRef != nil
	if now := cluster.Status.Replacement; now != nil && slices.Contains(now.PastRestores, r.Name) {
		return false
	}
	known = known && r.Status.ClusterUID == string(cluster.UID) && cluster.Status.StatefulSet != nil
	return r.Spec.Mode == dbv1.RestoreReplace && r.DeletionTimestamp == nil && HasFinalizer(&r) && known
}

func sourceOf(restore dbv1.DatabaseRestore) *dbv1.BackupSource {
	from := &dbv1.BackupSource{Location: restore.Spec.Source.Location, RecoveryTarget: restore.Spec.Source.RecoveryTarget}
	if b := restore.Status.BackupRef; b != nil && from.Location == nil {
		from.Name = b.Name
	}
	return from
}

// SourceFor is the source that a DatabaseRestore of mode Replace reads, or will read, to replace the data of a cluster; nil for none.
func SourceFor(cluster *dbv1.DatabaseCluster, restore *dbv1.DatabaseRestore) *dbv1.BackupSource {
	from := sourceOf(*restore)
	if named := restore.Spec.Source.BackupRef; named != nil {
		from.Name = named.Name
	}
	if from.Name == "" && from.Location == nil || !unfinished(cluster, restore) {
		return nil
	}
	return from
}

// unfinished reports whether a DatabaseRestore of mode Replace restores data for a cluster, or waits until it may: it has neither succeeded
// nor failed.
func unfinished(cluster *dbv1.DatabaseCluster, restore *dbv1.DatabaseRestore) bool {
	own, now := restore.Status.ClusterUID, cluster.Status.Replacement
	switch {
	case own != "" && own != string(cluster.UID), cluster.DeletionTimestamp != nil:
		return false
	case now == nil:
		return true
	case now.RestoreRef != nil && now.RestoreRef.UID == string(restore.UID):
		return now.Failure == "" && naming.ClaimTemplate(cluster) != naming.RestoredTemplate(restore.UID)
	default:
		return !slices.Contains(now.PastRestores, restore.Name)
	}
}

// WithVolumes is a cluster with the volumes that its members use. The StatefulSet knows best which ones these are: the status may be
// lost. A new cluster uses what a previous one of its name has retained, if that is clear.
func (o Observed) WithVolumes(cluster *dbv1.DatabaseCluster) *dbv1.DatabaseCluster {
	before := naming.ClaimTemplate(cluster)
	template := before
	isNew := cluster.Status.Replacement == nil && cluster.Status.StatefulSet == nil
	switch {
	case o.StatefulSet != nil && len(o.StatefulSet.Spec.VolumeClaimTemplates) > 0:
		template = o.StatefulSet.Spec.VolumeClaimTemplates[0].Name
	case o.StatefulSet == nil && isNew && len(o.ClaimTemplates) == 1 && !o.Ambiguous(cluster):
		template = o.ClaimTemplates[0]
	}
	if template == before {
		return cluster
	}
	cluster = cluster.DeepCopy()
	if cluster.Status.Replacement == nil {
		cluster.Status.Replacement = &dbv1.ClusterReplacementStatus{}
	}
	now := cluster.Status.Replacement
	if now.OtherVolumeClaimTemplate == template { // the status is of a StatefulSet that a late cache has shown
		now.OtherVolumeClaimTemplate = before
	}
	now.VolumeClaimTemplate = template
	return cluster
}

// Ambiguous reports whether a previous cluster has retained volumes of several volumeClaimTemplates, or ones that it did not use, so it is
// unknown which of them a new cluster has to use.
func (o Observed) Ambiguous(cluster *dbv1.DatabaseCluster) bool {
	unused := func(template string) bool { return slices.Contains(o.Retained, template) }
	isNew := cluster.Status.Replacement == nil && cluster.Status.StatefulSet == nil && o.StatefulSet == nil
	return isNew && (len(o.ClaimTemplates) > 1 || slices.ContainsFunc(o.ClaimTemplates, unused))
}

// RetainedBy are the volumeClaimTemplates that the DatabaseRestores of previous clusters of the same name retain.
func RetainedBy(cluster *dbv1.DatabaseCluster, restores []dbv1.DatabaseRestore) (all []string) {
	for i := range restores {
		r := &restores[i]
		if r.Spec.ClusterRef.Name == cluster.Name && r.Status.ClusterUID != "" && r.Status.ClusterUID != string(cluster.UID) {
			all = append(all, r.Status.RetainedVolumeClaimTemplate)
		}
	}
	return all
}

// ClaimTemplatesOf are the volumeClaimTemplates in the names of the claims of a cluster.
func ClaimTemplatesOf(cluster string, claims []corev1.PersistentVolumeClaim) (all []string) {
	for i := range claims {
		template, _, named := naming.TemplateOf(cluster, claims[i].Name)
		if named && !slices.Contains(all, template) {
			all = append(all, template)
		}
	}
	slices.Sort(all)
	return all
}
