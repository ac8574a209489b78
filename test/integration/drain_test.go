//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// evict asks the API server to evict a member, as kubectl drain does.
func evict(t *testing.T, cluster *dbv1.DatabaseCluster, ordinal int) error {
	t.Helper()
	return admin.SubResource("eviction").Create(t.Context(), member(cluster, ordinal), &policyv1.Eviction{})
}

// bindTo binds a member to a node, as the scheduler does.
func bindTo(t *testing.T, cluster *dbv1.DatabaseCluster, ordinal int, node string) {
	t.Helper()
	pod := member(cluster, ordinal)
	eventually(t, "the member to have a node", func() error {
		binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}
		if err := admin.SubResource("binding").Create(t.Context(), pod, binding); err != nil && !strings.Contains(err.Error(), "already assigned") {
			return err
		}
		return nil
	})
}

// stopped confirms that an evicted member has stopped, as the kubelet of its node does.
func stopped(t *testing.T, cluster *dbv1.DatabaseCluster, ordinal int) {
	t.Helper()
	if err := admin.Delete(t.Context(), member(cluster, ordinal), client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
}

// onThreeNodes creates a cluster of three members, each on its own node. The nodes exist only as objects.
func onThreeNodes(t *testing.T, ns string) (*dbv1.DatabaseCluster, []*corev1.Node) {
	t.Helper()
	nodes := make([]*corev1.Node, 3)
	for i := range nodes {
		nodes[i] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "drain-"}}
		createFor(t, nodes[i])
	}
	cluster := smallest(ns, "orders")
	cluster.Spec.Engine, cluster.Spec.Replicas = replicated(t, nil), 3
	create(t, cluster)
	awaitReady(t, cluster)
	for i, node := range nodes {
		bindTo(t, cluster, i, node.Name)
	}
	return cluster, nodes
}

// cordon sets whether pods may be scheduled on a node.
func cordon(t *testing.T, node *corev1.Node, is bool) {
	t.Helper()
	change(t, node, func(n *corev1.Node) { n.Spec.Unschedulable = is })
}

// drain drains the node of a member, as kubectl drain does, until the member is ready on it again.
func drain(t *testing.T, cluster *dbv1.DatabaseCluster, nodes []*corev1.Node, ordinal int) {
	t.Helper()
	uid := read(t, member(cluster, ordinal)).UID
	cordon(t, nodes[ordinal], true)
	eventually(t, "the member to be evicted", func() error {
		if err := evict(t, cluster, ordinal); err != nil && !strings.Contains(err.Error(), "disruption budget") {
			t.Fatalf("the eviction of orders-%d returns %v", ordinal, err)
		} else if err != nil {
			return err
		}
		return nil
	})
	stopped(t, cluster, ordinal)
	eventually(t, "another pod of the member", func() error {
		pod := member(cluster, ordinal)
		return errorIf(admin.Get(t.Context(), client.ObjectKeyFromObject(pod), pod) != nil || pod.UID == uid, "the pod is %s", pod.UID)
	})
	cordon(t, nodes[ordinal], false)
	bindTo(t, cluster, ordinal, nodes[ordinal].Name)
	awaitReady(t, cluster)
}

// terms counts how often the members of cluster orders have elected a primary.
func terms(t *testing.T, ns string) string {
	t.Helper()
	_, _, leader := rightsOf(ns)
	return read(t, leader).Annotations["term"]
}

// The nodes are cordoned and drained one after the other, that of the primary last.
func TestARollingDrainOfThreeNodesMovesThePrimaryOnce(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	startElector(t, ns)
	cluster, nodes := onThreeNodes(t, ns)
	before := terms(t, ns)
	for _, ordinal := range []int{2, 1} {
		drain(t, cluster, nodes, ordinal)
		if is := read(t, cluster).Status; is.Primary != "orders-0" || terms(t, ns) != before {
			t.Errorf("the drain of a replica moved the primary to %s", is.Primary)
		}
	}
	cordon(t, nodes[0], true)
	await(t, cluster, "pod orders-1 to be the primary", func() bool { return cluster.Status.Primary == "orders-1" })
	drain(t, cluster, nodes, 0)
	if is := read(t, cluster).Status; is.Primary != "orders-1" || before != "1" || terms(t, ns) != "2" {
		t.Errorf("the primary is %s after %s terms", is.Primary, terms(t, ns))
	}
	jobs := listed(t, ns, &batchv1.JobList{}, client.MatchingLabels{dbv1.LabelComponent: dbv1.ComponentHandOver}).Items
	if len(jobs) != 1 {
		t.Errorf("there were %d hand-overs", len(jobs))
	}
	awaitDeleted(t, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "orders.primary"}})
}

// The controller of PodDisruptionBudgets is that of Kubernetes.
func TestADrainWaitsUntilThePrimaryHasHandedOverToAMemberOnAnotherNode(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	elector := startElector(t, ns)
	cluster, nodes := onThreeNodes(t, ns)

	// The nodes of all members are cordoned: nothing can take over, so the primary may not be evicted. A replica may.
	for _, node := range nodes {
		cordon(t, node, true)
	}
	awaitTrue(t, cluster, dbv1.ConditionEvictionBlocked, dbv1.ReasonNoMemberElsewhere, "the primary orders-0")
	eventually(t, "the budget of the primary to be observed", func() error {
		err := evict(t, cluster, 0)
		if err == nil || !strings.Contains(err.Error(), "disruption budget") {
			t.Fatalf("the eviction of the primary returns %v", err)
		}
		return nil
	})
	if is := read(t, cluster).Status.Drain; is == nil || is.Node != nodes[0].Name || is.Pod != "orders-0" {
		t.Errorf("status.drain is %+v", is)
	}
	eventually(t, "a replica to be evicted", func() error { return evict(t, cluster, 1) })
	stopped(t, cluster, 1)
	awaitReady(t, cluster)
	bindTo(t, cluster, 1, nodes[1].Name)

	// One node may be used again: the primary hands over to the member there, and can be evicted then.
	cordon(t, nodes[1], false)
	await(t, cluster, "pod orders-1 to be the primary", func() bool { return cluster.Status.Primary == "orders-1" })
	if elector.primary.Load() != 1 {
		t.Errorf("the primary is %d", elector.primary.Load())
	}
	eventually(t, "the old primary to be evicted", func() error { return evict(t, cluster, 0) })
	stopped(t, cluster, 0)

	// Without cordoned nodes, one budget selects all members again.
	for _, node := range nodes {
		cordon(t, node, false)
	}
	awaitDeleted(t, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "orders.primary"}})
	one := budget(cluster)
	await(t, one, "the budget to select all members", func() bool { return len(one.Spec.Selector.MatchExpressions) == 0 })
	awaitReady(t, cluster)
}

// An operator without the right to list nodes works as one without cordoned nodes, and reports that.
func TestAnOperatorThatMayNotListNodesReportsThat(t *testing.T) {
	ns, who := ownNamespace(t), "sees-no-nodes"
	allowIn(t, ns, who, managerRole)
	role, err := shipped(managerClusterRole)
	if err != nil {
		t.Fatal(err)
	}
	role.Name, role.Rules = who, slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "nodes") })
	createFor(t, role)
	createFor(t, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: who}, RoleRef: clusterRole(who), Subjects: user(who)})

	startElector(t, ns)
	p := operator(t, kubeconfig(t, who, ""), nil, "--watch-namespace="+ns, "--transfer-image=example.test/operator:1")
	cluster := smallest(ns, "orders")
	cluster.Spec.Engine = replicated(t, nil)
	create(t, cluster)
	awaitReady(t, cluster)
	awaitCondition(t, cluster, dbv1.ConditionEvictionBlocked, metav1.ConditionFalse, dbv1.ReasonOneBudget, "may not list nodes")
	p.mustStop(t)
}
