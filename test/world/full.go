/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// noSpace is what the kubelet reports about a member without space to write.
const noSpace = "Readiness probe failed: no writes: the data volume is full. Raise spec.storage.size."

// isFull reports whether the volume of a member has no space.
func (w *World) isFull(pod *corev1.Pod) bool {
	uid, _ := w.on(pod)
	return w.disk.full[uid]
}

// alarms reports whether voters accept no writes, because one of them has no space.
func (w *World) alarms(data string) bool {
	return slices.ContainsFunc(w.present(data), w.isFull)
}

// announces reports whether a voter is the one that is not ready while the voters accept no writes.
func (w *World) announces(pod *corev1.Pod) bool {
	_, on := w.on(pod)
	first := w.newest(w.present(on.data))
	return w.alarms(on.data) && first != nil && first.Name == pod.Name
}

// acceptsWrites reports whether a client of members with one database can write.
func (w *World) acceptsWrites() bool {
	if w.disk.shared.topology == dbv1.TopologyPrimaryReplica {
		primary := w.primary()
		if primary == nil {
			return false
		}
		_, on := w.on(primary)
		return !on.protected
	}
	for data := range w.disk.shared.voters {
		if w.hasMajority(data) && !w.alarms(data) {
			return true
		}
	}
	return false
}

// protect is the action protect. The replicas never have what it begins before another one is the primary, and always what it ends.
func (w *World) protect(mode string) exit {
	primary := w.primary()
	if primary == nil {
		return actionFails(protocol.ExitPrecondition, "there is no primary")
	}
	uid, on := w.on(primary)
	for other, v := range w.disk.volumes {
		if other == uid || mode == "off" && v.data == on.data {
			v.protected = mode == "on"
			w.disk.volumes[other] = v
		}
	}
	return done()
}

// checkAvailable: Available means that a client can write, and Protected that none can.
func (p *Play) checkAvailable() {
	cluster := p.Cluster()
	if cluster == nil || cluster.DeletionTimestamp != nil || p.disk.shared.topology == "" || p.Away {
		return
	}
	if meta.IsStatusConditionTrue(cluster.Status.Conditions, dbv1.ConditionAvailable) && !p.acceptsWrites() {
		p.Breaks("Available is True, but no client can write")
	}
	storage := cluster.Status.Storage
	protects := storage != nil && storage.Protection != nil && storage.Protection.State == dbv1.ProtectionProtected
	if protects && p.acceptsWrites() {
		p.Breaks("the database is Protected, but clients can write")
	}
}
