//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestTheStatusHasTheNodeAndTheZoneOfEachMember(t *testing.T) {
	parallel(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "zoned-", Labels: map[string]string{corev1.LabelTopologyZone: "here-1a"}}}
	createFor(t, node)
	cluster := started(t, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 2 }, healthy)
	for _, m := range read(t, cluster).Status.Members {
		if m.Node != "" || m.Zone != "" {
			t.Errorf("a pod without a node: %+v", m)
		}
	}
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node.Name}}
	if err := admin.SubResource("binding").Create(t.Context(), member(cluster, 0), binding); err != nil {
		t.Fatal(err)
	}
	await(t, cluster, "the node and the zone of the first member", func() bool {
		first := cluster.Status.Members[0]
		return first.Node == node.Name && first.Zone == "here-1a"
	})
	if second := cluster.Status.Members[1]; second.Node != "" || second.Zone != "" {
		t.Errorf("%+v", second)
	}
}

func TestMoreMembersThanNodesAreReportedWithTheRemedy(t *testing.T) {
	parallel(t)
	cluster := created(t, func(c *dbv1.DatabaseCluster) {
		c.Spec.Replicas, c.Spec.Scheduling.Spread = 2, dbv1.ClusterSpread{Nodes: dbv1.SpreadRequired}
	})
	kubelet(t, cluster.Namespace, func(pod *corev1.Pod) {
		if pod.Name == "orders-0" {
			healthy(pod)
			return
		}
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			Message: "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.",
		}}
	})
	awaitTrue(t, cluster, dbv1.ConditionDegraded, dbv1.ReasonMemberFailing, "pod orders-1 cannot be scheduled", "Add a node for each member", "spec.scheduling.spread.nodes")
	for _, pod := range podsOf(t, cluster) {
		terms := pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		if len(terms) != 1 || terms[0].TopologyKey != corev1.LabelHostname || terms[0].LabelSelector.MatchLabels[dbv1.LabelInstance] != "orders" {
			t.Errorf("%+v", terms)
		}
	}
}
