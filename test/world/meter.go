/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// meter has what the kubelets measure at every moment. A step that changes it wakes the cluster, as the operator's own meter does.
type meter struct{ *World }

// Ask returns the use of the volumes of the members on these nodes.
func (m meter) Ask(cluster client.ObjectKey, nodes map[string]string) map[string]state.NodeUsage {
	known := map[string]state.NodeUsage{}
	for name := range nodes {
		known[name] = state.NodeUsage{Asked: true, Volumes: map[string]state.VolumeUsage{}}
	}
	for _, pod := range store.All[*corev1.Pod](m.Store) {
		claim := m.ClaimOf(pod)
		if on, asked := known[pod.Spec.NodeName]; asked && claim != nil {
			on.Volumes[cluster.Namespace+"/"+claim.Name] = m.usage(claim)
		}
	}
	return known
}

func (m meter) usage(claim *corev1.PersistentVolumeClaim) state.VolumeUsage {
	capacity, used := claim.Status.Capacity.Storage().Value(), max(1, m.disk.used[claim.UID])
	return state.VolumeUsage{Capacity: capacity, Available: capacity / 100 * int64(100-used), UsedPercent: used, Measured: m.Clock.Now()}
}
