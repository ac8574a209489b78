/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// OthersServe reports whether all members of the database but one serve with its data, and there is another one.
func (w *World) OthersServe(without *corev1.Pod) bool {
	_, on := w.on(without)
	cluster := w.Cluster()
	if cluster == nil || cluster.DeletionTimestamp != nil || w.stops() || w.holder() == without.Name {
		return false
	}
	others := w.others(without)
	for _, other := range others {
		if _, has := w.on(other); has.data != on.data || !IsReady(other) {
			return false
		}
	}
	return len(others) > 0 && len(others) >= int(cluster.Spec.Replicas)-1 && len(w.disk.shared.voters[on.data]) <= len(others)+1
}

// Freeze stops the software of a member without ending its pod.
func Freeze(pod string) Step {
	return Step{What: "the database of pod " + pod + " does not respond any more", Do: func(w *World) {
		frozen := store.Get[*corev1.Pod](w.Store, pod)
		w.Forgives(frozen)
		w.disk.shared.frozen[pod] = true
		w.setReady(frozen, false)
		w.Store.Put(frozen)
	}}
}

// Thaw lets the software of a member respond again.
func Thaw(pod string) Step {
	return Step{What: "the database of pod " + pod + " responds again", Do: func(w *World) {
		delete(w.disk.shared.frozen, pod)
		w.Store.Touch()
	}}
}

// Divide lets a replica consider itself the primary.
func Divide(pod string) Step {
	return Step{What: "pod " + pod + " is the primary, too", Do: func(w *World) {
		w.disk.shared.divided = pod
		w.reports(store.Get[*corev1.Pod](w.Store, pod), PrimaryRole, true)
	}}
}

// Reunite ends Divide.
func Reunite() Step {
	return Step{What: "that pod is a replica again", Do: func(w *World) {
		pod := w.disk.shared.divided
		w.reports(store.Get[*corev1.Pod](w.Store, pod), ReplicaRole, true)
		w.disk.shared.divided = ""
	}}
}

// Leads checks which pod is the primary.
func Leads(pod string) Step {
	return Step{What: "pod " + pod + " is the primary", Do: func(w *World) {
		if w.holder() != pod {
			w.Breaks("pod %s is the primary, not %s", w.holder(), pod)
		}
	}}
}

// LeadsNot checks which pod is not the primary.
func LeadsNot(pod string) Step {
	return Step{What: "pod " + pod + " is not the primary", Do: func(w *World) {
		if w.holder() == pod {
			w.Breaks("pod %s is still the primary", pod)
		}
	}}
}

// Uses checks the parameters of the database.
func Uses(parameters string) Step {
	return Step{What: "the members use " + parameters, Do: func(w *World) {
		if is := w.disk.shared.parameters; is != parameters {
			w.Breaks("the members use %s, not %s", is, parameters)
		}
	}}
}

// Switched is a switchover by another client, as patronictl does it.
func Switched(to string) Step {
	return Step{What: "another client hands over to pod " + to, Do: func(w *World) {
		w.reports(store.Get[*corev1.Pod](w.Store, w.holder()), ReplicaRole, true)
		w.lock(to)
		w.reports(store.Get[*corev1.Pod](w.Store, to), PrimaryRole, true)
	}}
}

// ByHand changes the configuration that the members keep, as patronictl edit-config does.
func ByHand() Step {
	return Step{What: "another client changes the configuration of the members", Do: func(w *World) {
		const edited = `{"work_mem":"by hand"}`
		w.disk.shared.parameters, w.disk.shared.edited = edited, true
		w.keep(edited)
	}}
}

// Stall lets members receive no rows any more. They stay ready.
func Stall(pods ...string) Step {
	return Step{What: "no rows reach " + strings.Join(pods, " and ") + " any more", Do: func(w *World) {
		for _, pod := range pods {
			w.disk.shared.stalled[pod] = true
		}
		w.Store.Touch()
	}}
}

// Silence stops the software of a member; its pod still looks ready.
func Silence(pod string) Step {
	return Step{What: "the database of pod " + pod + " does not respond any more, and the pod still looks ready", Do: func(w *World) {
		w.Forgives(store.Get[*corev1.Pod](w.Store, pod))
		w.disk.shared.frozen[pod], w.disk.shared.unnoticed[pod] = true, w.Clock.Now()
		w.Store.Touch()
	}}
}
