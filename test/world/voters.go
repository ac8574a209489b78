/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// runVoters is the software of an engine of topology Consensus. Its members have a list of the voters, by name and volume, and need a
// majority of it for every row and every change of the list.
func (w *World) runVoters() {
	for _, i := range w.order(len(w.databases())) {
		if pods := w.databases(); i < len(pods) && !w.delays() {
			w.vote(pods[i])
		}
	}
	for data := range w.disk.shared.voters {
		w.decide(data)
	}
}

// vote is one turn of the software of a member.
func (w *World) vote(pod *corev1.Pod) {
	uid, on := w.on(pod)
	voters := w.disk.shared.voters[on.data]
	switch {
	case on.data == "":
		w.enter(pod)
	case len(voters) == 0: // the first member has the data from a Job
		w.setVoter(on.data, pod.Name, uid)
	case voters[pod.Name] != uid && w.waitsForStop(pod):
		w.reports(pod, "", false)
		w.Store.Touch() // time passes
	case voters[pod.Name] != uid: // it was removed earlier, and starts again
		w.write(pod, "", 0)
		w.Store.Touch()
	default:
		w.reports(pod, "", w.hasMajority(on.data) && !w.announces(pod))
	}
}

// stopPatience is how long a member that was removed while it ran waits for its stop. Then it joins again.
const stopPatience = 2 * time.Minute

func (w *World) waitsForStop(pod *corev1.Pod) bool {
	since, left := w.disk.shared.left[pod.UID]
	return left && w.Clock.Now().Sub(since) < stopPatience
}

// enter adds a member with an empty volume to the voters, which copies the data of the others. A voter of the same name has lost its
// volume.
func (w *World) enter(pod *corev1.Pod) {
	uid, _ := w.on(pod)
	for _, other := range w.databases() {
		_, on := w.on(other)
		if on.data == "" || !w.isVoter(other) || !w.hasMajority(on.data) {
			continue
		}
		w.write(pod, on.data, w.disk.shared.acked[on.data])
		w.setVoter(on.data, pod.Name, uid)
		w.journal.add(w.by, fmt.Sprintf("the others add pod %s to the voters", pod.Name))
		return
	}
	w.reports(pod, "", false)
}

func (w *World) setVoter(data, pod string, claim types.UID) {
	voters := maps.Clone(w.disk.shared.voters[data])
	if voters == nil {
		voters = map[string]types.UID{}
	}
	voters[pod] = claim
	w.disk.shared.voters[data] = voters
	w.Store.Touch()
	w.watchClaim0()
}

func (w *World) isVoter(pod *corev1.Pod) bool {
	uid, on := w.on(pod)
	return uid != "" && w.disk.shared.voters[on.data][pod.Name] == uid
}

// present are the voters that respond.
func (w *World) present(data string) []*corev1.Pod {
	var found []*corev1.Pod
	for _, pod := range w.databases() {
		if _, on := w.on(pod); on.data == data && w.isVoter(pod) {
			found = append(found, pod)
		}
	}
	return found
}

func (w *World) hasMajority(data string) bool {
	return len(w.present(data)) > len(w.disk.shared.voters[data])/2
}

// decide lets a client write a row, if a majority can accept it.
func (w *World) decide(data string) {
	if !w.hasMajority(data) || w.alarms(data) {
		return
	}
	present := w.present(data)
	if first := w.newest(present); w.disk.shared.acked[data] > w.rowsOf(first) {
		w.resumes(first)
	}
	rows := w.disk.shared.acked[data] + 1
	w.disk.shared.acked[data] = rows
	for _, pod := range present {
		w.write(pod, data, rows)
	}
}

func (w *World) rowsOf(pod *corev1.Pod) int {
	_, on := w.on(pod)
	return on.rows
}
