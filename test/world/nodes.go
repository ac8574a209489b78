/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// onlyNode is the name of the node of all pods in a world without Node objects.
const onlyNode = "node"

// Nodes adds nodes. The scheduler spreads the members over them.
func Nodes(names ...string) Step {
	return Step{What: "there are the nodes " + strings.Join(names, ", "), Do: func(w *World) {
		for _, name := range names {
			w.Store.Put(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
	}}
}

// Cordon lets no new pod start on nodes.
func Cordon(names ...string) Step {
	return Step{What: "cordon " + strings.Join(names, ", "), Do: func(w *World) { w.cordon(true, names...) }}
}

// Uncordon ends Cordon and Drain.
func Uncordon(names ...string) Step {
	return Step{What: "uncordon " + strings.Join(names, ", "), Do: func(w *World) {
		w.cordon(false, names...)
		w.disk.nodes.drains = slices.DeleteFunc(w.disk.nodes.drains, func(node string) bool { return slices.Contains(names, node) })
	}}
}

// Drain cordons a node and evicts its members, as kubectl drain does: at once, and again as long as Kubernetes refuses that.
func Drain(node string) Step {
	return Step{What: "drain " + node, Do: func(w *World) {
		w.cordon(true, node)
		w.disk.nodes.drains = append(w.disk.nodes.drains, node)
		w.runDrains()
	}}
}

func (w *World) cordon(unschedulable bool, names ...string) {
	for _, name := range names {
		node := store.Get[*corev1.Node](w.Store, name)
		node.Spec.Unschedulable = unschedulable
		w.Store.Put(node)
	}
}

// Moved checks how often the primary has changed since the cluster was created.
func Moved(times int) Step {
	return Step{What: fmt.Sprintf("the primary has moved %d times", times), Do: func(w *World) {
		if w.disk.nodes.moved != times {
			w.Breaks("the primary has moved %d times, not %d", w.disk.nodes.moved, times)
		}
	}}
}

// Leaves checks that no member is left on a node.
func Leaves(node string) Step {
	return Step{What: "no member is left on " + node, Do: func(w *World) {
		if left := w.membersOn(node); len(left) > 0 {
			w.Breaks("pod %s is still on node %s", left[0].Name, node)
		}
	}}
}

// membersOn are the members on a node.
func (w *World) membersOn(node string) []*corev1.Pod {
	return slices.DeleteFunc(w.Members(), func(pod *corev1.Pod) bool { return pod.Spec.NodeName != node })
}

// schedule returns the node for a pod: one with the fewest members, of those that are not cordoned; "" for none.
func (w *World) schedule() string {
	all := store.All[*corev1.Node](w.Store)
	if len(all) == 0 {
		return onlyNode
	}
	best, fewest := "", 0
	for _, node := range all {
		if members := len(w.membersOn(node.Name)); !node.Spec.Unschedulable && (best == "" || members < fewest) {
			best, fewest = node.Name, members
		}
	}
	return best
}

// runDrains are the clients that drain nodes.
func (w *World) runDrains() {
	for _, node := range w.disk.nodes.drains {
		for _, pod := range w.membersOn(node) {
			if pod.DeletionTimestamp == nil && w.evictable(pod) {
				w.journal.add("drain", "evicts pod "+pod.Name)
				w.end(pod)
			}
		}
	}
}

// evictable decides as the subresource eviction does. It does not accept two budgets for one pod.
func (w *World) evictable(pod *corev1.Pod) bool {
	var budgets []*policyv1.PodDisruptionBudget
	for _, budget := range store.All[*policyv1.PodDisruptionBudget](w.Store) {
		if matches(budget, pod) {
			budgets = append(budgets, budget)
		}
	}
	switch {
	case len(budgets) == 0 || !IsReady(pod):
		return true
	case len(budgets) > 1:
		w.Breaks("pod %s has more than one PodDisruptionBudget", pod.Name)
		return false
	default:
		return w.allows(budgets[0])
	}
}

func matches(budget *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	Must(err)
	return selector.Matches(labels.Set(pod.Labels))
}

// allows reports whether a budget allows a disruption now. A maximum counts the replicas of the StatefulSet.
func (w *World) allows(budget *policyv1.PodDisruptionBudget) bool {
	set, healthy := store.Get[*appsv1.StatefulSet](w.Store, w.Name), 0
	for _, pod := range w.Members() {
		if matches(budget, pod) && IsReady(pod) && pod.DeletionTimestamp == nil {
			healthy++
		}
	}
	return set != nil && healthy > int(*set.Spec.Replicas)-budget.Spec.MaxUnavailable.IntValue()
}

// nodeFacts are what a world knows about drains.
type nodeFacts struct {
	// drains are the nodes that a client drains.
	drains []string
	// last is the last pod that was the primary, and moved is how often it has changed.
	last  string
	moved int
}

// leads counts the changes of the primary.
func (n *nodeFacts) leads(pod string) {
	if n.last != "" && n.last != pod {
		n.moved++
	}
	n.last = pod
}

// watchHandOvers: while replicas are on cordoned nodes, a hand-over of the operator asks for a member on another node, if one is ready.
func (w *World) watchHandOvers(c store.Change) {
	job, is := c.After.(*batchv1.Job)
	cluster, primary := w.Cluster(), w.seenPrimary()
	if !is || c.Before != nil || job.Labels[dbv1.LabelComponent] != dbv1.ComponentHandOver || primary == nil || cluster == nil ||
		cluster.DeletionTimestamp != nil || w.stops() || cluster.Annotations[dbv1.AnnotationHandOver] != "" {
		return
	}
	good, bad := map[string]bool{}, false
	for _, pod := range w.Members() {
		if pod.Name != primary.Name && IsReady(pod) && pod.DeletionTimestamp == nil && pod.Labels[RoleLabel] == ReplicaRole {
			cordoned := w.isCordoned(pod.Spec.NodeName)
			good[pod.Name], bad = !cordoned, bad || cordoned
		}
	}
	others := func(target string) bool { return !good[target] }
	targets := targetsOf(&corev1.Pod{Spec: job.Spec.Template.Spec})
	if bad && slices.Contains(slices.Collect(maps.Values(good)), true) && (len(targets) == 0 || slices.ContainsFunc(targets, others)) {
		w.Breaks("Job %s hands over to one of %q, although a node of these is cordoned, and that of another member is not", job.Name, targets)
	}
}

func (w *World) isCordoned(name string) bool {
	node := store.Get[*corev1.Node](w.Store, name)
	return node != nil && node.Spec.Unschedulable
}

// targetsOf are the pods that may become the primary; none for any.
func targetsOf(pod *corev1.Pod) (targets []string) {
	for host := range strings.FieldsSeq(variableOf(pod, "DBC_TARGETS")) {
		target, _, _ := strings.Cut(host, ".")
		targets = append(targets, target)
	}
	return targets
}
