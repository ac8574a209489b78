/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// indexNode is the name of the index of members by their node.
const indexNode = "node"

// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch,roleName=manager-cluster-role

// readNodes reads which members have to leave their nodes. A node that does not exist is no reason: the pods on it fail soon.
func (o *observation) readNodes(ctx context.Context, r *Reconciler) {
	o.NodesUnread = !r.Nodes
	from := r.Cache()
	if o.live {
		from = r.API()
	}
	for i := range o.Members {
		if o.NodesUnread || o.Err != nil || o.Members[i].Node == "" {
			continue
		}
		node, found := &corev1.Node{}, false
		if found, o.Err = from.Find(ctx, client.ObjectKey{Name: o.Members[i].Node}, node); found {
			o.Members[i].Leaves = state.Leaving(node)
		}
	}
}

// leavingFacts are the facts of a node. The kubelet updates the rest every few minutes.
func leavingFacts(node *corev1.Node) any { return state.Leaving(node) }

// nodeOf is the value of the index indexNode.
func nodeOf(object client.Object) []string {
	pod, ok := object.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" || pod.Labels[dbv1.LabelComponent] != dbv1.ComponentDatabase {
		return nil
	}
	return []string{pod.Spec.NodeName}
}

// clustersOn finds the clusters with members on a node.
func (r *Reconciler) clustersOn(ctx context.Context, node client.Object) []reconcile.Request {
	pods := &corev1.PodList{}
	if err := r.Cached.List(ctx, pods, r.Cache().By("", indexNode, node.GetName(), client.UnsafeDisableDeepCopy)...); err != nil {
		logf.FromContext(ctx).Error(err, "cannot list the members on a node", "node", node.GetName())
	}
	var all []reconcile.Request
	for i := range pods.Items {
		pod := &pods.Items[i]
		request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Labels[dbv1.LabelInstance]}}
		if slices.Contains(nodeOf(pod), node.GetName()) && request.Name != "" && !slices.Contains(all, request) {
			all = append(all, request)
		}
	}
	return all
}
