//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// autoscaled are manifests without spec.replicas, and the default of that field. No operator reconciles them: the cluster is paused, and
// the companion has no cluster.
var autoscaled = map[string]struct {
	manifest string
	standard int64
}{
	"DatabaseCluster": {`
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata: {name: orders}
spec: {image: "example.test/database:1", storage: {size: 1Gi}, paused: true}
`, 1},
	"DatabaseCompanion": {`
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCompanion
metadata: {name: orders}
spec: {image: "example.test/web:1", port: 8080, clusterRef: {name: missing}}
`, 2},
}

// parsed is a manifest in a namespace, with a version of its content and spec.replicas; 0 for none.
func parsed(t *testing.T, ns, manifest, version string, replicas int64) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(manifest), &object.Object); err != nil {
		t.Fatal(err)
	}
	object.SetNamespace(ns)
	object.SetLabels(map[string]string{"version": version})
	if replicas > 0 {
		if err := unstructured.SetNestedField(object.Object, replicas, "spec", "replicas"); err != nil {
			t.Fatal(err)
		}
	}
	return object
}

func applyAs(t *testing.T, owner string, object *unstructured.Unstructured, options ...client.ApplyOption) {
	t.Helper()
	options = append(options, client.FieldOwner(owner))
	if err := admin.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object.DeepCopy()), options...); err != nil {
		t.Fatal(err)
	}
}

// scaleTo is what an autoscaler does.
func scaleTo(t *testing.T, object client.Object, replicas int32) error {
	t.Helper()
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	return admin.SubResource("scale").Update(t.Context(), object, client.WithSubResourceBody(scale), client.FieldOwner("kube-controller-manager"))
}

func mustHaveReplicas(t *testing.T, object *unstructured.Unstructured, want int64, when string) {
	t.Helper()
	latest := object.DeepCopy()
	if got, _, _ := unstructured.NestedInt64(read(t, latest).Object, "spec", "replicas"); got != want {
		t.Errorf("spec.replicas is %d %s, want %d", got, when, want)
	}
}

// GitOps tools apply either way.
var appliers = map[string]func(t *testing.T, object *unstructured.Unstructured){
	"kubectl apply --server-side": func(t *testing.T, object *unstructured.Unstructured) { applyAs(t, "gitops", object) },
	"kubectl apply": func(t *testing.T, object *unstructured.Unstructured) {
		if output, err := kubectl(t, "", "-n "+object.GetNamespace(), "apply -f", manifestFile(t, object)); err != nil {
			t.Fatal(err, output)
		}
	},
}

func TestAnApplyWithoutReplicasKeepsThoseOfAnAutoscaler(t *testing.T) {
	parallel(t)
	for kind, row := range autoscaled {
		for tool, apply := range appliers {
			t.Run(kind+" by "+tool, func(t *testing.T) {
				ns := namespace(t)
				object := parsed(t, ns, row.manifest, "1", 0)
				apply(t, object)
				mustHaveReplicas(t, object, row.standard, "after the first apply")
				if err := scaleTo(t, object.DeepCopy(), 4); err != nil {
					t.Fatal(err)
				}
				apply(t, parsed(t, ns, row.manifest, "2", 0))
				mustHaveReplicas(t, object, 4, "after an apply of a manifest without it")
			})
		}
	}
}

// The way in docs/gitops.md, for a manifest that had the field.
func TestAManifestGivesReplicasAwayWithoutAnotherNumberOfMembers(t *testing.T) {
	parallel(t)
	for kind, row := range autoscaled {
		t.Run(kind, func(t *testing.T) {
			ns := namespace(t)
			object := parsed(t, ns, row.manifest, "1", 3)
			applyAs(t, "gitops", object)
			owner := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(3)}}}
			owner.SetGroupVersionKind(object.GroupVersionKind())
			owner.SetNamespace(ns)
			owner.SetName(object.GetName())
			applyAs(t, "autoscaler", owner)
			applyAs(t, "gitops", parsed(t, ns, row.manifest, "2", 0))
			mustHaveReplicas(t, object, 3, "after the manifest no longer has it")
		})
	}
}

func autoscaler(object client.Object, kind string, lowest int32) *autoscalingv2.HorizontalPodAutoscaler {
	hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName()}}
	hpa.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{APIVersion: dbv1.GroupVersion.String(), Kind: kind, Name: object.GetName()}
	hpa.Spec.MinReplicas, hpa.Spec.MaxReplicas = &lowest, 12
	return hpa
}

// The autoscaler is that of Kubernetes.
func TestAnAutoscalerReportsANumberThatTheAPIServerRefuses(t *testing.T) {
	parallel(t)
	cluster := started(t, nil, healthy)
	hpa := autoscaler(cluster, "DatabaseCluster", 10)
	create(t, hpa)
	await(t, hpa, "the autoscaler to report the bound", func() bool {
		return slices.ContainsFunc(hpa.Status.Conditions, func(c autoscalingv2.HorizontalPodAutoscalerCondition) bool {
			return c.Type == autoscalingv2.AbleToScale && c.Status == corev1.ConditionFalse &&
				containsAll(c.Message, "spec.replicas in body should be less than or equal to 9")
		})
	})
	if err := scaleTo(t, cluster.DeepCopy(), 0); err == nil || !containsAll(err.Error(), "spec.replicas in body should be greater than or equal to 1") {
		t.Errorf("a scale to 0: %v", err)
	}
	change(t, hpa, func(h *autoscalingv2.HorizontalPodAutoscaler) { h.Spec.MinReplicas = new(int32(4)) })
	await(t, cluster, "four members", func() bool { return cluster.Spec.Replicas == 4 && cluster.Status.ReadyReplicas == 4 })
}

func TestACompanionFollowsAnAutoscaler(t *testing.T) {
	parallel(t)
	cluster := started(t, nil, healthy)
	web := companionOf(cluster, "web")
	web.Spec.Image, web.Spec.Port, web.Spec.Connection.Form = "web:1", 8080, dbv1.ConnectionNone
	create(t, web)
	create(t, autoscaler(web, "DatabaseCompanion", 5))
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: "web"}}
	eventually(t, "five pods", func() error {
		err := admin.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment)
		return errorIf(err != nil || *deployment.Spec.Replicas != 5, "%v: %v", err, deployment.Spec.Replicas)
	})
}

func TestAnAutoscalerCannotLeaveTheRangeOfTheEngine(t *testing.T) {
	parallel(t)
	engine := replicated(t, func(e *dbv1.DatabaseEngineSpec) { e.Replicas = dbv1.EngineReplicas{Min: 3, Max: 5} })
	cluster := created(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine })
	startElector(t, cluster.Namespace)
	awaitReady(t, cluster)
	for _, replicas := range []int32{2, 7} {
		if err := scaleTo(t, cluster.DeepCopy(), replicas); err != nil {
			t.Fatal(err)
		}
		awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonInvalidReplicas,
			fmt.Sprintf("spec.replicas is %d, but DatabaseEngine %s allows 3 to 5 members: set spec.replicas to a number in this range", replicas, engine))
		if pods := listed(t, cluster.Namespace, &corev1.PodList{}, client.MatchingLabels{dbv1.LabelComponent: dbv1.ComponentDatabase}).Items; len(pods) != 3 {
			t.Errorf("%d members run", len(pods))
		}
	}
	if err := scaleTo(t, cluster.DeepCopy(), 4); err != nil {
		t.Fatal(err)
	}
	awaitReady(t, cluster)
}

// An autoscaler divides by the pods that the selector finds.
func TestTheSelectorForAutoscalersFindsTheMembersAloneAndStaysWhileHibernated(t *testing.T) {
	parallel(t)
	engine := accompanied(t)
	cluster := started(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine }, healthy)
	pool := companionOf(cluster, "pool")
	pool.Spec.Companion = "pooler"
	create(t, pool)
	awaitCompanion(t, pool, dbv1.ConditionReady, metav1.ConditionTrue, dbv1.ReasonReady)

	scale := &autoscalingv1.Scale{}
	found := func(object client.Object) (names []string) {
		t.Helper()
		if err := admin.SubResource("scale").Get(t.Context(), object, scale); err != nil {
			t.Fatal(err)
		}
		selector, err := labels.Parse(scale.Status.Selector)
		if err != nil || selector.Empty() {
			t.Fatalf("selector %q: %v", scale.Status.Selector, err)
		}
		pods := &corev1.PodList{}
		if err := admin.List(t.Context(), pods, client.InNamespace(object.GetNamespace()), client.MatchingLabelsSelector{Selector: selector}); err != nil {
			t.Fatal(err)
		}
		for _, pod := range pods.Items {
			names = append(names, pod.Name)
		}
		return names
	}
	if got := found(cluster); !slices.Equal(got, []string{"orders-0", "orders-1", "orders-2"}) || scale.Status.Replicas != 3 {
		t.Errorf("the selector of the cluster finds %v, replicas %d", got, scale.Status.Replicas)
	}
	if got := found(pool); len(got) != 2 || scale.Status.Replicas != 2 {
		t.Errorf("the selector of the companion finds %v, replicas %d", got, scale.Status.Replicas)
	}
	before := cluster.Status.Selector
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = true })
	await(t, cluster, "no members", func() bool { return cluster.Status.Replicas == 0 })
	if got := found(cluster); len(got) != 0 || scale.Status.Selector != before || scale.Spec.Replicas != 3 {
		t.Errorf("while hibernated, selector %q finds %v, and spec.replicas is %d", scale.Status.Selector, got, scale.Spec.Replicas)
	}
}

// The kind ScaledObject is the real one.
func TestTheAPIServerAcceptsTheSamplesOfKEDA(t *testing.T) {
	parallel(t)
	installCRDs(t, "keda", "github.com/kedacore/keda/v2", "config/crd/bases/keda.sh_scaledobjects.yaml")
	ns := namespace(t)
	files, err := filepath.Glob("../../config/samples/keda/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		mustBeAccepted(t, ns, string(text))
	}
	broken := `{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: broken}, spec: {scaleTargetRef: {name: a}, triggers: [], minReplicas: 3}}`
	object := parsed(t, ns, broken, "1", 0)
	if err := admin.Create(t.Context(), object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict)); err == nil {
		t.Error("the API server accepts every ScaledObject")
	}
}
