/*
SPDX-License-Identifier: Apache-2.0
*/

package autoresize

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// Facts are what a VerticalPodAutoscaler recommends.
type Facts struct {
	// Target are the recommended requests of the database; empty for none.
	Target dbv1.ClusterResizeAmounts
	// Why is why it recommends nothing, as it reports itself.
	Why string
	// Unread is why its recommendation is unknown in this pass; "" if it is known.
	Unread string
	// Reason and Problem are why the operator follows no recommendation until the user acts; "" if it can.
	Reason, Problem string
}

// autoscaler has the fields of a VerticalPodAutoscaler that matter.
type autoscaler struct {
	Spec struct {
		TargetRef struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Name       string `json:"name"`
		} `json:"targetRef"`
		UpdatePolicy struct {
			UpdateMode string `json:"updateMode"`
		} `json:"updatePolicy"`
		ResourcePolicy struct {
			ContainerPolicies []struct {
				StartupBoost map[string]any `json:"startupBoost"`
			} `json:"containerPolicies"`
		} `json:"resourcePolicy"`
		StartupBoost map[string]any `json:"startupBoost"`
	} `json:"spec"`
	Status struct {
		Recommendation struct {
			ContainerRecommendations []recommendation `json:"containerRecommendations"`
		} `json:"recommendation"`
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

type recommendation struct {
	ContainerName string              `json:"containerName"`
	Target        corev1.ResourceList `json:"target"`
}

// Of are the facts of a VerticalPodAutoscaler for a cluster.
func Of(cluster *dbv1.DatabaseCluster, live *unstructured.Unstructured) Facts {
	var a autoscaler
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, &a); err != nil {
		return Facts{Why: err.Error()}
	}
	if problem := a.problem(cluster, live.GetName()); problem != "" {
		return Facts{Reason: dbv1.ReasonAutoscalerIncompatible, Problem: problem}
	}
	var seen Facts
	for _, one := range a.Status.Recommendation.ContainerRecommendations {
		if one.ContainerName == naming.Container {
			seen.Target = amounts(one.Target)
		}
	}
	for _, c := range a.Status.Conditions {
		if slices.Contains(obstacles, c.Type) && c.Status == metav1.ConditionTrue {
			seen.Why = c.Type + ": " + c.Message
		}
	}
	return seen
}

// obstacles are the conditions of a VerticalPodAutoscaler that has no recommendation.
var obstacles = []string{"ConfigUnsupported", "NoPodsMatched", "FetchingHistory"}

// problem is why the operator cannot follow an autoscaler. One that changes pods itself would fight it.
func (a autoscaler) problem(cluster *dbv1.DatabaseCluster, name string) string {
	target := a.Spec.TargetRef
	group, err := schema.ParseGroupVersion(target.APIVersion)
	boosted := a.Spec.StartupBoost != nil
	for _, p := range a.Spec.ResourcePolicy.ContainerPolicies {
		boosted = boosted || p.StartupBoost != nil
	}
	switch {
	case err != nil || group.Group != dbv1.GroupVersion.Group || target.Kind != "DatabaseCluster" || target.Name != cluster.Name:
		return fmt.Sprintf("VerticalPodAutoscaler %s has the target %s %s. Set its spec.targetRef to DatabaseCluster %s of %s",
			name, target.Kind, target.Name, cluster.Name, dbv1.GroupVersion)
	case a.Spec.UpdatePolicy.UpdateMode != "Off":
		return fmt.Sprintf("VerticalPodAutoscaler %s would change or evict pods itself. Set its spec.updatePolicy.updateMode to \"Off\"", name)
	case boosted:
		return fmt.Sprintf("VerticalPodAutoscaler %s would change pods at their start. Remove its startupBoost", name)
	default:
		return ""
	}
}

func amounts(list corev1.ResourceList) dbv1.ClusterResizeAmounts {
	var all dbv1.ClusterResizeAmounts
	if cpu, found := list[corev1.ResourceCPU]; found {
		all.CPU = &cpu
	}
	if memory, found := list[corev1.ResourceMemory]; found {
		all.Memory = &memory
	}
	return all
}
