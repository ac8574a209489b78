/*
SPDX-License-Identifier: Apache-2.0
*/

// Package apply writes to the API server such that a stale view is harmless.
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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// Effect is what a write did to an object.
type Effect int

// Effects of writes.
const (
	Created Effect = iota
	Changed
	Deleted
)

// Writer writes with the operator's field manager.
type Writer struct {
	Client client.Client
	// Live reads from the API server. A Writer that creates no Jobs and updates nothing needs none.
	Live client.Reader
	// Wrote is called after each successful write, with the object as the API server returned it. Optional.
	Wrote func(ctx context.Context, verb Effect, object client.Object)
}

// Create creates an object and returns the stored object. If the name exists, Create changes nothing and returns an
// AlreadyExists error.
func (w Writer) Create(ctx context.Context, object *unstructured.Unstructured) (client.Object, error) {
	if err := w.checkServiceAccount(ctx, object); err != nil {
		return nil, err
	}
	created, err := typed(object)
	if err != nil {
		return nil, fmt.Errorf("create %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	if err := w.fitLimitRanges(ctx, created); err != nil {
		return nil, err
	}
	if err := w.Client.Create(ctx, created, client.FieldOwner(dbv1.FieldCreator)); err != nil {
		return nil, fmt.Errorf("create %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	w.tell(ctx, Created, created)
	return created, nil
}

// typed returns a copy as the type of its kind, if Kubernetes itself has the kind: then the request and the response are protobuf, which
// costs less CPU time than JSON.
func typed(object *unstructured.Unstructured) (client.Object, error) {
	if !clientgoscheme.Scheme.Recognizes(object.GroupVersionKind()) { // a custom resource
		return object.DeepCopy(), nil
	}
	made, err := clientgoscheme.Scheme.New(object.GroupVersionKind())
	if err != nil {
		return nil, fmt.Errorf("find the type: %w", err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, made); err != nil {
		return nil, fmt.Errorf("read the fields: %w", err)
	}
	created, ok := made.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is not an object", made)
	}
	return created, nil
}

// Install applies an object that did not exist at the last read. Unlike Create, it needs the right to create only objects of that
// name: RBAC cannot limit a plain create by name. It does not force: a field that another client has set meanwhile is a conflict.
func (w Writer) Install(ctx context.Context, object *unstructured.Unstructured) error {
	err := w.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), client.FieldOwner(dbv1.FieldOwner))
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// Terminating reports whether creation fails because the namespace is terminating. It sends a dry-run request. It
// ignores other errors, because the real creation will return them again.
func (w Writer) Terminating(ctx context.Context, namespace, name string) bool {
	try := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	err := w.Client.Create(ctx, try, client.DryRunAll)
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// Update applies an object over the object with that UID and version, and returns the stored object. If that object
// was deleted or has changed, it writes nothing and returns a conflict.
func (w Writer) Update(ctx context.Context, object *unstructured.Unstructured, uid types.UID,
	version string) (*unstructured.Unstructured, error) {
	version, err := w.bringOver(ctx, object, version)
	if err != nil {
		return nil, err
	}
	object = object.DeepCopy()
	object.SetUID(uid)
	object.SetResourceVersion(version)
	// The client fills the object with the response of the API server.
	err = w.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(dbv1.FieldOwner), client.ForceOwnership)
	if err != nil {
		return nil, fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	w.tell(ctx, Changed, object)
	return object, nil
}

// bringOver lets the field manager of Update own the fields that Create has set, and returns the version of the object. Otherwise an
// apply could not remove them. Only the first update of an object needs that.
func (w Writer) bringOver(ctx context.Context, object *unstructured.Unstructured, version string) (string, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GroupVersionKind())
	err := w.Live.Get(ctx, client.ObjectKeyFromObject(object), live)
	switch {
	case apierrors.IsNotFound(err): // the apply reports the conflict
		return version, nil
	case err != nil:
		return "", fmt.Errorf("read %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, sets.New(dbv1.FieldCreator), dbv1.FieldOwner)
	switch {
	case err != nil:
		return "", fmt.Errorf("read the field managers of %s %s: %w", object.GetKind(), object.GetName(), err)
	case patch == nil, live.GetResourceVersion() != version: // the apply reports the conflict
		return version, nil
	}
	patched := object.DeepCopy()
	if err := w.Client.Patch(ctx, patched, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(dbv1.FieldOwner)); err != nil {
		return "", fmt.Errorf("change the field manager of %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return patched.GetResourceVersion(), nil
}

// Report applies the status of the object with that UID and version. If the object has changed, it writes nothing
// and returns a conflict. If the object was deleted, it creates nothing.
func (w Writer) Report(ctx context.Context, object *unstructured.Unstructured, uid types.UID, version string) error {
	object = object.DeepCopy()
	object.SetUID(uid)
	object.SetResourceVersion(version)
	err := w.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(dbv1.FieldOwner),
		client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("report of %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	w.tell(ctx, Changed, object)
	return nil
}

// Patch sends a JSON patch to an object that still has that version, and returns the stored object.
func (w Writer) Patch(ctx context.Context, object *unstructured.Unstructured, version string,
	patch []objects.PatchOperation) (*unstructured.Unstructured, error) {
	// Replacing the version is the lock: the API server does not report a failed "test" as a conflict.
	lock := objects.PatchOperation{Op: "replace", Path: "/metadata/resourceVersion", Value: version}
	guarded := append([]objects.PatchOperation{lock}, patch...)
	text, err := json.Marshal(guarded)
	if err != nil {
		return nil, fmt.Errorf("marshal a patch of %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	patched := object.DeepCopy()
	err = w.Client.Patch(ctx, patched, client.RawPatch(types.JSONPatchType, text), client.FieldOwner(dbv1.FieldOwner))
	if err != nil {
		return nil, fmt.Errorf("patch %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	w.tell(ctx, Changed, patched)
	return patched, nil
}

// Merge merges a JSON merge patch into an object that still has its UID and version.
func (w Writer) Merge(ctx context.Context, object *unstructured.Unstructured, patch map[string]any) error {
	metadata, _ := patch["metadata"].(map[string]any)
	metadata["uid"], metadata["resourceVersion"] = object.GetUID(), object.GetResourceVersion()
	return w.merge(ctx, object, patch)
}

func (w Writer) merge(ctx context.Context, object *unstructured.Unstructured, patch map[string]any) error {
	text, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("marshal a patch of %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	patched := object.DeepCopy()
	if err = w.Client.Patch(ctx, patched, client.RawPatch(types.MergePatchType, text), client.FieldOwner(dbv1.FieldOwner)); err != nil {
		return fmt.Errorf("patch %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	w.tell(ctx, Changed, patched)
	return nil
}

// Annotate sets one annotation of an object that still has its UID. Its version does not matter: a controller may have written the
// status of a new object already.
func (w Writer) Annotate(ctx context.Context, object *unstructured.Unstructured, key, value string) error {
	if object.GetAnnotations()[key] == value {
		return nil
	}
	return w.merge(ctx, object,
		map[string]any{"metadata": map[string]any{"uid": object.GetUID(), "annotations": map[string]string{key: value}}})
}

// Change patches an object that the caller changed, if the stored object still has its version.
func (w Writer) Change(ctx context.Context, before, after client.Object) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := w.Client.Patch(ctx, after, patch, client.FieldOwner(dbv1.FieldOwner)); err != nil {
		return fmt.Errorf("patch %s %s: %w", kindOf(after), after.GetName(), err)
	}
	w.tell(ctx, Changed, after)
	return nil
}

// ChangeStatus does the same for the status. It computes the patch from the status alone: to compare the JSON of whole objects takes more
// CPU time than the request.
func (w Writer) ChangeStatus(ctx context.Context, before, after client.Object) error {
	patch := client.MergeFromWithOptions(statusOf(before), client.MergeFromWithOptimisticLock{})
	text, err := patch.Data(statusOf(after))
	if err != nil {
		return fmt.Errorf("compare the status of %s %s: %w", kindOf(after), after.GetName(), err)
	}
	if err := w.Client.Status().Patch(ctx, after, client.RawPatch(patch.Type(), text), client.FieldOwner(dbv1.FieldOwner)); err != nil {
		return fmt.Errorf("write the status of %s %s: %w", kindOf(after), after.GetName(), err)
	}
	w.tell(ctx, Changed, after)
	return nil
}

// statusOf returns an object with only the name, the version and the status of another one.
func statusOf(object client.Object) client.Object {
	from := reflect.ValueOf(object).Elem()
	bare := reflect.New(from.Type())
	bare.Elem().FieldByName("Status").Set(from.FieldByName("Status"))
	rest, _ := reflect.TypeAssert[client.Object](bare)
	rest.SetNamespace(object.GetNamespace())
	rest.SetName(object.GetName())
	rest.SetResourceVersion(object.GetResourceVersion())
	return rest
}

// Delete deletes an object with the UID and version that the caller read. An object that no longer exists is not an
// error.
func (w Writer) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	uid, version := object.GetUID(), object.GetResourceVersion()
	options = append(options, client.Preconditions(metav1.Preconditions{UID: &uid, ResourceVersion: &version}))
	err := w.Client.Delete(ctx, object, options...)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s %s: %w", kindOf(object), object.GetName(), err)
	}
	w.tell(ctx, Deleted, object)
	return nil
}

// Resize changes the resources of a container in a running pod with the UID and version that the caller read.
func (w Writer) Resize(ctx context.Context, pod *corev1.Pod, container string, resources corev1.ResourceRequirements) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID, "resourceVersion": pod.ResourceVersion},
		"spec": map[string]any{"containers": []any{map[string]any{
			"name": container,
			// The resources are replaced as a whole. Otherwise a removed request would remain.
			"resources": map[string]any{"$patch": "replace", "limits": resources.Limits, "requests": resources.Requests},
		}}},
	})
	if err != nil {
		return fmt.Errorf("marshal the resources of pod %s: %w", pod.Name, err)
	}
	resized := pod.DeepCopy()
	if err = w.Client.SubResource("resize").Patch(ctx, resized, client.RawPatch(types.StrategicMergePatchType, patch)); err != nil {
		return fmt.Errorf("resize pod %s: %w", pod.Name, err)
	}
	w.tell(ctx, Changed, resized)
	return nil
}

func (w Writer) tell(ctx context.Context, verb Effect, object client.Object) {
	if w.Wrote != nil {
		w.Wrote(ctx, verb, object)
	}
}

// kindOf is the kind of an object for messages. Objects read by a typed client have no kind.
func kindOf(object client.Object) string {
	if kind := object.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	return reflect.TypeOf(object).Elem().Name()
}
