//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
		"another annotation":                           {metadataPatch(`"annotations":{"team":"bank"}`), "another annotation of pod orders-1"},
		"an annotation that is added":                  {metadataPatch(`"annotations":{"sidecar.istio.io/inject":"true"}`), "another annotation of pod orders-1"},
		"an annotation that is removed":                {metadataPatch(`"annotations":{"team":null}`), "another annotation of pod orders-1"},
		"all annotations":                              {metadataPatch(`"annotations":null`), "another annotation of pod orders-1"},
		"an owner, which deletes it":                   {metadataPatch(`"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"gone","uid":"0a"}]`), "owner references or finalizers of pod orders-1"},
		"no finalizer":                                 {metadataPatch(`"finalizers":null`), "owner references or finalizers of pod orders-1"},
		"another finalizer":                            {metadataPatch(`"finalizers":["test/finalizer","test/another"]`), "owner references or finalizers of pod orders-1"},
		"the generated name":                           {metadataPatch(`"generateName":"x"`), "owner references or finalizers of pod orders-1"},
		"the image":                                    {`{"spec":{"containers":[{"name":"database","image":"example.test/evil:1"}]}}`, "the spec of pod orders-1"},
		"the deadline, which ends it":                  {`{"spec":{"activeDeadlineSeconds":1}}`, "the spec of pod orders-1"},
		"a label with managed fields that are reset":   {metadataPatch(`"labels":{"app":"payments"},"managedFields":[{}]`), "another label of pod orders-1"},
		"a label with managed fields that are empty":   {metadataPatch(`"labels":{"app":"payments"},"managedFields":[]`), "another label of pod orders-1"},
		"a label with managed fields that own nothing": {metadataPatch(`"labels":{"app":"payments"},"managedFields":[%s]`, forged("v1")), "another label of pod orders-1"},
		"a label with managed fields of no version":    {metadataPatch(`"labels":{"app":"payments"},"managedFields":[%s]`, forged("a/b/c")), "another label of pod orders-1"},
		"a label with managed fields of another version": {
			metadataPatch(`"labels":{"app":"payments"},"managedFields":[%s]`, forged("example.test/v1")), "another label of pod orders-1",
		},
		"an annotation with managed fields of no version": {
			metadataPatch(`"annotations":{"app":"payments"},"managedFields":[%s]`, forged("a/b/c")), "another annotation of pod orders-1",
		},
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

// forged is an entry of managedFields that a client sends to own fewer fields than it sets.
func forged(version string) string {
	return fmt.Sprintf(`{"manager":"kube-controller-manager","operation":"Update","apiVersion":%q,"time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:team":{}}}}}`, version)
}

// An earlier request, which changes only managedFields, does not help.
func TestAMemberThatForgesManagedFieldsFirstMayStillAddNoLabel(t *testing.T) {
	parallel(t)
	ns, members := membersClient(t)
	for name, entries := range map[string]string{"orders-1": `[{}]`, "orders-2": "[" + forged("a/b/c") + "]", "orders-3": "[" + forged("v1") + "]", "orders-4": "[" + forged("example.test/v1") + "]"} {
		pod := memberPod(t, ns, name, map[string]string{dbv1.AnnotationRoleLabel: roleLabel})
		inForce(t, func() error { return patched(t, members, pod, metadataPatch(`"labels":{"team":"bank"}`)) })
		if err := members.Patch(t.Context(), pod, client.RawPatch(types.MergePatchType, []byte(metadataPatch(`"managedFields":%s`, entries)))); err != nil {
			t.Logf("%s: %v", name, err)
		}
		for _, patch := range []string{`"labels":{"app":"payments"}`, `"labels":{"team":"bank"}`, `"annotations":{"app":"payments"}`} {
			mustBeForbidden(t, name+" "+patch, patched(t, members, pod, metadataPatch("%s", patch)), "another")
			mustBeForbidden(t, name+" "+patch, patched(t, members, pod, metadataPatch(`"managedFields":[{}],%s`, patch)), "another")
		}
		tolerant := pod.DeepCopy()
		tolerant.Spec.Tolerations = append(tolerant.Spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists})
		mustBeForbidden(t, name+" a toleration", members.Update(t.Context(), tolerant, client.DryRunAll), "the spec of pod "+name)
	}
}

// mutating creates a policy that changes objects in a namespace, as Kyverno and tools for costs do. It has no condition, so it also
// applies to updates.
func mutating(t *testing.T, ns, resource string, mutations ...string) {
	t.Helper()
	all := make([]any, 0, len(mutations))
	for _, expression := range mutations {
		all = append(all, map[string]any{"patchType": "JSONPatch", "jsonPatch": map[string]any{"expression": expression}})
	}
	name := "test-" + resource + "-" + ns
	for kind, spec := range map[string]map[string]any{
		"MutatingAdmissionPolicy": {
			"failurePolicy": "Fail", "reinvocationPolicy": "Never", "mutations": all,
			"matchConstraints": map[string]any{
				"namespaceSelector": map[string]any{"matchLabels": map[string]any{corev1.LabelMetadataName: ns}},
				"resourceRules": []any{map[string]any{
					"apiGroups": []any{""}, "apiVersions": []any{"*"}, "operations": []any{"CREATE", "UPDATE"}, "resources": []any{resource},
				}},
			},
		},
		"MutatingAdmissionPolicyBinding": {"policyName": name},
	} {
		object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		object.SetAPIVersion("admissionregistration.k8s.io/v1")
		object.SetKind(kind)
		object.SetName(name)
		create(t, object)
		t.Cleanup(func() { _ = admin.Delete(context.WithoutCancel(t.Context()), object) })
	}
}

const (
	costLabel = `[JSONPatch{op:"add", path:"/metadata/labels/cost-center", value: "shop"}]`
	// changingAnnotation has another value with each request.
	changingAnnotation = `[JSONPatch{op:"add", path:"/metadata/annotations/last-seen", value: object.metadata.?resourceVersion.orValue("") + string(object.metadata.?labels[?"database.dbcluster.io/role"].orValue(""))}]`
	spotToleration     = `object.spec.tolerations.exists(t, t.?key.orValue("") == "spot") ? [] :
		[JSONPatch{op:"add", path:"/spec/tolerations/-", value: Object.spec.tolerations{key: "spot", operator: "Exists"}}]`
)

// A policy that was installed after the members changes each of their pods with the member's next write. If the API server refused that
// write, the new primary would have no label, and clients no endpoint.
func TestAMutatingPolicyDoesNotPreventAMemberFromChangingItsRole(t *testing.T) {
	parallel(t)
	ns, members := membersClient(t)
	pod := memberPod(t, ns, "orders-1", map[string]string{dbv1.AnnotationRoleLabel: roleLabel, "status": "{}"})
	inForce(t, func() error { return patched(t, members, pod, metadataPatch(`"labels":{"team":"bank"}`)) })
	mutating(t, ns, "pods", costLabel, changingAnnotation, spotToleration)
	eventually(t, "the mutating policy to be in force", func() error {
		copied := pod.DeepCopy()
		err := admin.Patch(t.Context(), copied, client.RawPatch(types.MergePatchType, []byte(metadataPatch(`"annotations":{"test":"test"}`))), client.DryRunAll)
		return errorIf(err != nil || copied.Labels["cost-center"] == "", "%v %v", err, copied.Labels)
	})
	for i, role := range []string{"primary", "demoted", "replica"} {
		patch := metadataPatch(`"labels":{%q:%q},"annotations":{"status":%q}`, roleLabel, role, patroniStatus(role))
		kind := []types.PatchType{types.StrategicMergePatchType, types.MergePatchType}[i%2]
		eventually(t, role, func() error { return members.Patch(t.Context(), pod, client.RawPatch(kind, []byte(patch))) })
		if pod.Labels[roleLabel] != role || pod.Labels["cost-center"] != "shop" || pod.Annotations["last-seen"] == "" || !tolerates(pod, "spot") {
			t.Errorf("%v %v %v", pod.Labels, pod.Annotations, pod.Spec.Tolerations)
		}
	}
	for _, patch := range []string{`"labels":{"cost-center":"bank"}`, `"labels":{"cost-center":null}`, `"labels":{"app":"payments"}`, `"annotations":{"last-seen":"x","app":"x"}`} {
		if err := patched(t, members, pod, metadataPatch("%s", patch)); err == nil && !strings.Contains(patch, "cost-center") {
			t.Errorf("a member could send %s", patch)
		}
	}
	other := memberPod(t, ns, "orders-2", map[string]string{dbv1.AnnotationRoleLabel: roleLabel})
	mustBeForbidden(t, "a label of the policy, and another", patched(t, members, other, metadataPatch(`"labels":{"cost-center":"bank","app":"payments"}`)), "another label of pod orders-2")
}

func tolerates(pod *corev1.Pod, key string) bool {
	return slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == key })
}

// Members keep the lock of the primary in a ConfigMap.
func TestAMutatingPolicyDoesNotPreventAMemberFromKeepingItsAgreement(t *testing.T) {
	parallel(t)
	ns, members := membersClient(t)
	agreement := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "orders-leader", Labels: labelsOf("orders")}}
	create(t, agreement)
	inForce(t, func() error { return patched(t, members, agreement, metadataPatch(`"labels":{"team":"bank"}`)) })
	mutating(t, ns, "configmaps", costLabel)
	eventually(t, "the mutating policy to be in force", func() error {
		copied := agreement.DeepCopy()
		err := admin.Patch(t.Context(), copied, client.RawPatch(types.MergePatchType, []byte(`{"data":{"test":"test"}}`)), client.DryRunAll)
		return errorIf(err != nil || copied.Labels["cost-center"] == "", "%v %v", err, copied.Labels)
	})
	for _, leader := range []string{"orders-1", "orders-2"} {
		patch := metadataPatch(`"annotations":{"leader":%q}`, leader)
		eventually(t, leader, func() error {
			return members.Patch(t.Context(), agreement, client.RawPatch(types.MergePatchType, []byte(patch)))
		})
	}
	if agreement.Labels["cost-center"] != "shop" {
		t.Error(agreement.Labels)
	}
	mustBeForbidden(t, "a label", patched(t, members, agreement, metadataPatch(`"labels":{"app":"payments"}`)), "may change only the annotations and the data of ConfigMap orders-leader")
	mustBeForbidden(t, "a label with managed fields that are reset", patched(t, members, agreement, metadataPatch(`"labels":{"app":"payments"},"managedFields":[{}]`)), "orders-leader")
	mustBeForbidden(t, "a label with managed fields of no version", patched(t, members, agreement, metadataPatch(`"labels":{"app":"payments"},"managedFields":[%s]`, forged("a/b/c"))), "orders-leader")
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
