/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
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
		if _, history := object.(*appsv1.ControllerRevision); history || leftToTime(object) || isTry(object) {
			continue
		}
		objects[ref(object)] = alias.Replace(normalText(object))
	}
	objects["data"] = alias.Replace(s.disk.String())
	return objects
}

// isTry tells whether an object is a pod of a Job that has ended: how many tries there were depends on the way.
func isTry(object client.Object) bool {
	pod, is := object.(*corev1.Pod)
	return is && pod.Spec.RestartPolicy == corev1.RestartPolicyNever && hasEnded(pod)
}

func normalText(object client.Object) string {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		panic(err)
	}
	if b, is := object.(*dbv1.DatabaseBackup); is && b.Status.Phase == dbv1.BackupFailed {
		forget(content, "bytes", "storedBytes", "size") // how far it was seen to come
	}
	text, err := json.MarshalIndent(normalize(content, object.GetGeneration()), "", " ")
	if err != nil {
		panic(err)
	}
	return took.ReplaceAllString(instant.ReplaceAllString(string(text), "(time)"), "(time)")
}

// forget leaves out fields of the status.
func forget(object map[string]any, fields ...string) {
	for _, field := range fields {
		unstructured.RemoveNestedField(object, "status", field)
	}
}

// instant is a point in time, took how long something took, in whatever field or sentence. Each begins with letters by
// which it is found fast.
var (
	instant = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	took    = regexp.MustCompile(`took [0-9hms]+`)
)

// ofTheWay are the fields that tell of the way and not of where it leads. With updateStrategy OnDelete the
// current revision of a StatefulSet stays what it first was, and a member that was given other resources
// while it ran keeps its revision, where one that was restarted for them has the new one: that all run the
// same template, another annotation tells.
var ofTheWay = []string{
	"currentRevision", "currentReplicas", "controller-revision-hash", "revision", "updatedReplicas",
	"resourceVersion", "managedFields", "generation", "creationTimestamp", "lastTransitionTime", "startedAt", "lastProbeTime", "finishedAt",
	"rate", "duration",
}

// onceTrue are the conditions that are there from when they first were True: whether one that is False is
// there depends on the way.
var onceTrue = []string{
	dbv1.ConditionUpdateAvailable, dbv1.ConditionStorageResizing, dbv1.ConditionPaused, dbv1.ConditionHibernated,
}

// normalConditions are conditions by type, in whatever order they came.
func normalConditions(list []any) []any {
	list = slices.DeleteFunc(list, func(c any) bool {
		condition, _ := c.(map[string]any)
		return condition["status"] == "False" && slices.Contains(onceTrue, typeOf(c))
	})
	slices.SortFunc(list, func(a, b any) int { return cmp.Compare(typeOf(a), typeOf(b)) })
	return list
}

func typeOf(condition any) string {
	fields, _ := condition.(map[string]any)
	kind, _ := fields["type"].(string)
	return kind
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
			case key == "conditions":
				list, _ := inner.([]any)
				kept[key] = normalize(normalConditions(list), generation)
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
