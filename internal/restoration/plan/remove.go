/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// remove deletes the volumes that the cluster does not use, then the finalizer. A deletion is no request for other data, but an undo
// that has been asked for is completed first. Kubernetes deletes a preview with the restore.
func remove(restore *dbv1.DatabaseRestore, seen RestoreFacts) RestorePlan {
	if !state.HasFinalizer(restore) {
		return because("Kubernetes deletes the preview with this object")
	}
	all := retained(restore, seen)
	if p, waits := keeps(restore, seen, all); waits {
		return p
	}
	doomed := state.Only(all, func(v state.Volume) bool { return deletes(restore, seen, v) })
	p := because(fmt.Sprintf("deleting the volumes that DatabaseCluster %s does not use", restore.Spec.ClusterRef.Name)).soon()
	protected := func(v state.Volume) bool { return v.Protected && !protects(seen) }
	for _, v := range state.Only(all, protected) {
		p.Operations = append(p.Operations, unprotect(restore, v)...)
	}
	if len(doomed) == 0 && len(p.Operations) == 0 {
		p.Operations = operation.List{operation.RemoveFinalizer(operation.LastInDeletion, released(restore, seen, all))}
	}
	if len(doomed) == 0 {
		return p
	}
	free := state.Only(doomed, func(v state.Volume) bool { return !protected(v) })
	claims := members.Removals(free, "DatabaseRestore "+restore.Name+", which retained it, is deleted")
	p.Operations = slices.Concat(p.Operations, members.RemoveVolumes(claims), operation.Deletion(members.Ended(users(seen, doomed))...))
	return p
}

// deletes reports whether a volume may be deleted. A cluster that has ended never becomes available, and its replacement cannot be undone:
// what members have written to the volume may be needed, unless the user has accepted the restored data before. A tool may delete both
// objects at once, so that is no answer to the question whether the volumes of a cluster outlive it.
func deletes(restore *dbv1.DatabaseRestore, seen RestoreFacts, v state.Volume) bool {
	if !ended(restore, seen) || v.IsFilling() {
		return true
	}
	own := naming.RestoredTemplate(restore.UID)
	template, _, _ := naming.TemplateOf(restore.Spec.ClusterRef.Name, v.Claim)
	r := heldBy(restore, seen)
	if r != nil && template == own && !slices.Contains(r.PastRestores, restore.Name) {
		return true // no member has used it
	}
	return r != nil && seen.Cluster.Spec.Deletion.Volumes == dbv1.VolumesDelete && template != own && accepted(restore)
}

// ended reports whether the cluster whose data the restore replaces is being deleted, or does not exist any more.
func ended(restore *dbv1.DatabaseRestore, seen RestoreFacts) bool {
	uid := restore.Status.ClusterUID
	return seen.Cluster == nil || seen.Cluster.DeletionTimestamp != nil || uid != "" && uid != string(seen.Cluster.UID)
}

// released is the event about the volumes that stay when the finalizer is removed; none if no volume stays.
func released(restore *dbv1.DatabaseRestore, seen RestoreFacts, kept []state.Volume) operation.Event {
	if len(kept) == 0 {
		return operation.Event{}
	}
	return operation.Warning("VolumesRetained", "Finalize", fmt.Sprintf("%s. So the volumes that it did not use are retained: "+
		"%s. If you do not need their data, delete these PersistentVolumeClaims", unaccepted(restore, seen), named(kept)))
}

// unaccepted is why a restore whose cluster has ended deletes no volume that members have used.
func unaccepted(restore *dbv1.DatabaseRestore, seen RestoreFacts) string {
	cluster := restore.Spec.ClusterRef.Name
	switch {
	case restore.Spec.Mode == dbv1.RestoreUndo:
		return fmt.Sprintf("DatabaseCluster %s was deleted while spec.mode is Undo", cluster)
	case !accepted(restore):
		return fmt.Sprintf("DatabaseCluster %s was deleted before this DatabaseRestore reported the restored data", cluster)
	case heldBy(restore, seen) == nil:
		return fmt.Sprintf("DatabaseCluster %s, whose data this DatabaseRestore has replaced, does not exist any more", cluster)
	default:
		return fmt.Sprintf("DatabaseCluster %s is being deleted, and its spec.deletion.volumes is not Delete", cluster)
	}
}

// named are the names of claims, for messages.
func named(volumes []state.Volume) string {
	claims := make([]string, len(volumes))
	for i, v := range volumes {
		claims[i] = v.Claim
	}
	return strings.Join(claims, " ")
}

// protects reports whether the cluster still asks for the protection of its volumes.
func protects(seen RestoreFacts) bool {
	return seen.Cluster != nil && seen.Cluster.Spec.Deletion.Protection
}

// unprotect removes the label that makes the API server refuse to delete a claim: no pass of a cluster that is deleted does it.
func unprotect(restore *dbv1.DatabaseRestore, v state.Volume) operation.List {
	before, after := operation.Claim(v).In(restore.Namespace), operation.Claim(v).In(restore.Namespace)
	before.SetLabels(map[string]string{dbv1.LabelProtected: "true"})
	after.SetLabels(map[string]string{})
	return operation.Changes(operation.Work{Is: operation.Cleanup}, []operation.Patch{
		{Before: before, After: after, Text: "remove the protection of PersistentVolumeClaim " + v.Claim},
	})
}

// retained are the claims that the restore retains: the members of the cluster do not use them.
func retained(restore *dbv1.DatabaseRestore, seen RestoreFacts) (all []state.Volume) {
	template := unused(restore, seen)
	for i := range seen.Claims {
		v := state.VolumeOf(&seen.Claims[i], 0)
		of, _, named := naming.TemplateOf(restore.Spec.ClusterRef.Name, v.Claim)
		if named && of == template && ours(restore, seen, v) {
			all = append(all, v)
		}
	}
	return all
}

// keeps reports whether the claims have to be kept for now. Once one of them is being deleted, the others are deleted, too. Claims with
// only a part of the data do not count: no user can want them.
func keeps(restore *dbv1.DatabaseRestore, seen RestoreFacts, doomed []state.Volume) (RestorePlan, bool) {
	r := heldBy(restore, seen)
	if r == nil || ended(restore, seen) {
		return RestorePlan{}, false
	}
	restored := r.VolumeClaimTemplate == naming.RestoredTemplate(restore.UID)
	used := slices.Contains(r.PastRestores, restore.Name) // both kinds of volumes
	complete := state.Only(doomed, func(v state.Volume) bool { return !v.IsFilling() })
	begun := slices.ContainsFunc(complete, func(v state.Volume) bool { return v.Terminating })
	switch {
	case restored && restore.Spec.Mode == dbv1.RestoreUndo:
		return because("the members are being stopped to get other volumes; the volumes that they do not use are deleted afterward").soon(), true
	case r.Stage == dbv1.ReplacementSwitching:
		return because(switching(restore)).soon(), true
	case (restored || used) && !begun && len(complete) > 0:
		return undecided(restore, seen.Cluster, restored, complete)
	}
	return RestorePlan{}, false
}

// switching describes the wait for the report of a cluster whose members were about to get other volumes.
func switching(restore *dbv1.DatabaseRestore) string {
	others := "volumes that no member has used"
	if restore.Spec.Mode == dbv1.RestoreUndo {
		others = "the volumes that they do not use"
	}
	return fmt.Sprintf("waiting until DatabaseCluster %s reports which volumes its members use; %s are deleted afterward",
		restore.Spec.ClusterRef.Name, others)
}

// undecided reports whether the data that the cluster has may not be the wanted one, so that the other claims have to be kept.
func undecided(restore *dbv1.DatabaseRestore, cluster *dbv1.DatabaseCluster, restored bool, kept []state.Volume) (RestorePlan, bool) {
	undo := restore.Spec.Mode == dbv1.RestoreUndo
	has, others, text := "the restored data", "its volumes from before", ""
	if !restored {
		has, others = "its volumes from before", "the restored volumes"
	}
	switch {
	case restored && !accepted(restore):
		text = fmt.Sprintf("this DatabaseRestore was deleted before DatabaseCluster %s was available with the restored data, so its volumes "+
			"from before are retained. To get them back, set spec.mode to Undo, which also deletes the restored volumes, with what was "+
			"written since. To keep the present data, delete these PersistentVolumeClaims yourself", cluster.Name)
	case !restored && !undo: // the spec asks for the restored data, with what clients have written to it
		text = fmt.Sprintf("this DatabaseRestore was deleted while spec.mode is %s and DatabaseCluster %s has its volumes from before. The "+
			"restored volumes are retained, because members have written to them. To delete them, and keep the volumes from before, set spec.mode "+
			"to Undo. Or delete these PersistentVolumeClaims yourself", restore.Spec.Mode, cluster.Name)
	case !isAvailable(cluster):
		text = fmt.Sprintf("DatabaseCluster %s is not available with %s, so %s are retained. Wait until it is available, or delete these "+
			"PersistentVolumeClaims yourself", cluster.Name, has, others)
	default:
		return RestorePlan{}, false
	}
	text += ": " + named(kept)
	if !restored && undo { // the members have just been stopped
		return because(text).soon(), true
	}
	return stalled(dbv1.ReasonReplacementHeld, text).soon(), true
}

// accepted reports whether the deletion followed the report that the cluster has the restored data: one before it may be meant to prevent
// the replacement.
func accepted(restore *dbv1.DatabaseRestore) bool {
	since := restore.Status.ReplacedAt
	return restore.Spec.Mode == dbv1.RestoreReplace && since != nil && !restore.DeletionTimestamp.Before(since)
}

// users are the pods that use one of these claims.
func users(seen RestoreFacts, doomed []state.Volume) (all []state.Bystander) {
	mounts := func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && slices.ContainsFunc(doomed, func(d state.Volume) bool {
			return d.Claim == v.PersistentVolumeClaim.ClaimName
		})
	}
	for i := range seen.Pods {
		if slices.ContainsFunc(seen.Pods[i].Spec.Volumes, mounts) {
			all = append(all, state.BystanderOf(&seen.Pods[i]))
		}
	}
	return all
}

// unused is the volumeClaimTemplate of the volumes that the cluster does not use; "" if that is unknown.
func unused(restore *dbv1.DatabaseRestore, seen RestoreFacts) string {
	own := naming.RestoredTemplate(restore.UID)
	if seen.Cluster == nil || restore.Status.ClusterUID != "" && string(seen.Cluster.UID) != restore.Status.ClusterUID {
		return restore.Status.RetainedVolumeClaimTemplate
	}
	template := own
	if r := heldBy(restore, seen); r != nil {
		template = cmp.Or(r.OtherVolumeClaimTemplate, own)
	}
	if naming.ClaimTemplate(seen.Cluster) == template {
		return ""
	}
	return template
}

// ours reports whether a claim belongs to the cluster whose data the restore has replaced.
func ours(restore *dbv1.DatabaseRestore, seen RestoreFacts, v state.Volume) bool {
	uid := restore.Status.ClusterUID
	if uid == "" && seen.Cluster != nil {
		uid = string(seen.Cluster.UID)
	}
	return v.Managed && uid != "" && string(v.Cluster) == uid
}
