/*
SPDX-License-Identifier: Apache-2.0
*/

package store

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// Server is the API server as a client sees it: the fake client on a store, with realistic deletions. Reads and merge
// patches, the most frequent calls, use a shorter path to the same result.
func (s *Store) Server() client.WithWatch {
	stored := fake.NewClientBuilder().WithScheme(s.scheme).WithObjectTracker(tracker{s}).WithStatusSubresource(s.withStatus...).Build()
	return interceptor.NewClient(stored, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
			return s.read(key, object)
		},
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			return s.readAll(list, (&client.ListOptions{}).ApplyOptions(options))
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if len((&client.CreateOptions{}).ApplyOptions(options).DryRun) > 0 {
				return s.open(id{s.resource(object), client.ObjectKeyFromObject(object)})
			}
			return c.Create(ctx, object, options...)
		},
		Delete: func(_ context.Context, _ client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return s.Delete(object, (&client.DeleteOptions{}).ApplyOptions(options))
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if patch.Type() != types.MergePatchType {
				return c.Patch(ctx, object, patch, options...)
			}
			return s.merge(object, patch, "", (&client.PatchOptions{}).ApplyOptions(options).FieldManager)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch,
			options ...client.SubResourcePatchOption) error {
			if sub == "status" && patch.Type() == types.MergePatchType {
				return s.merge(object, patch, sub, "")
			}
			s.resizing = sub == "resize"
			defer func() { s.resizing = false }()
			return c.SubResource(sub).Patch(ctx, object, patch, options...)
		},
	})
}

func (s *Store) read(key client.ObjectKey, into client.Object) error {
	at := id{s.resource(into), key}
	live, found := s.objects[at]
	if !found {
		return apierrors.NewNotFound(at.GroupResource, key.Name)
	}
	fill(into, live)
	s.showWrite(at, into)
	return nil
}

// fill copies an object into another, typed or untyped. Typed objects are those that a cache has, too, without managed fields.
func fill(into, from client.Object) {
	if untyped, ok := into.(*unstructured.Unstructured); ok {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(from)
		if err != nil {
			panic(err)
		}
		untyped.Object = content
		return
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(from.DeepCopyObject()).Elem())
	into.SetManagedFields(nil)
}

func (s *Store) readAll(list client.ObjectList, options *client.ListOptions) error {
	kind, err := apiutil.GVKForObject(list, s.scheme)
	if err != nil {
		return fmt.Errorf("list %T: %w", list, err)
	}
	var items []runtime.Object
	for _, object := range s.Sorted() {
		fits := options.LabelSelector == nil || options.LabelSelector.Matches(labels.Set(object.GetLabels()))
		if s.kind(object).Kind+"List" == kind.Kind && fits && (options.Namespace == "" || object.GetNamespace() == options.Namespace) {
			items = append(items, object.DeepCopyObject())
		}
	}
	return meta.SetList(list, items)
}

// merge is a JSON merge patch (RFC 7386) of an object or of its status.
func (s *Store) merge(object client.Object, patch client.Patch, sub, manager string) error {
	at := id{s.resource(object), client.ObjectKeyFromObject(object)}
	live, found := s.objects[at]
	if !found {
		return apierrors.NewNotFound(at.GroupResource, at.Name)
	}
	patched, err := patchedBy(patch, object, live, sub)
	if err != nil {
		return err
	}
	if patched.GetResourceVersion() != live.GetResourceVersion() {
		return apierrors.NewConflict(at.GroupResource, at.Name, fmt.Errorf("the object has been modified"))
	}
	switch {
	case equality.Semantic.DeepEqual(patched, live):
	case patched.GetDeletionTimestamp() != nil && len(patched.GetFinalizers()) == 0:
		s.Remove(patched)
	case sub != "":
		err = s.commit(at, patched)
	default:
		err = s.replace(at, patched, manager)
	}
	if err == nil {
		fill(object, patched)
	}
	return err
}

// patchedBy returns a live object after a patch: all fields but its status, or only its status.
func patchedBy(patch client.Patch, object, live client.Object, sub string) (client.Object, error) {
	text, err := patch.Data(object)
	if err != nil {
		return nil, fmt.Errorf("patch %s: %w", Ref(object), err)
	}
	var changes, was map[string]any
	if err := utiljson.Unmarshal(text, &changes); err != nil {
		return nil, fmt.Errorf("patch %s: %w", Ref(object), err)
	}
	if was, err = runtime.DefaultUnstructuredConverter.ToUnstructured(live); err != nil {
		return nil, fmt.Errorf("patch %s: %w", Ref(object), err)
	}
	if sub == "status" {
		metadata, _ := changes["metadata"].(map[string]any)
		changes = map[string]any{"status": changes["status"], "metadata": map[string]any{}}
		if version, locked := metadata["resourceVersion"]; locked {
			changes["metadata"] = map[string]any{"resourceVersion": version}
		}
	} else {
		delete(changes, "status")
	}
	patched := live.DeepCopyObject().(client.Object)
	reflect.ValueOf(patched).Elem().SetZero()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(mergeInto(was, changes).(map[string]any), patched); err != nil {
		return nil, fmt.Errorf("patch %s: %w", Ref(object), err)
	}
	return patched, nil
}

func mergeInto(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged, ok := target.(map[string]any)
	if !ok {
		merged = map[string]any{}
	}
	for key, value := range changes {
		if value == nil {
			delete(merged, key)
			continue
		}
		merged[key] = mergeInto(merged[key], value)
	}
	return merged
}

// Delete supports preconditions, finalizers and propagation. The fake client supports neither the UID precondition
// nor propagation.
func (s *Store) Delete(object client.Object, options *client.DeleteOptions) error {
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
	if err := s.protected(live); err != nil {
		return err
	}
	ending := live.DeepCopyObject().(client.Object)
	if policy := options.PropagationPolicy; policy != nil && *policy == metav1.DeletePropagationOrphan {
		ending.SetFinalizers(append(ending.GetFinalizers(), metav1.FinalizerOrphanDependents))
	}
	if policy := options.PropagationPolicy; policy != nil && *policy == metav1.DeletePropagationForeground {
		ending.SetFinalizers(append(ending.GetFinalizers(), metav1.FinalizerDeleteDependents))
	}
	ending.SetDeletionTimestamp(new(metav1.NewTime(s.clock.Now())))
	s.Put(ending)
	return nil
}

func met(conditions *metav1.Preconditions, live client.Object) error {
	switch {
	case conditions == nil:
		return nil
	case conditions.UID != nil && *conditions.UID != live.GetUID():
		return fmt.Errorf("the UID in the precondition (%s) is not that in the record (%s)", *conditions.UID, live.GetUID())
	case conditions.ResourceVersion != nil && *conditions.ResourceVersion != live.GetResourceVersion():
		return fmt.Errorf("the resourceVersion in the precondition (%s) is not that in the record (%s)", *conditions.ResourceVersion,
			live.GetResourceVersion())
	default:
		return nil
	}
}
