/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// Members report their positions in the log of changes. A position here is only near or far from that of the primary, and does not change
// with every row: otherwise no world would be in steady state.
const (
	// PositionField has the position in the report of a member.
	PositionField = "position"
	Near, far     = 1 << 30, 1
)

// StatusAt is the report of a member at a position.
func StatusAt(position int) string { return fmt.Sprintf(`{%q:%d}`, PositionField, position) }

// reportPosition sets the position that a member reports. A healthy replica may be one round late.
func (w *World) reportPosition(pod *corev1.Pod) {
	position := Near
	if _, on := w.on(pod); on.rows < w.disk.shared.acked[on.data]-1 {
		position = far
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[dbv1.AnnotationStatus] = StatusAt(position)
}

// unnoticed is the number of rows that a replica may lack before the operator can know of it: members report once in a round, and the
// operator's view is late. The action itself waits for these rows, or reads the primary (see docs/engines.md).
const unnoticed = 3

// watchSource: the Job of a backup of one database names a member that has the acknowledged rows at that moment.
func (w *World) watchSource(job *batchv1.Job) {
	source := w.sourceOf(&corev1.Pod{ObjectMeta: job.ObjectMeta, Spec: job.Spec.Template.Spec})
	if source == nil {
		return
	}
	if _, on := w.on(source); on.rows < w.disk.shared.acked[on.data]-unnoticed {
		w.Breaks("Job %s reads pod %s, which lacks acknowledged rows", job.Name, source.Name)
	}
}

// rowsRead adds which rows of a database a pod reads.
func (w *World) rowsRead(pod *corev1.Pod, o origin) origin {
	if w.disk.shared.topology == "" {
		return o
	}
	claim := w.ClaimOf(pod)
	o.offline = claim != nil
	if claim == nil {
		claim = w.ClaimOf(store.Get[*corev1.Pod](w.Store, memberIn(pod)))
	}
	on := w.disk.volumes[claim.UID]
	o.data, o.rows = on.data, on.rows
	return o
}

// watchRows: a complete backup of stopped members has every acknowledged row.
func (w *World) watchRows(b *dbv1.DatabaseBackup) {
	for _, of := range w.disk.bucket[b.Status.Location].sources {
		if of.offline && of.rows < w.disk.shared.acked[of.data] {
			w.Breaks("DatabaseBackup %s of stopped members is complete, but lacks acknowledged rows", b.Name)
		}
	}
}

// watchCopies: a volume is deleted only when every acknowledged row is on a retained volume or in a complete backup.
func (w *World) watchCopies(claim *corev1.PersistentVolumeClaim) {
	data := w.disk.volumes[claim.UID].data
	acked, has := w.disk.shared.acked[data]
	if !has || acked == 0 {
		return
	}
	for _, other := range store.All[*corev1.PersistentVolumeClaim](w.Store) {
		if v := w.disk.volumes[other.UID]; other.UID != claim.UID && other.DeletionTimestamp == nil && v.data == data && v.rows >= acked {
			return
		}
	}
	for _, b := range store.All[*dbv1.DatabaseBackup](w.Store) {
		of := w.disk.bucket[b.Status.Location].sources[0]
		if b.Status.Phase == dbv1.BackupCompleted && b.DeletionTimestamp == nil && of.data == data && of.rows >= acked {
			return
		}
	}
	w.Breaks("claim %s is deleted, but no retained volume and no complete backup has every acknowledged row", claim.Name)
}

// sourceOf is the member of one database that the pod of a backup reads over the network; nil for other pods.
func (w *World) sourceOf(pod *corev1.Pod) *corev1.Pod {
	_, is := callsOf(pod)[naming.ActionContainer].asked.(*protocol.Backup)
	if !is || w.disk.shared.topology != dbv1.TopologyPrimaryReplica || w.ClaimOf(pod) != nil {
		return nil
	}
	return store.Get[*corev1.Pod](w.Store, memberIn(pod))
}
