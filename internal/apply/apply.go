/*
SPDX-License-Identifier: Apache-2.0
*/

// Package apply writes to the API server, so that a stale view can do no harm.
package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// Writer writes under the operator's name.
type Writer struct {
	Client client.Client
}

// Create applies an object that was not there when the caller looked, and returns it as it is stored. It
// does not force: where somebody else made one under that name meanwhile and set a field otherwise,
// nothing is written and the error is a conflict.
func (w Writer) Create(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return w.apply(ctx, object.DeepCopy(), client.FieldOwner(dbv1.FieldOwner))
}

// Make creates an object, and no other, and returns it as it is stored: under a name that is taken it changes nothing,
// and the error says so.
func (w Writer) Make(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	created := object.DeepCopy()
	if err := w.Client.Create(ctx, created, client.FieldOwner(dbv1.FieldOwner)); err != nil {
		return nil, fmt.Errorf("create %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return created, nil
}

// Terminating tells whether nothing can be made in a namespace because it is being deleted: it tries, and makes
// nothing. Any other answer will come again, and mean more, when something is really to be made.
func (w Writer) Terminating(ctx context.Context, namespace, name string) bool {
	try := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	err := w.Client.Create(ctx, try, client.DryRunAll)
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// Update applies an object over the one with that UID and version, and returns it as it is stored. When
// that one is gone or has changed, nothing is written and the error is a conflict.
func (w Writer) Update(ctx context.Context, object *unstructured.Unstructured, uid types.UID, version string) (*unstructured.Unstructured, error) {
	object = object.DeepCopy()
	object.SetUID(uid)
	object.SetResourceVersion(version)
	return w.apply(ctx, object, client.FieldOwner(dbv1.FieldOwner), client.ForceOwnership)
}

// Report applies the status of the object with that UID and version. When that one has changed, nothing is written and
// the error is a conflict; when it is gone, nothing is made.
func (w Writer) Report(ctx context.Context, object *unstructured.Unstructured, uid types.UID, version string) error {
	object = object.DeepCopy()
	object.SetUID(uid)
	object.SetResourceVersion(version)
	err := w.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(dbv1.FieldOwner), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("report of %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

func (w Writer) apply(ctx context.Context, object *unstructured.Unstructured, options ...client.ApplyOption) (*unstructured.Unstructured, error) {
	// The client fills the object in with the server's answer.
	if err := w.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), options...); err != nil {
		return nil, fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return object, nil
}

// Patch sends a JSON patch to an object, provided that it still has that version, and returns the version
// that it has then.
func (w Writer) Patch(ctx context.Context, object *unstructured.Unstructured, version string, patch []resources.Operation) (string, error) {
	// Writing the version that it should have is the lock: a "test" that fails is no conflict to the API server.
	lock := resources.Operation{Op: "replace", Path: "/metadata/resourceVersion", Value: version}
	guarded := append([]resources.Operation{lock}, patch...)
	text, err := json.Marshal(guarded)
	if err != nil {
		return "", fmt.Errorf("marshal a patch of %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	patched := object.DeepCopy()
	err = w.Client.Patch(ctx, patched, client.RawPatch(types.JSONPatchType, text), client.FieldOwner(dbv1.FieldOwner))
	if err != nil {
		return "", fmt.Errorf("patch %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return patched.GetResourceVersion(), nil
}

// Annotate sets one annotation of an object, provided that it still has the version that it carries.
func (w Writer) Annotate(ctx context.Context, object *unstructured.Unstructured, key, value string) error {
	annotated := object.DeepCopy()
	annotations := annotated.GetAnnotations()
	if annotations[key] == value {
		return nil
	}
	annotations[key] = value
	annotated.SetAnnotations(annotations)
	return w.Change(ctx, object, annotated)
}

// Change patches an object that the caller changed, provided that it still is as it was before.
func (w Writer) Change(ctx context.Context, before, after client.Object) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := w.Client.Patch(ctx, after, patch, client.FieldOwner(dbv1.FieldOwner)); err != nil {
		return fmt.Errorf("patch %s %s: %w", kindOf(after), after.GetName(), err)
	}
	return nil
}

// Delete deletes an object, provided that it still is the one and as it was when the caller looked. An
// object that is gone already is no error.
func (w Writer) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	uid, version := object.GetUID(), object.GetResourceVersion()
	options = append(options, client.Preconditions(metav1.Preconditions{UID: &uid, ResourceVersion: &version}))
	err := w.Client.Delete(ctx, object, options...)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s %s: %w", kindOf(object), object.GetName(), err)
	}
	return nil
}

// Resize gives a container of a running pod other resources, provided that the pod still is the one and as
// it was when the caller looked.
func (w Writer) Resize(ctx context.Context, pod *corev1.Pod, container string, resources corev1.ResourceRequirements) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID, "resourceVersion": pod.ResourceVersion},
		"spec": map[string]any{"containers": []any{map[string]any{
			"name": container,
			// Replaced as a whole: a request that is no longer wanted would else stay.
			"resources": map[string]any{"$patch": "replace", "limits": resources.Limits, "requests": resources.Requests},
		}}},
	})
	if err != nil {
		return fmt.Errorf("marshal the resources of pod %s: %w", pod.Name, err)
	}
	err = w.Client.SubResource("resize").Patch(ctx, pod.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, patch))
	if err != nil {
		return fmt.Errorf("resize pod %s: %w", pod.Name, err)
	}
	return nil
}

// kindOf is the kind of an object for people; a typed client leaves it out of what it reads.
func kindOf(object client.Object) string {
	if kind := object.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	return reflect.TypeOf(object).Elem().Name()
}
