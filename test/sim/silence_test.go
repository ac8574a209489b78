/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// A database that no longer responds looks ready until its probe has failed often enough, or until Kubernetes notices that its node is lost. Meanwhile,
// the others continue without it.

// unnoticedFor is how long a member without a node looks ready: the grace period of Kubernetes.
const unnoticedFor = 50 * time.Second

// silence stops the software of a member; its pod still looks ready.
func silence(pod string) step {
	return step{what: "the database of pod " + pod + " does not respond any more, and the pod still looks ready", do: func(w *world) {
		w.forgives(get[*corev1.Pod](w.store, pod))
		w.store.disk.shared.frozen[pod], w.store.disk.shared.unnoticed[pod] = true, w.clock.Now()
		w.store.version++
	}}
}

// probe notices a member that no longer responds.
func (w *world) probe(pod *corev1.Pod) {
	since, silent := w.store.disk.shared.unnoticed[pod.Name]
	switch {
	case !silent:
	case w.clock.Now().Sub(since) < unnoticedFor:
		w.store.version++ // time passes
	default:
		delete(w.store.disk.shared.unnoticed, pod.Name)
		if isReady(pod) {
			w.setReady(pod, false)
			w.store.put(pod)
			w.story.add(w.by, fmt.Sprintf("pod %s is not ready: its database does not respond", pod.Name))
		}
	}
}

func (w *world) isUnnoticed(pod *corev1.Pod) bool {
	_, is := w.store.disk.shared.unnoticed[pod.Name]
	return is
}

// seenPresent are the voters that respond, as far as Kubernetes shows it.
func (w *world) seenPresent(data string) []*corev1.Pod {
	found := w.present(data)
	for _, pod := range all[*corev1.Pod](w.store) {
		if _, on := w.on(pod); isMember(pod) && w.isUnnoticed(pod) && on.data == data && w.isVoter(pod) {
			found = append(found, pod)
		}
	}
	return found
}

var silenceSequences = []sequence{
	{"voters-final-backup-silent", []step{
		createVoters(final), soon(1, remove()), soon(1, silence("orders-0")), soon(4, silence("orders-1")), thaw("orders-0"), thaw("orders-1"),
	}},
}

// silenceMutants are mistakes about readiness that is older than the stop of others.
var silenceMutants = map[string]mutant{
	"the readiness of the voters that are left counts at once": {
		claimsWith(func(_ context.Context, _ client.WithWatch, claim *corev1.PersistentVolumeClaim) {
			if claim.Annotations[dbv1.AnnotationNeededSince] != "" {
				claim.Annotations[dbv1.AnnotationNeededSince] = "2000-01-01T00:00:00Z"
			}
		}),
		"voters-final-backup-silent", "of stopped members is complete, but lacks acknowledged rows",
	},
}

func init() { maps.Copy(dataMutants, silenceMutants) }
