/*
SPDX-License-Identifier: Apache-2.0
*/

package objects

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/memo"
)

// Comparisons remember for each cluster a hash of the inputs with which all its live objects were as desired. So a pass with the same
// inputs compares nothing, and renders nothing.
type Comparisons = memo.LastInput[types.UID, string]

// Drift is the path of the first field in which a live object differs from the child; "" if there is none. It sends
// no request. In steady state this comparison is the whole cost of a reconciliation.
func (c Child) Drift(live metav1.Object) string {
	want := withoutType(c.Object.Object)
	if c.recordsStoredSpec && Untouched(c.written, live) {
		want, have := withoutTemplates(want, live)
		return meant(uncovered("", want, have))
	}
	have := Fields(live)
	if path := uncovered("", want, have); path != "" {
		return meant(path)
	}
	if paths := c.foreignPaths(live, have); len(paths) > 0 {
		return strings.Join(paths[0], ".")
	}
	return ""
}

// IsIn reports whether a stored object has each desired field, after a patch has corrected those that only the operator may write. The
// template of a StatefulSet needs the apply, which also removes fields.
func (c Child) IsIn(stored *unstructured.Unstructured) bool {
	return !c.recordsStoredSpec && uncovered("", c.Object.Object, stored.Object) == ""
}

// meant returns the field whose change an annotation of the operator indicates.
func meant(path string) string {
	if path == "metadata.annotations."+dbv1.AnnotationRenderedFrom {
		return "spec.template"
	}
	return path
}

// PatchOperation is an operation of a JSON patch (RFC 6902).
type PatchOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// Removals is a JSON patch that corrects the fields that only the operator may write; nil when they are correct.
// Server-side apply alone keeps the additions of others:
//
// A selector key that another client added would cut the database off. A renumbered port would remain next to the
// operator's port of the same name, which the API server rejects forever. An extra container would be rolled out. A
// namespaceSelector in a peer of a NetworkPolicy would let pods of other namespaces in.
func (c Child) Removals(live metav1.Object) []PatchOperation {
	have := Fields(live)
	var patch []PatchOperation
	for _, path := range c.foreignPaths(live, have) {
		want, wanted, _ := unstructured.NestedFieldNoCopy(c.Object.Object, path...)
		_, there, _ := unstructured.NestedFieldNoCopy(have, path...)
		pointer := "/" + strings.Join(path, "/")
		switch {
		case wanted:
			patch = append(patch, PatchOperation{"add", pointer, want}) // replaces an existing value
		case there:
			patch = append(patch, PatchOperation{"remove", pointer, nil})
		}
	}
	return patch
}

// foreignPaths are the paths of the operator that another client has written.
func (c Child) foreignPaths(live metav1.Object, have map[string]any) [][]string {
	if c.recordsStoredSpec {
		if !Untouched(c.written, live) {
			return c.whole
		}
		return nil
	}
	var paths [][]string
	for _, path := range c.whole {
		want, _, _ := unstructured.NestedFieldNoCopy(c.Object.Object, path...)
		got, _, _ := unstructured.NestedFieldNoCopy(have, path...)
		if count(got) != count(want) || c.Exact && !reflect.DeepEqual(got, want) || uncovered(strings.Join(path, "."), want, got) != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

func count(value any) int {
	switch v := value.(type) {
	case map[string]any:
		return len(v)
	case []any:
		return len(v)
	case nil:
		return 0
	default:
		return 1
	}
}

// withoutType leaves out apiVersion and kind, which objects read by a typed client do not have.
func withoutType(object map[string]any) map[string]any {
	rest := maps.Clone(object)
	delete(rest, "apiVersion")
	delete(rest, "kind")
	return rest
}

// withoutTemplates leaves out the templates of an untouched object. The desired ones are those of the live object as long as the
// annotation with the hash of their inputs does not differ.
func withoutTemplates(want map[string]any, live metav1.Object) (rest, have map[string]any) {
	spec, _ := want["spec"].(map[string]any)
	spec = maps.Clone(spec)
	delete(spec, "template")
	delete(spec, "volumeClaimTemplates")
	want["spec"] = spec
	return want, Fields(bare(live))
}

// bare is the object without its templates.
func bare(live metav1.Object) any {
	switch live := live.(type) {
	case *appsv1.StatefulSet:
		rest := *live
		rest.Spec.Template, rest.Spec.VolumeClaimTemplates = corev1.PodTemplateSpec{}, nil
		return &rest
	case *appsv1.Deployment:
		rest := *live
		rest.Spec.Template = corev1.PodTemplateSpec{}
		return &rest
	}
	return live
}

// uncovered is the path of the first desired field that the live value does not have.
func uncovered(path string, want, have any) string {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok && len(w) > 0 {
			return path
		}
		for _, key := range slices.Sorted(maps.Keys(w)) {
			if p := uncovered(strings.TrimPrefix(path+"."+key, "."), w[key], h[key]); p != "" {
				return p
			}
		}
		return ""
	case []any:
		h, _ := have.([]any)
		if !listCovered(path, w, h) {
			return path
		}
		return ""
	default:
		// The JSON form of an object may omit values that are false, zero or empty.
		if reflect.DeepEqual(want, have) || have == nil && reflect.ValueOf(want).IsZero() {
			return ""
		}
		return path
	}
}

// associative are the lists whose elements the API server merges by key (x-kubernetes-list-type: map), so that
// others may add elements. The API server replaces every other list as a whole.
var associative = map[string]bool{
	"ownerReferences": true, "containers": true, "initContainers": true, "env": true, "ports": true,
	"volumes": true, "volumeMounts": true, "imagePullSecrets": true, "topologySpreadConstraints": true,
	"volumeClaimTemplates": true,
}

func listCovered(path string, want, have []any) bool {
	if !associative[path[strings.LastIndex(path, ".")+1:]] {
		return slices.EqualFunc(want, have, covers)
	}
	for _, w := range want {
		if !slices.ContainsFunc(have, func(h any) bool { return covers(w, h) }) {
			return false
		}
	}
	return true
}

func covers(want, have any) bool { return uncovered("element", want, have) == "" }
