/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// olderOperator creates pods with one more environment variable than the operator under test, so its templates
// differ.
func olderOperator(server client.WithWatch) client.WithWatch {
	return interceptor.NewClient(server, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if _, ok := object.(*appsv1.StatefulSet); ok {
				rewrite(object, asOlder)
			}
			return c.Create(ctx, object, options...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, configuration runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if wanted, ok := configuration.(interface{ UnstructuredContent() map[string]any }); ok {
				asOlder(wanted.UnstructuredContent())
			}
			return c.Apply(ctx, configuration, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			cluster := object.(*dbv1.DatabaseCluster)
			text, err := patch.Data(cluster)
			world.Must(err)
			return c.SubResource(sub).Patch(ctx, object, client.RawPatch(patch.Type(), withoutOffer(text)), options...)
		},
	})
}

// withoutOffer removes from a status patch the field that the older operator does not have: the available update.
func withoutOffer(patch []byte) []byte {
	changes := map[string]any{}
	world.Must(json.Unmarshal(patch, &changes))
	conditions, _, _ := unstructured.NestedSlice(changes, "status", "conditions")
	conditions = slices.DeleteFunc(conditions, func(c any) bool { return c.(map[string]any)["type"] == dbv1.ConditionUpdateAvailable })
	if len(conditions) > 0 {
		world.Must(unstructured.SetNestedSlice(changes, conditions, "status", "conditions"))
	}
	text, err := json.Marshal(changes)
	world.Must(err)
	return text
}

func asOlder(object map[string]any) {
	containers, found, _ := unstructured.NestedSlice(object, "spec", "template", "spec", "containers")
	if !found {
		return
	}
	containers[0].(map[string]any)["env"] = []any{map[string]any{"name": "MADE_BY", "value": "an older operator"}}
	world.Must(unstructured.SetNestedSlice(object, containers, "spec", "template", "spec", "containers"))
	world.Must(unstructured.SetNestedField(object, "0123456789abcdef", "spec", "template", "metadata", "annotations", dbv1.AnnotationTemplate))
}

// rewrite changes the fields of an object.
func rewrite(object client.Object, change func(map[string]any)) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	world.Must(err)
	change(fields)
	world.Must(runtime.DefaultUnstructuredConverter.FromUnstructured(fields, object))
}
