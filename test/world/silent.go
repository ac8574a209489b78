/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// unnoticedFor is how long a member without a node looks ready: the grace period of Kubernetes.
const unnoticedFor = 50 * time.Second

// probe notices a member that no longer responds.
func (w *World) probe(pod *corev1.Pod) {
	since, silent := w.disk.shared.unnoticed[pod.Name]
	switch {
	case !silent || !w.disk.shared.frozen[pod.Name]:
	case w.Clock.Now().Sub(since) < unnoticedFor:
		w.Store.Touch() // time passes
	default:
		delete(w.disk.shared.unnoticed, pod.Name)
		if IsReady(pod) {
			w.setReady(pod, false)
			w.Store.Put(pod)
			w.journal.add(w.by, fmt.Sprintf("pod %s is not ready: its database does not respond", pod.Name))
		}
	}
}

func (w *World) isUnnoticed(pod *corev1.Pod) bool {
	_, is := w.disk.shared.unnoticed[pod.Name]
	return is
}

// seenPresent are the voters that respond, as far as Kubernetes shows it.
func (w *World) seenPresent(data string) []*corev1.Pod {
	found := w.present(data)
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		if _, on := w.on(pod); IsMember(pod) && w.isUnnoticed(pod) && !w.acts(pod) && on.data == data && w.isVoter(pod) {
			found = append(found, pod)
		}
	}
	return found
}

// seenPrimary is the primary as far as Kubernetes shows it: without another one, it may be one that no longer responds. It is nil if there
// is none.
func (w *World) seenPrimary() *corev1.Pod {
	if primary := w.primary(); primary != nil {
		return primary
	}
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		if IsMember(pod) && w.isUnnoticed(pod) && IsReady(pod) && pod.Labels[RoleLabel] == PrimaryRole {
			return pod
		}
	}
	return nil
}
