/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// OnOneNode lets all pods share a node from a step on.
func OnOneNode(s Step) Step {
	do := s.Do
	s.Do = func(w *World) {
		w.oneNode = true
		do(w)
	}
	return s
}

// Away stops or starts the operator.
func Away(away bool) Step {
	what := "the operator is back"
	if away {
		what = "the operator is away"
	}
	return Step{What: what, Do: func(w *World) {
		w.Away = away
		if !away {
			w.Start()
		}
	}}
}

// Quota refuses pods of Jobs with a higher CPU limit.
func Quota(cpus int64) Step {
	return Step{What: fmt.Sprintf("a quota allows %d CPU", cpus), Do: func(w *World) { w.disk.quota = cpus }}
}

// GoesWrong plans failures of containers.
func GoesWrong(t Trouble) Step {
	which := strings.TrimSpace(t.Verb + " " + t.About)
	what := fmt.Sprintf("from now on %s ends with exit code %d", which, t.Code)
	switch {
	case t.Hangs:
		what = fmt.Sprintf("from now on %s does not end", which)
	case t.Times > 0:
		what += fmt.Sprintf(", %d times", t.Times)
	}
	return Step{What: what, Do: func(w *World) { w.disk.troubles = append(w.disk.troubles, t) }}
}

// BackOff lets Kubernetes wait before it repeats an attempt of a Job.
func BackOff(wait time.Duration) Step {
	return Step{What: fmt.Sprintf("from now on, a Job waits %s after a failed attempt", wait), Do: func(w *World) { w.disk.backOff = wait }}
}

// Mended ends all planned failures.
func Mended(verb string) Step {
	return Step{What: verb + " is mended", Do: func(w *World) { w.disk.troubles = nil }}
}

// At lets time pass.
func At(after time.Duration) Step {
	return Step{What: "time passes until " + Began.Add(after).Format("2006-01-02 15:04"), Do: func(w *World) {
		w.Clock.SetTime(later(w.Clock.Now(), Began.Add(after)))
	}}
}

// RemoveNamespace deletes the namespace of the cluster.
func RemoveNamespace() Step {
	return Step{What: "the namespace is deleted", Do: func(w *World) { w.Store.Terminating = w.namespace; w.Store.Touch() }}
}

// RestartOperator ends the operator and starts it again.
func RestartOperator() Step {
	return Step{What: "the operator is restarted", Do: func(w *World) { w.Start() }}
}

// podOf finds a pod by a part of its name.
func (w *World) podOf(part string) *corev1.Pod {
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		if strings.Contains(pod.Name, part) {
			return pod
		}
	}
	return nil
}

// NodeSilent is a node that was just lost: its kubelet no longer reports on the pod.
func NodeSilent(part string) Step {
	return Step{What: "the node of pod ..." + part + " does not answer", Do: func(w *World) {
		if pod := w.podOf(part); pod != nil {
			w.disk.lost[pod.Name] = true
			w.Store.Touch()
		}
	}}
}

// NodeReturns is the return of such a node.
func NodeReturns(part string) Step {
	return Step{What: "that node is back", Do: func(w *World) {
		if pod := w.podOf(part); pod != nil {
			delete(w.disk.lost, pod.Name)
			w.Store.Touch()
		}
	}}
}

// LoseNode is a node that was lost for a while, so that Kubernetes deletes its pod.
func LoseNode(part string) Step {
	return Step{What: "the node of pod ..." + part + " does not answer for so long that the pod is deleted", Do: func(w *World) {
		NodeSilent(part).Do(w)
		if pod := w.podOf(part); pod != nil {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Message: "Taint manager: deleting due to NoExecute taint",
			})
			w.Store.Put(pod)
			w.end(w.podOf(part))
		}
	}}
}

// RemoveNode deletes a node: Kubernetes marks its pods as failed and deletes them.
func RemoveNode(part string) Step {
	return Step{What: "that node is removed", Do: func(w *World) {
		if pod := w.podOf(part); pod != nil && w.disk.lost[pod.Name] {
			delete(w.disk.lost, pod.Name)
			store.WithoutFinalizer(pod, store.PodGrace)
			pod.Status.Phase = corev1.PodFailed
			w.Store.Put(pod)
		}
	}}
}

// By runs a step with another client of the operator; a later step may change it again.
func (s Step) By(plant func(client.WithWatch) client.WithWatch) Step {
	do := s.Do
	s.Do = func(w *World) {
		w.Plant = plant
		do(w)
	}
	return s
}

// Upgrade starts the operator in the version under test.
func Upgrade() Step {
	return Step{What: "the operator is upgraded to a version that makes pods otherwise", Do: func(w *World) {
		w.Plant = nil
		w.Start()
	}}
}
