//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

const roleLabel = "database.dbcluster.io/role"

// labelsOf are the labels of the members of a cluster.
func labelsOf(cluster string) map[string]string {
	return map[string]string{
		dbv1.LabelName: dbv1.LabelNameValue, dbv1.LabelInstance: cluster, dbv1.LabelComponent: dbv1.ComponentDatabase,
		dbv1.LabelManagedBy: dbv1.LabelManagedByValue, dbv1.LabelClusterUID: "0a1b2c3d", "team": "shop",
	}
}

// memberPod creates the pod of a member.
func memberPod(t *testing.T, ns, name string, annotations map[string]string) *corev1.Pod {
	t.Helper()
	yes, no := true, false
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: labelsOf("orders"), Annotations: annotations, Finalizers: []string{"test/finalizer"}},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken: &no,
			SecurityContext:              &corev1.PodSecurityContext{RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{Name: "database", Image: "example.test/database:1", SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}}},
		},
	}
	create(t, pod)
	return pod
}

// membersClient returns a namespace and a client of the members of cluster orders there. They may do more than in the shipped Role, so that only the
// policies refuse.
func membersClient(t *testing.T) (ns string, members client.Client) {
	t.Helper()
	ns = namespace(t)
	name := "system:serviceaccount:" + ns + ":orders"
	grantIn(t, ns, "orders", name, []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods", "configmaps"}, Verbs: []string{"*"}}})
	members = as(t, name)
	eventually(t, "the members to have the rights", func() error { return members.List(t.Context(), &corev1.PodList{}, client.InNamespace(ns)) })
	return ns, members
}

// metadataPatch is a merge patch of the metadata.
func metadataPatch(format string, args ...any) string {
	return `{"metadata":{` + fmt.Sprintf(format, args...) + `}}`
}

// patroniStatus is what a member writes about itself.
func patroniStatus(role string) string { return fmt.Sprintf(`{"role":%q}`, role) }

// Patroni sends a strategic merge patch with the role and its own state.
func TestAMemberMayChangeItsRoleAndItsStatusAnnotation(t *testing.T) {
	parallel(t)
	ns, members := membersClient(t)
	pod := memberPod(t, ns, "orders-1", map[string]string{dbv1.AnnotationRoleLabel: roleLabel, "status": "{}"})
	inForce(t, func() error { return patched(t, members, pod, metadataPatch(`"labels":{"team":"bank"}`)) })
	for _, role := range []string{"replica", "primary", "demoted"} {
		patch := metadataPatch(`"namespace":%q,"name":%q,"labels":{%q:%q},"annotations":{"status":%q}`, ns, pod.Name, roleLabel, role, patroniStatus(role))
		for _, kind := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType} {
			if err := members.Patch(t.Context(), pod, client.RawPatch(kind, []byte(patch))); err != nil {
				t.Fatalf("%s with %s: %v", role, kind, err)
			}
		}
		if pod.Labels[roleLabel] != role || pod.Annotations["status"] != patroniStatus(role) {
			t.Errorf("%v %v", pod.Labels, pod.Annotations)
		}
	}
	if err := patched(t, members, pod, metadataPatch(`"labels":{%q:null},"annotations":{"status":null}`, roleLabel)); err != nil {
		t.Errorf("a member could not remove both: %v", err)
	}
}

func TestAMemberMayChangeNothingElseOfAPod(t *testing.T) {
	parallel(t)
	ns, members := membersClient(t)
	pod := memberPod(t, ns, "orders-1", map[string]string{dbv1.AnnotationRoleLabel: roleLabel, "status": "{}", "team": "shop"})
	inForce(t, func() error { return patched(t, members, pod, metadataPatch(`"labels":{"team":"bank"}`)) })
	allowed := "members of DatabaseCluster " + ns + "/orders may change only the label database.dbcluster.io/role and the annotation status of a pod, and the request changes "
	for what, evasion := range map[string]struct{ patch, refusal string }{
		"another label":                                {metadataPatch(`"labels":{"team":"bank"}`), "another label of pod orders-1"},
		"another label beside the role":                {metadataPatch(`"labels":{%q:"primary","team":"bank"}`, roleLabel), "another label of pod orders-1"},
		"a label that is added":                        {metadataPatch(`"labels":{"app":"payments"}`), "another label of pod orders-1"},
		"a label that is removed":                      {metadataPatch(`"labels":{"team":null}`), "another label of pod orders-1"},
		"all labels":                                   {metadataPatch(`"labels":null`), "another label of pod orders-1"},
		"the label by which the policy finds the pod":  {metadataPatch(`"labels":{"app.kubernetes.io/name":null}`), "another label of pod orders-1"},
		"the label by which the policy knows the user": {metadataPatch(`"labels":{"app.kubernetes.io/instance":"bills","team":"bank"}`), "another label of pod orders-1"},
		"the label of the cluster":                     {metadataPatch(`"labels":{"database.dbcluster.io/cluster-uid":"4e5f6071"}`), "another label of pod orders-1"},
		"the annotation that names the label":          {metadataPatch(`"annotations":{%q:"team"}`, dbv1.AnnotationRoleLabel), "another annotation of pod orders-1"},
		"that annotation and the label": {
			metadataPatch(`"labels":{"team":"bank"},"annotations":{%q:"team"}`, dbv1.AnnotationRoleLabel), "another label of pod orders-1",
		},
		"another annotation":             {metadataPatch(`"annotations":{"team":"bank"}`), "another annotation of pod orders-1"},
		"an annotation that is added":    {metadataPatch(`"annotations":{"sidecar.istio.io/inject":"true"}`), "another annotation of pod orders-1"},
		"an annotation that is removed":  {metadataPatch(`"annotations":{"team":null}`), "another annotation of pod orders-1"},
		"all annotations":                {metadataPatch(`"annotations":null`), "another annotation of pod orders-1"},
		"an owner, which deletes it":     {metadataPatch(`"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"gone","uid":"0a"}]`), "owner references or finalizers of pod orders-1"},
		"no finalizer":                   {metadataPatch(`"finalizers":null`), "owner references or finalizers of pod orders-1"},
		"another finalizer":              {metadataPatch(`"finalizers":["test/finalizer","test/another"]`), "owner references or finalizers of pod orders-1"},
		"the generated name":             {metadataPatch(`"generateName":"x"`), "owner references or finalizers of pod orders-1"},
		"the image":                      {`{"spec":{"containers":[{"name":"database","image":"example.test/evil:1"}]}}`, "the spec of pod orders-1"},
		"the deadline, which ends it":    {`{"spec":{"activeDeadlineSeconds":1}}`, "the spec of pod orders-1"},
		"the image beside a good status": {`{"metadata":{"annotations":{"status":"{}"}},"spec":{"containers":[{"name":"database","image":"example.test/evil:1"}]}}`, "the spec of pod orders-1"},
	} {
		t.Run(what, func(t *testing.T) {
			copied := pod.DeepCopy()
			err := members.Patch(t.Context(), copied, client.RawPatch(types.StrategicMergePatchType, []byte(evasion.patch)), client.DryRunAll)
			mustBeForbidden(t, what, err, allowed+evasion.refusal)
		})
	}
	replaced := pod.DeepCopy()
	replaced.Labels["team"] = "bank"
	mustBeForbidden(t, "an update of the whole pod", members.Update(t.Context(), replaced, client.DryRunAll), "another label of pod orders-1")
	tolerant := pod.DeepCopy()
	tolerant.Spec.Tolerations = append(tolerant.Spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists})
	mustBeForbidden(t, "a toleration", members.Update(t.Context(), tolerant, client.DryRunAll), "the spec of pod orders-1")
	applied := fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":%q,"name":"orders-1","labels":{"team":"bank"}}}`, ns)
	err := members.Patch(t.Context(), pod.DeepCopy(), client.RawPatch(types.ApplyPatchType, []byte(applied)), client.DryRunAll, client.ForceOwnership, client.FieldOwner("member"))
	mustBeForbidden(t, "an apply", err, "another label of pod orders-1")
}

// The engine has ConfigMaps, but no roles.
func TestAMemberWithoutRolesMayChangeNoLabel(t *testing.T) {
	parallel(t)
	ns, members := membersClient(t)
	pod := memberPod(t, ns, "orders-1", nil)
	inForce(t, func() error { return patched(t, members, pod, metadataPatch(`"labels":{"team":"bank"}`)) })
	mustBeForbidden(t, "a label", patched(t, members, pod, metadataPatch(`"labels":{%q:"primary"}`, roleLabel)),
		"members of DatabaseCluster "+ns+"/orders may change only the annotation status of a pod, and the request changes another label of pod orders-1")
	if err := patched(t, members, pod, metadataPatch(`"annotations":{"status":"{}"}`)); err != nil {
		t.Error(err)
	}
}

func TestThePolicyOnPodsAppliesToMembersOnly(t *testing.T) {
	parallel(t)
	ns, members := membersClient(t)
	ours := memberPod(t, ns, "orders-1", nil)
	inForce(t, func() error { return patched(t, members, ours, metadataPatch(`"labels":{"team":"bank"}`)) })
	for _, other := range []string{"system:serviceaccount:" + ns + ":operator", "system:serviceaccount:another:orders", "orders"} {
		grantIn(t, ns, "of-"+other[strings.LastIndex(other, ":")+1:]+fmt.Sprint(len(other)), other, []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"*"}}})
		user := as(t, other)
		eventually(t, other+" to change a label", func() error { return patched(t, user, ours, metadataPatch(`"labels":{"team":"bank"}`)) })
	}
	foreign := memberPod(t, ns, "orders-2", nil)
	change(t, foreign, func(pod *corev1.Pod) { delete(pod.Labels, dbv1.LabelName) })
	if err := patched(t, members, foreign, metadataPatch(`"labels":{"team":"bank"}`)); err != nil {
		t.Errorf("the policy applies to a pod that is no member: %v", err)
	}
}

// A member that could change the labels of a ConfigMap could hide it from the operator, which deletes it with the cluster.
func TestAMemberMayChangeOnlyWhatItKeepsInAConfigMap(t *testing.T) {
	parallel(t)
	ns, members := membersClient(t)
	labels := labelsOf("orders")
	delete(labels, dbv1.LabelManagedBy)
	agreement := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "orders-leader", Labels: labels}}
	create(t, agreement)
	inForce(t, func() error { return patched(t, members, agreement, metadataPatch(`"labels":{"team":"bank"}`)) })
	same := fmt.Sprintf(`"labels":{%q:"databasecluster",%q:"orders",%q:"database"}`, dbv1.LabelName, dbv1.LabelInstance, dbv1.LabelComponent)
	for _, patch := range []string{metadataPatch(`"annotations":{"leader":"orders-1","ttl":"30"},%s`, same), `{"data":{"leader":"orders-1"}}`, `{"binaryData":{"leader":"AA=="}}`} {
		if err := patched(t, members, agreement, patch); err != nil {
			t.Errorf("%s: %v", patch, err)
		}
	}
	for _, patch := range []string{
		metadataPatch(`"labels":{"team":"bank"}`), metadataPatch(`"labels":null`), metadataPatch(`"labels":{%q:null}`, dbv1.LabelClusterUID),
		metadataPatch(`"labels":{%q:"databasecluster-operator"}`, dbv1.LabelManagedBy), metadataPatch(`"finalizers":["test/finalizer"]`),
		metadataPatch(`"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"gone","uid":"0a"}]`), `{"immutable":true}`,
	} {
		mustBeForbidden(t, patch, patched(t, members, agreement, patch),
			"members of DatabaseCluster "+ns+"/orders may change only the annotations and the data of ConfigMap orders-leader")
	}
}

// The API server limits the cost of a policy. A request that exceeds the limit is refused.
func TestThePolicyOnPodsHasABudgetForManyLabels(t *testing.T) {
	parallel(t)
	ns, members := membersClient(t)
	pod := memberPod(t, ns, "orders-1", map[string]string{dbv1.AnnotationRoleLabel: roleLabel})
	inForce(t, func() error { return patched(t, members, pod, metadataPatch(`"labels":{"team":"bank"}`)) })
	change(t, pod, func(pod *corev1.Pod) {
		for i := range 500 {
			pod.Labels[fmt.Sprintf("test/label-%d", i)], pod.Annotations[fmt.Sprintf("test/annotation-%d", i)] = "x", strings.Repeat("x", 400)
		}
	})
	if err := patched(t, members, pod, metadataPatch(`"labels":{%q:"primary"},"annotations":{"status":"{}"}`, roleLabel)); err != nil {
		t.Error(err)
	}
}
