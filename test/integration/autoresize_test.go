//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"maps"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// recommender is the VerticalPodAutoscaler of a cluster.
func recommender(c *dbv1.DatabaseCluster, mode string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"targetRef":    map[string]any{"apiVersion": dbv1.GroupVersion.String(), "kind": "DatabaseCluster", "name": c.Name},
		"updatePolicy": map[string]any{"updateMode": mode},
	}}}
	object.SetGroupVersionKind(naming.AutoscalerKind)
	object.SetNamespace(c.Namespace)
	object.SetName("orders-size")
	return object
}

// recommend writes the status, as a recommender does.
func recommend(t *testing.T, c *dbv1.DatabaseCluster, memory string) {
	t.Helper()
	object := recommender(c, "Off")
	eventually(t, "the recommendation of "+memory, func() error {
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		object.Object["status"] = map[string]any{"recommendation": map[string]any{"containerRecommendations": []any{
			map[string]any{"containerName": "database", "target": map[string]any{"cpu": "25m", "memory": memory}},
		}}}
		return admin.Status().Update(t.Context(), object)
	})
	annotate(t, c, dbv1.AnnotationRefresh, memory)
}

func followed(c *dbv1.DatabaseCluster, least, most string) {
	c.Spec.AutoResize = &dbv1.ClusterAutoResize{
		AutoscalerRef: dbv1.ClusterAutoscalerRef{Name: "orders-size"}, CooldownSeconds: new(int32),
		Memory: &dbv1.ClusterResizeBounds{Min: resource.MustParse(least), Max: resource.MustParse(most)},
	}
}

// mustRequest checks the memory of each member, that none has restarted, and that the spec is as the user wrote it.
func mustRequest(t *testing.T, c *dbv1.DatabaseCluster, memory string, before map[string]types.UID) {
	t.Helper()
	for ordinal := range 3 {
		awaitMemory(t, c, ordinal, memory)
	}
	awaitReady(t, c)
	mustNotBeRestarted(t, c, before)
	if declared := c.Spec.Resources.Requests[corev1.ResourceMemory]; declared.String() != "64Mi" {
		t.Errorf("spec.resources requests %s", declared.String())
	}
}

// mustAcceptTheSample checks the sample, which is not in the gallery, because its kind is not in every API server.
func mustAcceptTheSample(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("../../config/samples/vertical-pod-autoscaler.yaml")
	if err != nil {
		t.Fatal(err)
	}
	ns := namespace(t)
	for _, document := range documents.Split(string(text), -1) {
		mustBeAccepted(t, ns, document)
	}
}

// The kind is the real one. The operator has only the rights that it is shipped with.
func TestRunningMembersFollowAVerticalPodAutoscalerWithinBounds(t *testing.T) {
	parallel(t)
	c := readyRunning(t, nil)
	before := uids(t, c)
	change(t, c, func(c *dbv1.DatabaseCluster) { followed(c, "64Mi", "256Mi") })
	const kind = dbv1.ConditionAutoResizeActive
	awaitCondition(t, c, kind, metav1.ConditionFalse, dbv1.ReasonAutoscalerMissing,
		"the API server does not know the kind VerticalPodAutoscaler of group autoscaling.k8s.io. Install the Vertical Pod Autoscaler, or remove spec.autoResize")
	awaitReady(t, c) // the database needs no autoscaler

	installCRDs(t, "vertical-pod-autoscaler", "k8s.io/autoscaler/vertical-pod-autoscaler", "deploy/vpa-v1-crd-gen.yaml")
	mustAcceptTheSample(t)
	annotate(t, c, dbv1.AnnotationRefresh, "installed")
	awaitCondition(t, c, kind, metav1.ConditionFalse, dbv1.ReasonAutoscalerMissing, "VerticalPodAutoscaler orders-size does not exist")
	vpa := recommender(c, "Recreate")
	if err := admin.Create(t.Context(), vpa); err != nil {
		t.Fatal(err)
	}
	annotate(t, c, dbv1.AnnotationRefresh, "created")
	awaitCondition(t, c, kind, metav1.ConditionFalse, dbv1.ReasonAutoscalerIncompatible, `Set its spec.updatePolicy.updateMode to "Off"`)
	change(t, vpa, func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, "Off", "spec", "updatePolicy", "updateMode")
	})
	annotate(t, c, dbv1.AnnotationRefresh, "off")
	awaitCondition(t, c, kind, metav1.ConditionUnknown, dbv1.ReasonRecommendationMissing, "has no recommendation of memory for the container database yet")

	recommend(t, c, "134217728")
	mustRequest(t, c, "128Mi", before)
	awaitTrue(t, c, kind, dbv1.ReasonRecommendationFollowed, "VerticalPodAutoscaler orders-size")
	if decided := c.Status.AutoResize; decided == nil || decided.Cause != dbv1.ResizeCauseRecommendation ||
		decided.Requests.Memory.String() != "128Mi" || decided.Recommendation.Memory.Value() != 128<<20 {
		t.Errorf("status.autoResize is %+v", decided)
	}
	recommend(t, c, "1Gi")
	mustRequest(t, c, "256Mi", before)
	awaitTrue(t, c, kind, dbv1.ReasonLimitReached, "spec.autoResize.memory.max, which is 256Mi")
	recommend(t, c, "70Mi") // memory never shrinks by a recommendation
	awaitTrue(t, c, kind, dbv1.ReasonRecommendationFollowed)
	mustRequest(t, c, "256Mi", before)

	// The last decision stays without the autoscaler, and other bounds count.
	if err := admin.Delete(t.Context(), vpa); err != nil {
		t.Fatal(err)
	}
	change(t, c, func(c *dbv1.DatabaseCluster) { followed(c, "64Mi", "192Mi") })
	mustRequest(t, c, "192Mi", before)
	awaitCondition(t, c, kind, metav1.ConditionFalse, dbv1.ReasonAutoscalerMissing)
	change(t, c, func(c *dbv1.DatabaseCluster) { c.Spec.AutoResize = nil })
	mustRequest(t, c, "64Mi", before)
	await(t, c, "the condition and the decision to be removed", func() bool {
		return meta.FindStatusCondition(c.Status.Conditions, kind) == nil && c.Status.AutoResize == nil
	})
}

func TestImpossibleBoundsOfResourcesAreRefusedWithASentence(t *testing.T) {
	parallel(t)
	follows := func(section fields) fields {
		all := fields{"autoscalerRef": fields{"name": "orders"}}
		maps.Copy(all, section)
		return fields{"autoResize": all}
	}
	eachIsRefused(t, "databaseclusters", refusals{
		"nothing":         {follows(nil), "spec.autoResize needs cpu or memory. Set the bounds of at least one"},
		"no autoscaler":   {fields{"autoResize": fields{"cpu": fields{"min": "1", "max": "2"}}}, "spec.autoResize.autoscalerRef: Required value"},
		"a bad name":      {follows(fields{"autoscalerRef": fields{"name": "Orders"}, "cpu": fields{"min": "1", "max": "2"}}), "spec.autoResize.autoscalerRef.name must be the name of a VerticalPodAutoscaler"},
		"no max":          {follows(fields{"cpu": fields{"min": "1"}}), "spec.autoResize.cpu.max: Required value"},
		"max below min":   {follows(fields{"memory": fields{"min": "2Gi", "max": "1Gi"}}), "spec.autoResize: max must be at least min. Raise max"},
		"a word":          {follows(fields{"memory": fields{"min": "little", "max": "1Gi"}}), "min of spec.autoResize must be a quantity greater than zero"},
		"zero":            {follows(fields{"cpu": fields{"min": int64(0), "max": "1"}}), "min of spec.autoResize must be a quantity greater than zero"},
		"a long cooldown": {follows(fields{"cpu": fields{"min": "1", "max": "2"}, "cooldownSeconds": int64(604801)}), "spec.autoResize.cooldownSeconds in body should be less than or equal to 604800"},
	})
	eachIsAccepted(t, "databaseclusters", map[string]fields{
		"equal bounds": follows(fields{"cpu": fields{"min": "500m", "max": "0.5"}}),
		"numbers":      follows(fields{"cpu": fields{"min": int64(1), "max": int64(2)}, "memory": fields{"min": "1e9", "max": "2Gi"}}),
	})
}
