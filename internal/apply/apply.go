/*
SPDX-License-Identifier: Apache-2.0
*/

// Package apply writes to the API server, so that a stale view can do no harm.
package apply

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Writer writes under the operator's name.
type Writer struct {
	Client client.Client
}

// Create applies an object that was not there when the caller looked. It does not force: where somebody
// else made one under that name meanwhile and set the same fields, nothing is written and the error is a
// conflict.
func (w Writer) Create(ctx context.Context, object *unstructured.Unstructured) error {
	return w.apply(ctx, object, client.FieldOwner(dbv1.FieldOwner))
}

// Update applies an object over the one with that UID; when that one is gone, nothing is written and the
// error is a conflict.
func (w Writer) Update(ctx context.Context, object *unstructured.Unstructured, uid types.UID) error {
	object = object.DeepCopy()
	object.SetUID(uid)
	return w.apply(ctx, object, client.FieldOwner(dbv1.FieldOwner), client.ForceOwnership)
}

func (w Writer) apply(ctx context.Context, object *unstructured.Unstructured, options ...client.ApplyOption) error {
	// The client fills the object in with the server's answer; the plan keeps its own.
	configuration := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
	if err := w.Client.Apply(ctx, configuration, options...); err != nil {
		return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// Patch sends a JSON merge patch to the object that is called so and has that UID.
func (w Writer) Patch(ctx context.Context, object *unstructured.Unstructured, uid types.UID, patch map[string]any) error {
	metadata, _ := patch["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		patch["metadata"] = metadata
	}
	metadata["uid"] = string(uid)
	text, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("marshal a patch of %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	err = w.Client.Patch(ctx, object.DeepCopy(), client.RawPatch(types.MergePatchType, text), client.FieldOwner(dbv1.FieldOwner))
	if err != nil {
		return fmt.Errorf("patch %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// Change patches an object that the caller changed, provided that it still is as it was before.
func (w Writer) Change(ctx context.Context, before, after client.Object) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := w.Client.Patch(ctx, after, patch, client.FieldOwner(dbv1.FieldOwner)); err != nil {
		return fmt.Errorf("patch %T %s: %w", after, after.GetName(), err)
	}
	return nil
}

// Delete deletes an object, provided that it still is the one and as it was when the caller looked. An
// object that is gone already is no error.
func (w Writer) Delete(ctx context.Context, object client.Object) error {
	uid, version := object.GetUID(), object.GetResourceVersion()
	err := w.Client.Delete(ctx, object, client.Preconditions(metav1.Preconditions{UID: &uid, ResourceVersion: &version}))
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %T %s: %w", object, object.GetName(), err)
	}
	return nil
}
