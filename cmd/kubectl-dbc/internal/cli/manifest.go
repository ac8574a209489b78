/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// lastApplied has the manifest that kubectl apply has sent last.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// manifestOf reads the DatabaseCluster of a name from a file, which may have other objects, too.
func (s *session) manifestOf(file, name, namespace string) (*unstructured.Unstructured, error) {
	input := s.In
	if file != "-" {
		opened, err := os.Open(file) //nolint:gosec // the file that the user names
		if err != nil {
			return nil, err
		}
		defer func() { _ = opened.Close() }() // it was only read
		input = opened
	}
	decoder := yaml.NewYAMLOrJSONDecoder(input, 4096)
	for {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%s has no DatabaseCluster %s", file, name)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		case object.GroupVersionKind().GroupKind() != dbv1.GroupVersion.WithKind("DatabaseCluster").GroupKind() || object.GetName() != name:
			continue
		}
		if in := object.GetNamespace(); in != "" && in != namespace {
			return nil, fmt.Errorf("DatabaseCluster %s in %s has namespace %s, and you named %s: add -n %[3]s", name, file, in, namespace)
		}
		object.SetNamespace(namespace)
		return object, nil
	}
}

// dryRun is the cluster as the API server would store it. A cluster of kubectl apply gets the same patch as by that, and others a
// server-side apply.
func (t *target) dryRun(ctx context.Context, manifest *unstructured.Unstructured, manager string) (*dbv1.DatabaseCluster, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(manifest.GroupVersionKind())
	err := t.Get(ctx, client.ObjectKeyFromObject(manifest), live)
	switch original, annotated := live.GetAnnotations()[lastApplied]; {
	case apierrors.IsNotFound(err):
		live = manifest.DeepCopy()
		err = t.Create(ctx, live, client.DryRunAll)
	case err == nil && annotated:
		err = t.patchLike(ctx, live, manifest, original)
	case err == nil:
		live = manifest.DeepCopy()
		err = t.Apply(ctx, client.ApplyConfigurationFromUnstructured(live), client.FieldOwner(manager), client.ForceOwnership, client.DryRunAll)
	}
	if err != nil {
		return nil, err
	}
	cluster := &dbv1.DatabaseCluster{}
	return cluster, runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, cluster)
}

// patchLike sends the patch of kubectl apply: it removes the fields that the previous manifest had and this one does not.
func (t *target) patchLike(ctx context.Context, live, manifest *unstructured.Unstructured, original string) error {
	annotated := manifest.DeepCopy() // otherwise the patch would remove the annotations of others
	annotations := annotated.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[lastApplied] = original
	annotated.SetAnnotations(annotations)
	modified, err := json.Marshal(annotated.Object)
	if err != nil {
		return err
	}
	current, err := json.Marshal(live.Object)
	if err != nil {
		return err
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch([]byte(original), modified, current)
	if err != nil {
		return err
	}
	return t.Patch(ctx, live, client.RawPatch(types.MergePatchType, patch), client.DryRunAll)
}
