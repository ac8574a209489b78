/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// Members report their positions in the log of changes. A position here is only near or far from that of the primary, and does not change
// with every row: otherwise no world would be in steady state.
const (
	positionField = "position"
	near, far     = 1 << 30, 1
)

func statusAt(position int) string { return fmt.Sprintf(`{%q:%d}`, positionField, position) }

// reportPosition sets the position that a member reports. A healthy replica may be one round late.
func (w *world) reportPosition(pod *corev1.Pod) {
	position := near
	if _, on := w.on(pod); on.rows < w.disk.shared.acked[on.data]-1 {
		position = far
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[dbv1.AnnotationStatus] = statusAt(position)
}

// unnoticed is the number of rows that a replica may lack before the operator can know of it: members report once in a round, and the
// operator's view is late. The action itself waits for these rows, or reads the primary (see docs/engines.md).
const unnoticed = 3

// watchSource: the Job of a backup of one database names a member that has the acknowledged rows at that moment.
func (w *world) watchSource(job *batchv1.Job) {
	source := w.sourceOf(&corev1.Pod{ObjectMeta: job.ObjectMeta, Spec: job.Spec.Template.Spec})
	if source == nil {
		return
	}
	if _, on := w.on(source); on.rows < w.disk.shared.acked[on.data]-unnoticed {
		w.breaks("Job %s reads pod %s, which lacks acknowledged rows", job.Name, source.Name)
	}
}

// rowsRead adds which rows of a database a pod reads.
func (w *world) rowsRead(pod *corev1.Pod, o origin) origin {
	if w.disk.shared.topology == "" {
		return o
	}
	claim := w.claimOf(pod, naming.DataVolume)
	o.offline = claim != nil
	if claim == nil {
		claim = w.claimOf(get[*corev1.Pod](w.store, memberIn(pod, "DBC_MEMBER")), naming.DataVolume)
	}
	on := w.disk.volumes[claim.UID]
	o.data, o.rows = on.data, on.rows
	return o
}

// watchRows: a complete backup of stopped members has every acknowledged row.
func (w *world) watchRows(b *dbv1.DatabaseBackup) {
	for _, of := range w.disk.bucket[b.Status.Location].sources {
		if of.offline && of.rows < w.disk.shared.acked[of.data] {
			w.breaks("DatabaseBackup %s of stopped members is complete, but lacks acknowledged rows", b.Name)
		}
	}
}

// watchCopies: a volume is deleted only when every acknowledged row is on a retained volume or in a complete backup.
func (w *world) watchCopies(claim *corev1.PersistentVolumeClaim) {
	data := w.disk.volumes[claim.UID].data
	acked, has := w.disk.shared.acked[data]
	if !has || acked == 0 {
		return
	}
	for _, other := range all[*corev1.PersistentVolumeClaim](w.store) {
		if v := w.disk.volumes[other.UID]; other.UID != claim.UID && other.DeletionTimestamp == nil && v.data == data && v.rows >= acked {
			return
		}
	}
	for _, b := range all[*dbv1.DatabaseBackup](w.store) {
		of := w.disk.bucket[b.Status.Location].sources[0]
		if b.Status.Phase == dbv1.BackupCompleted && b.DeletionTimestamp == nil && of.data == data && of.rows >= acked {
			return
		}
	}
	w.breaks("claim %s is deleted, but no retained volume and no complete backup has every acknowledged row", claim.Name)
}

// sourceOf is the member of one database that the pod of a backup reads over the network; nil for other pods.
func (w *world) sourceOf(pod *corev1.Pod) *corev1.Pod {
	_, is := callsOf(pod)[naming.ActionContainer].asked.(*protocol.Backup)
	if !is || w.disk.shared.topology != dbv1.TopologyPrimaryReplica || w.claimOf(pod, naming.DataVolume) != nil {
		return nil
	}
	return get[*corev1.Pod](w.store, memberIn(pod, "DBC_MEMBER"))
}
