/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// othersServe reports whether all members of the database but one serve with its data, and there is another one.
func (w *world) othersServe(without *corev1.Pod) bool {
	_, on := w.on(without)
	cluster := w.cluster()
	if cluster == nil || cluster.DeletionTimestamp != nil || cluster.Spec.Hibernated || w.holder() == without.Name {
		return false
	}
	others := w.others(without)
	for _, other := range others {
		if _, has := w.on(other); has.data != on.data || !isReady(other) {
			return false
		}
	}
	return len(others) > 0 && len(others) >= int(cluster.Spec.Replicas)-1 && len(w.disk.shared.voters[on.data]) <= len(others)+1
}

// freeze stops the software of a member without ending its pod.
func freeze(pod string) step {
	return step{what: "the database of pod " + pod + " does not respond any more", do: func(w *world) {
		frozen := get[*corev1.Pod](w.store, pod)
		w.forgives(frozen)
		w.disk.shared.frozen[pod] = true
		w.setReady(frozen, false)
		w.store.put(frozen)
	}}
}

func thaw(pod string) step {
	return step{what: "the database of pod " + pod + " responds again", do: func(w *world) {
		delete(w.disk.shared.frozen, pod)
		w.store.touch()
	}}
}

// divide lets a replica consider itself the primary.
func divide(pod string) step {
	return step{what: "pod " + pod + " is the primary, too", do: func(w *world) {
		w.disk.shared.divided = pod
		w.reports(get[*corev1.Pod](w.store, pod), primaryRole, true)
	}}
}

func reunite() step {
	return step{what: "that pod is a replica again", do: func(w *world) {
		pod := w.disk.shared.divided
		w.reports(get[*corev1.Pod](w.store, pod), replicaRole, true)
		w.disk.shared.divided = ""
	}}
}

// leads checks which pod is the primary.
func leads(pod string) step {
	return step{what: "pod " + pod + " is the primary", do: func(w *world) {
		if w.holder() != pod {
			w.breaks("pod %s is the primary, not %s", w.holder(), pod)
		}
	}}
}

// leadsNot checks which pod is not the primary.
func leadsNot(pod string) step {
	return step{what: "pod " + pod + " is not the primary", do: func(w *world) {
		if w.holder() == pod {
			w.breaks("pod %s is still the primary", pod)
		}
	}}
}

// uses checks the parameters of the database.
func uses(parameters string) step {
	return step{what: "the members use " + parameters, do: func(w *world) {
		if is := w.disk.shared.parameters; is != parameters {
			w.breaks("the members use %s, not %s", is, parameters)
		}
	}}
}

// switched is a switchover by another client, as patronictl does it.
func switched(to string) step {
	return step{what: "another client hands over to pod " + to, do: func(w *world) {
		w.reports(get[*corev1.Pod](w.store, w.holder()), replicaRole, true)
		w.lock(to)
		w.reports(get[*corev1.Pod](w.store, to), primaryRole, true)
	}}
}

// byHand changes the configuration that the members keep, as patronictl edit-config does.
func byHand() step {
	return step{what: "another client changes the configuration of the members", do: func(w *world) {
		const edited = `{"work_mem":"by hand"}`
		w.disk.shared.parameters, w.disk.shared.edited = edited, true
		w.keep(edited)
	}}
}

// stall lets members receive no rows any more. They stay ready.
func stall(pods ...string) step {
	return step{what: "no rows reach " + strings.Join(pods, " and ") + " any more", do: func(w *world) {
		for _, pod := range pods {
			w.disk.shared.stalled[pod] = true
		}
		w.store.touch()
	}}
}

// silence stops the software of a member; its pod still looks ready.
func silence(pod string) step {
	return step{what: "the database of pod " + pod + " does not respond any more, and the pod still looks ready", do: func(w *world) {
		w.forgives(get[*corev1.Pod](w.store, pod))
		w.disk.shared.frozen[pod], w.disk.shared.unnoticed[pod] = true, w.clock.Now()
		w.store.touch()
	}}
}
