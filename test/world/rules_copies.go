/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// watchLosses: at the end of a step, no member with data of its own serves with another volume than before, unless the user has asked
// for exactly that member since. The volume of a member that was removed, and is deleted, does not matter.
func (w *World) watchLosses() {
	cluster := w.Cluster()
	if cluster == nil || w.disk.shared.topology != "" || w.Away {
		return
	}
	d := w.disk
	d.serving = maps.Clone(d.serving)
	if d.servedBy != cluster.UID { // the next cluster may start empty
		d.serving, d.servedBy = map[string]types.UID{}, cluster.UID
	}
	request := cluster.Annotations[dbv1.AnnotationRebuild]
	for ordinal := range int32(9) {
		claim := w.Claim(ordinal)
		if claim == nil || claim.DeletionTimestamp != nil {
			if ordinal >= cluster.Spec.Replicas {
				delete(d.serving, naming.Claim(w.inUse(), ordinal))
			}
			continue
		}
		pod := store.Get[*corev1.Pod](w.Store, naming.Member(w.Name, ordinal))
		if pod == nil || !IsReady(pod) || pod.DeletionTimestamp != nil || claim.Labels[dbv1.LabelClusterUID] != string(cluster.UID) {
			continue
		}
		before, had := d.serving[claim.Name]
		asked := podOf(request) == pod.Name && request != d.consent
		if had && before != claim.UID && !asked && claim.Spec.DataSource == nil {
			w.Breaks("pod %s serves with an empty volume, although its member had data", pod.Name)
		}
		d.serving[claim.Name] = claim.UID
	}
	d.consent = request
}

// podOf is the pod of a request.
func podOf(request string) string {
	for i := range request {
		if request[i] == '/' {
			return request[:i]
		}
	}
	return request
}

// watchLastCopies: the operator never deletes the last complete backup of a database on a volume.
func (w *World) watchLastCopies(target *dbv1.DatabaseBackup) {
	if target.Status.Phase != dbv1.BackupCompleted || w.disk.shared.topology != "" {
		return
	}
	there := w.disk.bucket[target.Status.Location]
	for member, source := range there.sources {
		if !w.hasOtherCopy(target, source.volume, there.parts[member]) {
			w.Breaks("DatabaseBackup %s is deleted, although no other one has the data of the volume of member %d", target.Name, member)
		}
	}
}

func (w *World) hasOtherCopy(than *dbv1.DatabaseBackup, volume types.UID, data string) bool {
	for _, b := range store.All[*dbv1.DatabaseBackup](w.Store) {
		if b.UID == than.UID || b.DeletionTimestamp != nil || b.Status.Phase != dbv1.BackupCompleted {
			continue
		}
		there := w.disk.bucket[b.Status.Location]
		for member, source := range there.sources {
			if source.volume == volume && there.parts[member] == data {
				return true
			}
		}
	}
	return false
}

// volumeRead is the volume of the member that a pod of a Job reads.
func (w *World) volumeRead(pod *corev1.Pod) types.UID {
	claim := w.ClaimOf(pod)
	if claim == nil {
		ordinal, _ := naming.Ordinal(w.Name, memberIn(pod))
		claim = w.Claim(ordinal)
	}
	if claim == nil {
		return ""
	}
	return claim.UID
}
