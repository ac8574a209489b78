/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// lists are the voters by the data, of each database of which a claim exists. A deleted database has no members that could be asked.
func (w *World) lists() map[string]map[string]types.UID {
	lists := map[string]map[string]types.UID{}
	for _, claim := range store.All[*corev1.PersistentVolumeClaim](w.Store) {
		data := w.disk.volumes[claim.UID].data
		if voters, has := w.disk.shared.voters[data]; has {
			lists[data] = voters
		}
	}
	return lists
}

// listWith returns the data of a member and the number of its voters, with that member. A member with an empty volume may join the others
// before it stops.
func (w *World) listWith(claim *corev1.PersistentVolumeClaim, member string) (data string, voters int) {
	data, lists := w.disk.volumes[claim.UID].data, w.lists()
	if all := slices.Sorted(maps.Keys(lists)); data == "" && len(all) > 0 {
		data = all[0]
	}
	voters = len(lists[data])
	if _, listed := lists[data][member]; !listed {
		voters++
	}
	return data, voters
}

// votersOf are the voters of a database, by name.
func (w *World) votersOf(data string) []string {
	return slices.Sorted(maps.Keys(w.disk.shared.voters[data]))
}

// watchList: claim 0 records at least as many members as there are voters, so that the next cluster knows all of them.
func (w *World) watchList(claim *corev1.PersistentVolumeClaim) {
	recorded, err := strconv.Atoi(claim.Annotations[dbv1.AnnotationVoters])
	if first := w.Claim(0); first == nil || claim.Name != first.Name || err != nil {
		return
	}
	for _, member := range w.votersOf(w.disk.volumes[claim.UID].data) {
		if ordinal, _ := naming.Ordinal(w.Name, member); int(ordinal) >= recorded {
			w.Breaks("claim %s records %d voters, but pod %s is one", claim.Name, recorded, member)
		}
	}
}

// watchClaim0 repeats watchList when a member becomes a voter.
func (w *World) watchClaim0() {
	if claim := w.Claim(0); claim != nil {
		w.watchList(claim)
	}
}

// watchJoin: of the members that the operator starts, at most one is not a voter yet.
func (w *World) watchJoin(before, after *appsv1.StatefulSet) {
	if w.disk.shared.topology != dbv1.TopologyConsensus || before != nil && *after.Spec.Replicas <= *before.Spec.Replicas {
		return
	}
	listed := map[string]bool{}
	for _, claim := range store.All[*corev1.PersistentVolumeClaim](w.Store) {
		for _, member := range w.votersOf(w.disk.volumes[claim.UID].data) {
			listed[member] = true
		}
	}
	var joining []string
	for ordinal := range *after.Spec.Replicas {
		if member := naming.Member(w.Name, ordinal); !listed[member] {
			joining = append(joining, member)
		}
	}
	if len(joining) > 1 {
		w.Breaks("pods %s join the voters at the same time", strings.Join(joining, " and "))
	}
}

// absentVoters reports voters without a member: the others need a larger majority because of them.
func (w *World) absentVoters() error {
	running := map[string]bool{}
	for _, pod := range w.databases() {
		running[pod.Name] = true
	}
	for _, pod := range w.databases() {
		_, on := w.on(pod)
		for _, member := range w.votersOf(on.data) {
			if !running[member] {
				return fmt.Errorf("pod %s is a voter, but does not exist", member)
			}
		}
	}
	return nil
}
