/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// server is the API server as a client sees it: the fake client on a store, with deletions as they are.
func (s *store) server() client.WithWatch {
	stored := fake.NewClientBuilder().WithScheme(s.scheme).WithObjectTracker(s).WithStatusSubresource(&dbv1.DatabaseCluster{}).Build()
	return interceptor.NewClient(stored, interceptor.Funcs{
		Delete: func(_ context.Context, _ client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return s.delete(object, (&client.DeleteOptions{}).ApplyOptions(options))
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			s.resizing = sub == "resize"
			defer func() { s.resizing = false }()
			return c.SubResource(sub).Patch(ctx, object, patch, options...)
		},
	})
}

// delete keeps preconditions, finalizers and propagation; the fake client knows neither the UID of a
// precondition nor propagation.
func (s *store) delete(object client.Object, options *client.DeleteOptions) error {
	at := id{s.resource(object), client.ObjectKeyFromObject(object)}
	live, found := s.objects[at]
	if !found {
		return apierrors.NewNotFound(at.GroupResource, at.Name)
	}
	if err := met(options.Preconditions, live); err != nil {
		return apierrors.NewConflict(at.GroupResource, at.Name, err)
	}
	if live.GetDeletionTimestamp() != nil {
		return nil
	}
	ending := live.DeepCopyObject().(client.Object)
	if policy := options.PropagationPolicy; policy != nil && *policy == metav1.DeletePropagationOrphan {
		ending.SetFinalizers(append(ending.GetFinalizers(), metav1.FinalizerOrphanDependents))
	}
	if policy := options.PropagationPolicy; policy != nil && *policy == metav1.DeletePropagationForeground {
		ending.SetFinalizers(append(ending.GetFinalizers(), metav1.FinalizerDeleteDependents))
	}
	ending.SetDeletionTimestamp(new(metav1.NewTime(s.clock.Now())))
	s.put(ending)
	return nil
}

func met(conditions *metav1.Preconditions, live client.Object) error {
	switch {
	case conditions == nil:
		return nil
	case conditions.UID != nil && *conditions.UID != live.GetUID():
		return fmt.Errorf("the UID in the precondition (%s) is not that in the record (%s)", *conditions.UID, live.GetUID())
	case conditions.ResourceVersion != nil && *conditions.ResourceVersion != live.GetResourceVersion():
		return fmt.Errorf("the resourceVersion in the precondition (%s) is not that in the record (%s)", *conditions.ResourceVersion, live.GetResourceVersion())
	default:
		return nil
	}
}
