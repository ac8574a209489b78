/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// snapshot is every object as it is in the end, without what differs from run to run: UIDs go by the name
// of their object, versions and times are left out, a generation is told by whether it was observed.
func (s *store) snapshot() map[string]string {
	aliases := make([]string, 0, 2*len(s.objects))
	for _, object := range s.sorted() {
		aliases = append(aliases, string(object.GetUID()), "uid of "+ref(object))
	}
	alias := strings.NewReplacer(aliases...)
	objects := map[string]string{}
	for _, object := range s.sorted() {
		objects[ref(object)] = alias.Replace(normalText(object))
	}
	return objects
}

func normalText(object client.Object) string {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		panic(err)
	}
	text, err := json.MarshalIndent(normalize(content, object.GetGeneration()), "", " ")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// ofTheWay are the fields that tell of the way and not of where it leads. With updateStrategy OnDelete the
// current revision of a StatefulSet stays what it first was.
var ofTheWay = []string{
	"currentRevision", "currentReplicas", "resourceVersion", "managedFields", "generation", "creationTimestamp", "lastTransitionTime", "startedAt", "lastProbeTime",
}

func normalize(value any, generation int64) any {
	switch v := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, inner := range v {
			switch {
			case slices.Contains(ofTheWay, key):
			case key == "deletionTimestamp":
				kept[key] = "set"
			case key == "observedGeneration":
				kept[key] = inner == generation
			default:
				kept[key] = normalize(inner, generation)
			}
		}
		return kept
	case []any:
		kept := make([]any, 0, len(v))
		for _, inner := range v {
			kept = append(kept, normalize(inner, generation))
		}
		return kept
	default:
		return value
	}
}

// unlike says how two snapshots differ, "" when they do not.
func unlike(want, got map[string]string) string {
	var texts []string
	for _, object := range slices.Sorted(maps.Keys(merged(want, got))) {
		if want[object] != got[object] {
			texts = append(texts, fmt.Sprintf("%s:\n%s", object, firstDifference(want[object], got[object])))
		}
	}
	return strings.Join(texts, "\n")
}

// firstDifference is the first line in which two texts differ, with what stands around it.
func firstDifference(want, got string) string {
	wanted, had := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(wanted), len(had)) {
		if a, b := line(wanted, i), line(had, i); a != b {
			return fmt.Sprintf("line %d\n   %s\n want %s\n  got %s", i+1, line(wanted, i-1), a, b)
		}
	}
	return "no difference"
}

func line(lines []string, i int) string {
	if i < 0 || i >= len(lines) {
		return "(nothing)"
	}
	return lines[i]
}
