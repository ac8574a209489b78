/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// manifests are objects of a file.
type manifests []*unstructured.Unstructured

// manifestOf reads the DatabaseCluster of a name from a file, and the other objects of that file.
func (s *session) manifestOf(file, name, namespace string) (found *unstructured.Unstructured, others manifests, err error) {
	all, err := s.objectsIn(file)
	if err != nil {
		return nil, nil, err
	}
	elsewhere := ""
	for _, object := range all {
		in := object.GetNamespace()
		switch {
		case object.GroupVersionKind().GroupKind() != clusterKind || object.GetName() != name:
			others = append(others, object)
		case in != "" && in != namespace:
			elsewhere = in
			others = append(others, object)
		case found != nil:
			return nil, nil, fmt.Errorf("%s has DatabaseCluster %s twice: remove one of them", file, name)
		default:
			found = object
		}
	}
	switch {
	case found == nil && elsewhere != "":
		return nil, nil, fmt.Errorf("DatabaseCluster %s in %s has namespace %s, and you named %s: add -n %[3]s", name, file, elsewhere, namespace)
	case found == nil:
		return nil, nil, fmt.Errorf("%s has no DatabaseCluster %s", file, name)
	}
	found.SetNamespace(namespace)
	return found, others, nil
}

// clusterKind is the kind of a DatabaseCluster in any version.
var clusterKind = dbv1.GroupVersion.WithKind("DatabaseCluster").GroupKind()

// objectsIn are the objects of a file, with those of lists.
func (s *session) objectsIn(file string) (manifests, error) {
	input := s.In
	if file != "-" {
		opened, err := os.Open(file) //nolint:gosec // the file that the user names
		if err != nil {
			return nil, err
		}
		defer func() { _ = opened.Close() }() // it was only read
		input = opened
	}
	var all manifests
	for decoder := yaml.NewYAMLOrJSONDecoder(input, 4096); ; {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		case len(object.Object) == 0: // an empty document
		case object.IsList():
			items, err := object.ToList()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			for i := range items.Items {
				all = append(all, &items.Items[i])
			}
		default:
			all = append(all, object)
		}
	}
}

// notCompared has a sentence for each object of a file about which diff decides nothing.
func notCompared(file string, others manifests) []string {
	var all []string
	for _, o := range others {
		name, why := o.GetKind()+" "+cmp.Or(o.GetName(), o.GetGenerateName()), "The result is for the one of the API server now."
		switch kind := o.GroupVersionKind().GroupKind(); {
		case kind == clusterKind:
			why = fmt.Sprintf("kubectl dbc %sdiff %s -f %s does that.", inNamespace(o), o.GetName(), file)
		case kind.Group == clusterKind.Group && (kind.Kind == "Database" || kind.Kind == "DatabaseUser"):
			why = "A Job puts it in force in the database, and no member restarts for it."
		case kind.Group == clusterKind.Group && kind.Kind != "DatabaseEngine":
			why = "Its effect on the cluster is not shown."
		}
		all = append(all, name+" is not compared. "+why)
	}
	return all
}

// inNamespace is the flag for the namespace that a manifest names.
func inNamespace(o *unstructured.Unstructured) string {
	if o.GetNamespace() == "" {
		return ""
	}
	return "-n " + o.GetNamespace() + " "
}

// dryRun is the cluster as the API server would store it, with notes about fields that the dry run does not remove. A cluster of kubectl
// apply gets the same patch as by that, and others a server-side apply. That is also what the user gets who names a field manager.
func (t *target) dryRun(ctx context.Context, manifest *unstructured.Unstructured, manager string) (*dbv1.DatabaseCluster, []string, error) {
	var notes []string
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(manifest.GroupVersionKind())
	err := t.Get(ctx, client.ObjectKeyFromObject(manifest), live)
	switch original, annotated := live.GetAnnotations()[lastApplied]; {
	case apierrors.IsNotFound(err):
		live = manifest.DeepCopy()
		err = t.Create(ctx, live, client.DryRunAll)
	case err == nil && annotated && manager == "":
		err = t.patchLike(ctx, live, manifest, original)
	case err == nil:
		manager, notes = applier(live, manager)
		live = manifest.DeepCopy()
		err = t.Apply(ctx, client.ApplyConfigurationFromUnstructured(live), client.FieldOwner(manager), client.ForceOwnership, client.DryRunAll)
	}
	if err != nil {
		return nil, nil, err
	}
	cluster := &dbv1.DatabaseCluster{}
	return cluster, notes, runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, cluster)
}

// usualManager is the field manager of kubectl apply --server-side.
const usualManager = "kubectl"

// applier is the field manager of a server-side apply: the given one, or the last one that has applied the object. The API server removes
// the fields that the manifest lacks only if that manager has applied them before.
func applier(live *unstructured.Unstructured, given string) (manager string, notes []string) {
	managers := appliers(live.GetManagedFields())
	switch {
	case given != "":
	case len(managers) == 0:
		given = usualManager
	default:
		given = managers[0]
		if len(managers) > 1 {
			notes = append(notes, fmt.Sprintf("Several field managers have applied it: %s. The dry run is that of %s: see --field-manager.",
				strings.Join(managers, ", "), given))
		}
	}
	if !slices.Contains(managers, given) {
		notes = append(notes, fmt.Sprintf("Field manager %s has not applied DatabaseCluster %s yet, so fields that the manifest lacks stay.",
			given, live.GetName()))
	}
	return given, notes
}

// appliers are the field managers that have applied an object, the last one first. Those of the operator do not count.
func appliers(fields []metav1.ManagedFieldsEntry) []string {
	entries := slices.DeleteFunc(slices.Clone(fields), func(e metav1.ManagedFieldsEntry) bool {
		return e.Operation != metav1.ManagedFieldsOperationApply || e.Subresource != "" || e.Manager == dbv1.FieldOwner
	})
	at := func(e metav1.ManagedFieldsEntry) time.Time { return cmp.Or(e.Time, &metav1.Time{}).Time }
	slices.SortStableFunc(entries, func(a, b metav1.ManagedFieldsEntry) int { return at(b).Compare(at(a)) })
	var all []string
	for _, e := range entries {
		if !slices.Contains(all, e.Manager) {
			all = append(all, e.Manager)
		}
	}
	return all
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
