/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func onOneNode(s step) step {
	do := s.do
	s.do = func(w *world) {
		w.oneNode = true
		do(w)
	}
	return s
}

// away stops or starts the operator.
func away(away bool) step {
	what := "the operator is back"
	if away {
		what = "the operator is away"
	}
	return step{what: what, do: func(w *world) {
		w.away = away
		if !away {
			w.start()
		}
	}}
}

// quota refuses pods of Jobs with a higher CPU limit.
func quota(cpus int64) step {
	return step{what: fmt.Sprintf("a quota allows %d CPU", cpus), do: func(w *world) { w.disk.quota = cpus }}
}

func goesWrong(t trouble) step {
	which := strings.TrimSpace(t.verb + " " + t.about)
	what := fmt.Sprintf("from now on %s ends with exit code %d", which, t.code)
	switch {
	case t.hangs:
		what = fmt.Sprintf("from now on %s does not end", which)
	case t.times > 0:
		what += fmt.Sprintf(", %d times", t.times)
	}
	return step{what: what, do: func(w *world) { w.disk.troubles = append(w.disk.troubles, t) }}
}

// backOff lets Kubernetes wait before it repeats an attempt of a Job.
func backOff(wait time.Duration) step {
	return step{what: fmt.Sprintf("from now on, a Job waits %s after a failed attempt", wait), do: func(w *world) { w.disk.backOff = wait }}
}

func mended(verb string) step {
	return step{what: verb + " is mended", do: func(w *world) { w.disk.troubles = nil }}
}

// at lets time pass.
func at(after time.Duration) step {
	return step{what: "time passes until " + began.Add(after).Format("2006-01-02 15:04"), do: func(w *world) {
		w.clock.SetTime(later(w.clock.Now(), began.Add(after)))
	}}
}

func removeNamespace() step {
	return step{what: "the namespace is deleted", do: func(w *world) { w.store.terminating = w.namespace; w.store.touch() }}
}

func restartOperator() step {
	return step{what: "the operator is restarted", do: func(w *world) { w.start() }}
}

// podOf finds a pod by a part of its name.
func (w *world) podOf(part string) *corev1.Pod {
	for _, pod := range all[*corev1.Pod](w.store) {
		if strings.Contains(pod.Name, part) {
			return pod
		}
	}
	return nil
}

// nodeSilent is a node that was just lost: its kubelet no longer reports on the pod.
func nodeSilent(part string) step {
	return step{what: "the node of pod ..." + part + " does not answer", do: func(w *world) {
		if pod := w.podOf(part); pod != nil {
			w.disk.lost[pod.Name] = true
			w.store.touch()
		}
	}}
}

// nodeReturns is the return of such a node.
func nodeReturns(part string) step {
	return step{what: "that node is back", do: func(w *world) {
		if pod := w.podOf(part); pod != nil {
			delete(w.disk.lost, pod.Name)
			w.store.touch()
		}
	}}
}

// loseNode is a node that was lost for a while, so that Kubernetes deletes its pod.
func loseNode(part string) step {
	return step{what: "the node of pod ..." + part + " does not answer for so long that the pod is deleted", do: func(w *world) {
		nodeSilent(part).do(w)
		if pod := w.podOf(part); pod != nil {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Message: "Taint manager: deleting due to NoExecute taint",
			})
			w.store.put(pod)
			w.end(w.podOf(part))
		}
	}}
}

// removeNode deletes a node: Kubernetes marks its pods as failed and deletes them.
func removeNode(part string) step {
	return step{what: "that node is removed", do: func(w *world) {
		if pod := w.podOf(part); pod != nil && w.disk.lost[pod.Name] {
			delete(w.disk.lost, pod.Name)
			withoutFinalizer(pod, podGrace)
			pod.Status.Phase = corev1.PodFailed
			w.store.put(pod)
		}
	}}
}

// by runs a step with another client of the operator; a later step may change it again.
func (s step) by(plant func(client.WithWatch) client.WithWatch) step {
	do := s.do
	s.do = func(w *world) {
		w.plant = plant
		do(w)
	}
	return s
}

// upgrade starts the operator in the version under test.
func upgrade() step {
	return step{what: "the operator is upgraded to a version that makes pods otherwise", do: func(w *world) {
		w.plant = nil
		w.start()
	}}
}
