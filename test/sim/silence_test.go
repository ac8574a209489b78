/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"fmt"
	"maps"
	"strings"
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
		w.disk.shared.frozen[pod], w.disk.shared.unnoticed[pod] = true, w.clock.Now()
		w.store.touch()
	}}
}

// probe notices a member that no longer responds.
func (w *world) probe(pod *corev1.Pod) {
	since, silent := w.disk.shared.unnoticed[pod.Name]
	switch {
	case !silent || !w.disk.shared.frozen[pod.Name]:
	case w.clock.Now().Sub(since) < unnoticedFor:
		w.store.touch() // time passes
	default:
		delete(w.disk.shared.unnoticed, pod.Name)
		if isReady(pod) {
			w.setReady(pod, false)
			w.store.put(pod)
			w.story.add(w.by, fmt.Sprintf("pod %s is not ready: its database does not respond", pod.Name))
		}
	}
}

func (w *world) isUnnoticed(pod *corev1.Pod) bool {
	_, is := w.disk.shared.unnoticed[pod.Name]
	return is
}

// seenPresent are the voters that respond, as far as Kubernetes shows it.
func (w *world) seenPresent(data string) []*corev1.Pod {
	found := w.present(data)
	for _, pod := range all[*corev1.Pod](w.store) {
		if _, on := w.on(pod); isMember(pod) && w.isUnnoticed(pod) && !w.acts(pod) && on.data == data && w.isVoter(pod) {
			found = append(found, pod)
		}
	}
	return found
}

// seenPrimary is the primary as far as Kubernetes shows it: without another one, it may be one that no longer responds. It is nil if there is none.
func (w *world) seenPrimary() *corev1.Pod {
	if primary := w.primary(); primary != nil {
		return primary
	}
	for _, pod := range all[*corev1.Pod](w.store) {
		if isMember(pod) && w.isUnnoticed(pod) && isReady(pod) && pod.Labels[roleLabel] == primaryRole {
			return pod
		}
	}
	return nil
}

var silenceSequences = []sequence{
	{"voters-final-backup-silent", []step{
		createVoters(final), soon(1, remove()), soon(1, silence("orders-0")), soon(4, silence("orders-1")), thaw("orders-0"), thaw("orders-1"),
	}},
	{"voters-shutdown-then-final-backup", []step{createVoters(hook("stop", dbv1.HookShutdown), final), remove()}},
	{"pair-without-lock-final-backup-silent", []step{
		createPair(tuneEngine, final), soon(1, silence("orders-0")), soon(6, remove()), thaw("orders-0"), skipHooks(), told(createPair(tuneEngine)), handOverTo("orders-2"),
	}},
	{"pair-without-lock-final-backup-of-one", []step{
		createPair(tuneEngine, final), scale(1), together(deleteClaim("data-orders-1"), deleteClaim("data-orders-2")), remove(),
	}},
}

// silenceMutants are mistakes about readiness that is older than the stop of others.
var silenceMutants = map[string]mutant{
	"the readiness of the voters that are left counts at once": {
		claimsWith(func(_ context.Context, _ client.WithWatch, claim *corev1.PersistentVolumeClaim) {
			if process, _, recorded := strings.Cut(claim.Annotations[dbv1.AnnotationNeededSince], "+"); recorded {
				claim.Annotations[dbv1.AnnotationNeededSince] = process + "+-1h"
			}
		}),
		"voters-final-backup-silent", "of stopped members is complete, but lacks acknowledged rows",
	},
}

func init() { maps.Copy(dataMutants, silenceMutants) }
