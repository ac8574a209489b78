/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Drift is the path of the first field in which a live object is not as the child says, "" when there
// is none. It sends nothing: at rest this comparison is all that a pass costs.
func (c Child) Drift(live any) string {
	have := toMap(live)
	if path := uncovered("", withoutType(c.Object.Object), have); path != "" {
		return path
	}
	for _, path := range c.whole {
		if c.intruded(have, path) {
			return strings.Join(path, ".")
		}
	}
	return ""
}

// Eviction is a merge patch that puts right the fields in which everything is the operator's; nil when
// they are right. Server-side apply alone leaves alone what others added: one more selector key cuts a
// database off, and a port that somebody renumbered would stand beside ours under the same name, which
// the API server refuses for ever.
func (c Child) Eviction(live any) map[string]any {
	have := toMap(live)
	patch := map[string]any{}
	for _, path := range c.whole {
		if c.intruded(have, path) {
			want, _, _ := unstructured.NestedFieldNoCopy(c.Object.Object, path...)
			got, _, _ := unstructured.NestedFieldNoCopy(have, path...)
			_ = unstructured.SetNestedField(patch, replacement(want, got), path...)
		}
	}
	if len(patch) == 0 {
		return nil
	}
	return patch
}

// intruded tells whether the live field at the path holds less, more or something else than the child
// says.
func (c Child) intruded(have map[string]any, path []string) bool {
	want, _, _ := unstructured.NestedFieldNoCopy(c.Object.Object, path...)
	got, _, _ := unstructured.NestedFieldNoCopy(have, path...)
	return count(got) != count(want) || uncovered(strings.Join(path, "."), want, got) != ""
}

func count(value any) int {
	switch v := value.(type) {
	case map[string]any:
		return len(v)
	case []any:
		return len(v)
	default:
		return 0
	}
}

// replacement is what makes a field exactly as wanted in a merge patch: lists are replaced by it,
// keys go when they are null.
func replacement(want, got any) any {
	wanted, ok := want.(map[string]any)
	if !ok {
		return want
	}
	patch := maps.Clone(wanted)
	if live, ok := got.(map[string]any); ok {
		for key := range live {
			if _, keep := wanted[key]; !keep {
				patch[key] = nil
			}
		}
	}
	return patch
}

// withoutType leaves out apiVersion and kind, which objects read by a typed client do not carry.
func withoutType(object map[string]any) map[string]any {
	rest := maps.Clone(object)
	delete(rest, "apiVersion")
	delete(rest, "kind")
	return rest
}

// uncovered is the path of the first wanted field that the live value does not have.
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
		if reflect.DeepEqual(want, have) {
			return ""
		}
		return path
	}
}

// associative are the lists whose elements the API server merges by key (x-kubernetes-list-type: map),
// so that others may add elements of their own. Every other list is replaced as a whole.
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
