/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// Recommend lets a VerticalPodAutoscaler of the cluster's name recommend CPU. The operator reads it at its next look.
func Recommend(cpu string) Step {
	return Step{What: "CPU of " + cpu + " is recommended", Do: func(w *World) {
		object := &unstructured.Unstructured{Object: map[string]any{
			"spec": map[string]any{
				"targetRef":    map[string]any{"apiVersion": dbv1.GroupVersion.String(), "kind": "DatabaseCluster", "name": w.Name},
				"updatePolicy": map[string]any{"updateMode": "Off"},
			},
			"status": map[string]any{"recommendation": map[string]any{"containerRecommendations": []any{
				map[string]any{"containerName": naming.Container, "target": map[string]any{"cpu": cpu}},
			}}},
		}}
		object.SetGroupVersionKind(naming.AutoscalerKind)
		object.SetNamespace(w.namespace)
		object.SetName(w.Name)
		if before := store.Get[*unstructured.Unstructured](w.Store, w.Name); before != nil {
			object.Object["metadata"] = before.Object["metadata"]
		}
		w.Store.Put(object)
		w.wakes(item{"DatabaseCluster", w.Name})
	}}
}
