//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func at(cluster *dbv1.DatabaseCluster, suffix string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: cluster.Namespace, Name: cluster.Name + suffix}
}

func statefulSet(cluster *dbv1.DatabaseCluster) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{ObjectMeta: at(cluster, "")}
}

func service(cluster *dbv1.DatabaseCluster) *corev1.Service {
	return &corev1.Service{ObjectMeta: at(cluster, "")}
}

func budget(cluster *dbv1.DatabaseCluster) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{ObjectMeta: at(cluster, "")}
}

func networkPolicy(cluster *dbv1.DatabaseCluster) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{ObjectMeta: at(cluster, "")}
}

func member(cluster *dbv1.DatabaseCluster, ordinal int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: at(cluster, fmt.Sprintf("-%d", ordinal))}
}

func TestTheSmallestManifestBecomesAvailable(t *testing.T) {
	parallel(t)
	cluster := started(t, nil, healthy)
	awaitTrue(t, cluster, dbv1.ConditionAvailable, dbv1.ReasonAllReplicasReady)
	awaitCondition(t, cluster, dbv1.ConditionProgressing, metav1.ConditionFalse, dbv1.ReasonUpToDate)
	awaitCondition(t, cluster, dbv1.ConditionDegraded, metav1.ConditionFalse, dbv1.ReasonMembersHealthy)
	awaitCondition(t, cluster, dbv1.ConditionStalled, metav1.ConditionFalse, dbv1.ReasonNotStalled)
	if s := cluster.Status; s.Replicas != 3 || s.ReadyReplicas != 3 || s.ObservedGeneration != cluster.Generation {
		t.Errorf("%+v", s)
	}
	headless := read(t, &corev1.Service{ObjectMeta: at(cluster, "-headless")})
	if headless.Spec.ClusterIP != corev1.ClusterIPNone || !headless.Spec.PublishNotReadyAddresses || headless.Spec.Ports[0].Name != "db" {
		t.Errorf("%+v", headless.Spec)
	}
}

// reconciles returns the number of passes of the operator.
func reconciles(t *testing.T) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for _, family := range families {
		if family.GetName() == "controller_runtime_reconcile_total" {
			for _, metric := range family.GetMetric() {
				sum += metric.GetCounter().GetValue()
			}
		}
	}
	return sum
}

func TestWatchesAloneUpdateReadyReplicas(t *testing.T) {
	parallel(t)
	cluster := started(t, nil, unlessStuck)
	pod := member(cluster, 1)
	change(t, pod, func(p *corev1.Pod) { p.Annotations = map[string]string{"test/stuck": "true"} })
	change(t, pod, func(*corev1.Pod) {})
	before := pod.DeepCopy()
	setReady(pod, corev1.ConditionFalse)
	if err := admin.Status().Patch(t.Context(), pod, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	message := awaitCondition(t, cluster, dbv1.ConditionAvailable, metav1.ConditionFalse, dbv1.ReasonReplicasNotReady).Message
	mustContain(t, message, "2 of 3 members are ready")
	if cluster.Status.ReadyReplicas != 2 {
		t.Errorf("%+v", cluster.Status)
	}
	remove(t, pod)
	awaitReady(t, cluster)
	if cluster.Status.ReadyReplicas != 3 {
		t.Errorf("%+v", cluster.Status)
	}
}

func TestAnotherBudgetThatSelectsMembersIsReported(t *testing.T) {
	parallel(t)
	cluster := ready(t, nil)
	elsewhere := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "others"}}
	elsewhere.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}}
	create(t, elsewhere)
	all := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "team"}}
	all.Spec.Selector = &metav1.LabelSelector{}
	create(t, all)
	awaitTrue(t, cluster, dbv1.ConditionEvictionBlocked, dbv1.ReasonSeveralBudgets, "others select members: team.")
	eviction := &policyv1.Eviction{}
	if err := admin.SubResource("eviction").Create(t.Context(), member(cluster, 0), eviction); err == nil || !strings.Contains(err.Error(), "more than one PodDisruptionBudget") {
		t.Errorf("the API server says %v to an eviction", err)
	}
	remove(t, all)
	awaitCondition(t, cluster, dbv1.ConditionEvictionBlocked, metav1.ConditionFalse, dbv1.ReasonOneBudget)
}

func TestDriftOnAnyObjectIsRepaired(t *testing.T) {
	parallel(t)
	cluster := started(t, withConfig("a = 1"), healthy)
	first := read(t, member(cluster, 0)).UID
	cases := map[string]struct {
		object client.Object
		spoil  func(client.Object)
		whole  func(client.Object) bool
	}{
		"a selector that selects nothing": {service(cluster), func(o client.Object) {
			o.(*corev1.Service).Spec.Selector["version"] = "2"
		}, func(o client.Object) bool { return len(o.(*corev1.Service).Spec.Selector) == 3 }},
		"another port": {service(cluster), func(o client.Object) {
			o.(*corev1.Service).Spec.Ports[0].Port = 1
		}, func(o client.Object) bool {
			ports := o.(*corev1.Service).Spec.Ports
			return len(ports) == 1 && ports[0].Port == 9000
		}},
		"a Service without its label": {service(cluster), func(o client.Object) {
			o.SetLabels(nil)
		}, func(o client.Object) bool { return o.GetLabels()[dbv1.LabelManagedBy] != "" }},
		"a ConfigMap without its label": {&configs(t, cluster)[0], func(o client.Object) {
			delete(o.GetLabels(), dbv1.LabelClusterUID)
		}, func(o client.Object) bool { return o.GetLabels()[dbv1.LabelClusterUID] == string(cluster.UID) }},
		"a budget of another kind": {budget(cluster), func(o client.Object) {
			three := intstr.FromInt32(3)
			o.(*policyv1.PodDisruptionBudget).Spec.MaxUnavailable, o.(*policyv1.PodDisruptionBudget).Spec.MinAvailable = nil, &three
		}, func(o client.Object) bool {
			spec := o.(*policyv1.PodDisruptionBudget).Spec
			return spec.MinAvailable == nil && spec.MaxUnavailable.IntValue() == 1
		}},
		"a policy that lets every namespace in": {networkPolicy(cluster), func(o client.Object) {
			o.(*networkingv1.NetworkPolicy).Spec.Ingress[0].From[0].NamespaceSelector = &metav1.LabelSelector{}
		}, func(o client.Object) bool {
			return o.(*networkingv1.NetworkPolicy).Spec.Ingress[0].From[0].NamespaceSelector == nil
		}},
		"a policy with another rule": {networkPolicy(cluster), func(o client.Object) {
			spec := &o.(*networkingv1.NetworkPolicy).Spec
			spec.Ingress = append(spec.Ingress, networkingv1.NetworkPolicyIngressRule{})
		}, func(o client.Object) bool { return len(o.(*networkingv1.NetworkPolicy).Spec.Ingress) == 2 }},
		"a policy that selects nothing": {networkPolicy(cluster), func(o client.Object) {
			o.(*networkingv1.NetworkPolicy).Spec.PodSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "none", Operator: metav1.LabelSelectorOpExists}}
		}, func(o client.Object) bool {
			return o.(*networkingv1.NetworkPolicy).Spec.PodSelector.MatchExpressions == nil
		}},
		"a StatefulSet without its label": {statefulSet(cluster), func(o client.Object) {
			delete(o.GetLabels(), dbv1.LabelClusterUID)
		}, func(o client.Object) bool { return o.GetLabels()[dbv1.LabelClusterUID] == string(cluster.UID) }},
		"a node selector that no node has": {statefulSet(cluster), func(o client.Object) {
			o.(*appsv1.StatefulSet).Spec.Template.Spec.NodeSelector = map[string]string{"no": "such"}
		}, func(o client.Object) bool { return len(o.(*appsv1.StatefulSet).Spec.Template.Spec.NodeSelector) == 0 }},
		"an extra container": {statefulSet(cluster), func(o client.Object) {
			template := &o.(*appsv1.StatefulSet).Spec.Template.Spec
			template.Containers = append(template.Containers, corev1.Container{Name: "evil", Image: "evil"})
		}, func(o client.Object) bool { return len(o.(*appsv1.StatefulSet).Spec.Template.Spec.Containers) == 1 }},
		"a Service with an external name": {service(cluster), func(o client.Object) {
			spec := &o.(*corev1.Service).Spec
			spec.Type, spec.ExternalName, spec.ClusterIP, spec.ClusterIPs = corev1.ServiceTypeExternalName, "example.test", "", nil
		}, func(o client.Object) bool {
			spec := o.(*corev1.Service).Spec
			return spec.Type == corev1.ServiceTypeClusterIP && spec.ExternalName == "" && spec.ClusterIP != ""
		}},
		"a headless Service with an external name": {&corev1.Service{ObjectMeta: at(cluster, "-headless")}, func(o client.Object) {
			spec := &o.(*corev1.Service).Spec
			spec.Type, spec.ExternalName, spec.ClusterIP, spec.ClusterIPs = corev1.ServiceTypeExternalName, "example.test", "", nil
		}, func(o client.Object) bool { return o.(*corev1.Service).Spec.ClusterIP == corev1.ClusterIPNone }},
		"a StatefulSet with fewer replicas": {statefulSet(cluster), func(o client.Object) {
			*o.(*appsv1.StatefulSet).Spec.Replicas = 2
		}, func(o client.Object) bool { return *o.(*appsv1.StatefulSet).Spec.Replicas == 3 }},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			change(t, c.object, c.spoil)
			await(t, c.object, what+" to be repaired", func() bool { return c.whole(c.object) })
		})
	}
	if read(t, member(cluster, 0)).UID != first {
		t.Error("a pod was restarted after a change by another controller")
	}
	t.Run("another first ordinal", func(t *testing.T) { // Kubernetes stops member 0 at once; it comes back
		set := statefulSet(cluster)
		change(t, set, func(s *appsv1.StatefulSet) { s.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 1} })
		await(t, set, "the first ordinal to be 0", func() bool { return set.Spec.Ordinals == nil || set.Spec.Ordinals.Start == 0 })
		awaitReady(t, cluster)
	})
	for _, object := range []client.Object{service(cluster), budget(cluster), networkPolicy(cluster), statefulSet(cluster), &corev1.Service{ObjectMeta: at(cluster, "-headless")}} {
		t.Run(fmt.Sprintf("deleted %T %s", object, object.GetName()), func(t *testing.T) {
			uid := read(t, object).GetUID()
			remove(t, object)
			await(t, object, "a new object", func() bool { return object.GetUID() != uid })
		})
	}
	awaitReady(t, cluster)
}

func TestFieldsOfOtherManagersAreKept(t *testing.T) {
	parallel(t)
	cluster := started(t, func(c *dbv1.DatabaseCluster) {
		c.Spec.Service.Annotations = map[string]string{"ours": "1", "gone": "1"}
	}, healthy)
	change(t, service(cluster), func(s *corev1.Service) { s.Annotations["theirs"] = "1" })
	change(t, cluster, func(c *dbv1.DatabaseCluster) { delete(c.Spec.Service.Annotations, "gone") })
	s := service(cluster)
	await(t, s, "the annotation removed from the spec to be removed from the Service", func() bool {
		return s.Annotations["ours"] == "1" && s.Annotations["theirs"] == "1" && s.Annotations["gone"] == ""
	})
}

func TestAnObjectOfAnotherOwnerIsNeverChanged(t *testing.T) {
	parallel(t)
	for _, name := range []string{"orders", "orders-headless"} {
		t.Run("Service "+name, func(t *testing.T) {
			cluster := smallest(namespace(t), "orders")
			foreign := &corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: name},
				Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": "theirs"}, Ports: []corev1.ServicePort{{Port: 80}}},
			}
			create(t, foreign)
			version := read(t, foreign).ResourceVersion
			create(t, cluster)
			kubelet(t, cluster.Namespace, healthy)
			awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonNameConflict, "Service "+name, "the operator does not change it")
			if read(t, foreign).ResourceVersion != version {
				t.Errorf("the operator wrote to the Service: %+v", foreign)
			}
		})
	}
}

func TestABadImageAffectsOneMemberAtMostAndACorrectedOneRecovers(t *testing.T) {
	parallel(t)
	cluster := created(t, nil)
	const bad = "example.test/database:bad"
	kubelet(t, cluster.Namespace, broken(bad))
	awaitReady(t, cluster)
	uids := map[int]any{}
	for ordinal := range 3 {
		uids[ordinal] = read(t, member(cluster, ordinal)).UID
	}
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Image = bad })
	awaitTrue(t, cluster, dbv1.ConditionDegraded, dbv1.ReasonMemberFailing, "pod orders-2", "image pull failed: no such image")
	time.Sleep(time.Second)
	for ordinal := range 2 {
		if read(t, member(cluster, ordinal)).UID != uids[ordinal] {
			t.Errorf("pod orders-%d was restarted although orders-2 is down", ordinal)
		}
	}
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Image = "example.test/database:2" })
	awaitReady(t, cluster)
	for ordinal := range 3 {
		if image := read(t, member(cluster, ordinal)).Spec.Containers[0].Image; image != "example.test/database:2" {
			t.Errorf("pod orders-%d has image %s", ordinal, image)
		}
	}
}

func TestACrashingCommandAffectsOneMemberAtMostEvenWithoutAProbe(t *testing.T) {
	parallel(t)
	cluster := started(t, nil, func(pod *corev1.Pod) {
		healthy(pod)
		if len(pod.Spec.Containers[0].Command) > 0 { // ready for an instant between two crashes
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name:                 "database",
				State:                corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}},
			}}
			if time.Now().Second()%2 == 0 {
				setReady(pod, corev1.ConditionFalse)
			}
		}
	})
	second := read(t, member(cluster, 1)).UID
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Container.Command = []string{"crash"} })
	awaitTrue(t, cluster, dbv1.ConditionDegraded, dbv1.ReasonMemberFailing, "pod orders-2 container database: exited with code 1 (Error)")
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if read(t, member(cluster, 1)).UID != second {
			t.Fatal("orders-1 was restarted although orders-2 keeps crashing")
		}
		if !meta.IsStatusConditionTrue(read(t, cluster).Status.Conditions, dbv1.ConditionDegraded) {
			t.Fatal("Degraded became False between two crashes")
		}
	}
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Container.Command = nil })
	awaitReady(t, cluster)
}

func TestTheScaleSubresourceScalesInOneMemberAtATime(t *testing.T) {
	parallel(t)
	cluster := started(t, nil, healthy)
	for _, replicas := range []int32{5, 1, 2} {
		scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
		if err := admin.SubResource("scale").Update(t.Context(), cluster, client.WithSubResourceBody(scale)); err != nil {
			t.Fatal(err)
		}
		eventually(t, fmt.Sprintf("%d members", replicas), func() error {
			read(t, cluster)
			pods := &corev1.PodList{}
			if err := admin.List(t.Context(), pods, client.InNamespace(cluster.Namespace)); err != nil {
				return err
			}
			s := cluster.Status
			return errorIf(len(pods.Items) != int(replicas) || s.Replicas != replicas || s.ReadyReplicas != replicas || s.ObservedGeneration != cluster.Generation,
				"%d pods, %+v", len(pods.Items), s)
		})
	}
	mustHaveClaims(t, cluster, 5)
}

func TestARecreatedClusterAdoptsOrphanedMembers(t *testing.T) {
	parallel(t)
	cluster := started(t, nil, healthy)
	remove(t, cluster, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	awaitDeleted(t, cluster)
	again := smallest(cluster.Namespace, cluster.Name)
	create(t, again)
	awaitTrue(t, again, dbv1.ConditionStalled, dbv1.ReasonNameConflict)

	// The commands of docs/deletion.md, for a cluster without an engine, a connection Secret and TLS.
	for _, object := range []client.Object{statefulSet(cluster), service(cluster), &corev1.Service{ObjectMeta: at(cluster, "-headless")}, budget(cluster), networkPolicy(cluster)} {
		remove(t, object, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	}
	await(t, again, "the new cluster to adopt the pods", func() bool { return again.Status.Replicas == 3 })
	awaitReady(t, again)
}
