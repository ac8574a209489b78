/*
SPDX-License-Identifier: Apache-2.0
*/

package world

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
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// snapshot returns every object at the end, without differences between runs. Names replace UIDs, versions and times
// are omitted, and a generation only shows whether it was observed.
func (w *World) snapshot() map[string]string {
	aliases := make([]string, 0, 2*len(w.Store.Sorted()))
	for _, object := range w.Store.Sorted() {
		aliases = append(aliases, string(object.GetUID()), "uid of "+store.Ref(object))
	}
	alias := strings.NewReplacer(aliases...)
	objects := map[string]string{}
	for _, object := range w.Store.Sorted() {
		if _, history := object.(*appsv1.ControllerRevision); history || leftToTime(object) || isAttempt(object) {
			continue
		}
		objects[store.Ref(object)] = alias.Replace(normalText(withoutRuns(object)))
	}
	objects["data"] = alias.Replace(w.lasting().String())
	return objects
}

// lasting is the disk without what depends on the path: whether Jobs of deleted backups and of actions on members have finished, and
// the rows of clients.
func (w *World) lasting() *disk {
	kept := map[string]bool{}
	for _, b := range store.All[*dbv1.DatabaseBackup](w.Store) {
		kept[naming.Short(b.UID)] = true
	}
	lasting := w.disk.clone()
	maps.DeleteFunc(lasting.succeeded, func(job string, _ bool) bool {
		_, rest, of := strings.Cut(job, "-backup-")
		uid, _, _ := strings.Cut(rest, "-")
		return of && !kept[uid] || strings.Contains(job, "-handover-") || strings.Contains(job, "-remove-") ||
			strings.Contains(job, "-configure-") || strings.Contains(job, "-objects-") || strings.Contains(job, "-protect-")
	})
	for uid, v := range lasting.volumes {
		v.rows = 0
		lasting.volumes[uid] = v
	}
	for at, there := range lasting.bucket {
		for member, of := range there.sources {
			of.rows, of.offline = 0, false
			there = there.from(member, of)
		}
		lasting.bucket[at] = there
	}
	lasting.shared.acked, lasting.shared.left = nil, nil
	for at, one := range lasting.accounts { // the number of passwords that were generated depends on the path
		lasting.accounts[at] = account{id: one.id}
	}
	return lasting
}

// withoutRuns is an object without what depends on how often an action has run, and when: the action configure, and the action objects.
func withoutRuns(object client.Object) client.Object {
	switch o := object.DeepCopyObject().(type) {
	case *dbv1.DatabaseCluster:
		if o.Status.Configuration != nil {
			o.Status.Configuration.Hash, o.Status.Configuration.ChangedHash = "", ""
		}
		o.Status.Objects = nil
		return o
	case *dbv1.Database:
		o.Status.Version, o.Status.Applied = "", ""
		return o
	case *dbv1.DatabaseUser:
		o.Status.Version, o.Status.Applied, o.Status.PasswordVersion = "", "", ""
		return o
	default:
		return object
	}
}

// isAttempt reports whether an object is a pod of an ended Job: the number of attempts depends on the path.
func isAttempt(object client.Object) bool {
	pod, is := object.(*corev1.Pod)
	return is && pod.Spec.RestartPolicy == corev1.RestartPolicyNever && HasEnded(pod)
}

func normalText(object client.Object) string {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		panic(err)
	}
	if b, is := object.(*dbv1.DatabaseBackup); is && b.Status.Phase == dbv1.BackupFailed {
		forget(content, "bytes", "storedBytes", "size") // progress
	}
	text, err := json.MarshalIndent(normalize(content, object.GetGeneration()), "", " ")
	if err != nil {
		panic(err)
	}
	return took.ReplaceAllString(instant.ReplaceAllString(string(text), "(time)"), "(time)")
}

// forget removes fields of the status.
func forget(object map[string]any, fields ...string) {
	for _, field := range fields {
		unstructured.RemoveNestedField(object, "status", field)
	}
}

// instant is a point in time, took is a duration, in any field or sentence. Each starts with letters that make the
// search fast.
var (
	instant = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	took    = regexp.MustCompile(`took [0-9hms]+`)
)

// pathDependent are the fields that depend on the path and not on the end. With updateStrategy OnDelete, the current
// revision of a StatefulSet never changes. A member that was resized keeps its revision, but a restarted one has the
// new one. Another annotation shows that all run the same template. The record of the stored spec is a generation or a hash. A backup has a
// fence only if all members had stopped when it started.
var pathDependent = []string{
	"currentRevision", "currentReplicas", "controller-revision-hash", "revision", "updatedReplicas",
	"resourceVersion", "managedFields", "generation", "creationTimestamp", "lastTransitionTime", "startedAt", "lastProbeTime", "finishedAt",
	"rate", "duration", "recoveredSeconds", "fence", dbv1.AnnotationStoredSpec,
}

// onceTrue are the conditions that exist since they were first True. Their existence while False depends on the path.
var onceTrue = []string{
	dbv1.ConditionUpdateAvailable, dbv1.ConditionStorageResizing, dbv1.ConditionPaused, dbv1.ConditionHibernated,
}

// normalConditions returns conditions by type, in any order.
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
			case slices.Contains(pathDependent, key):
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

// difference returns the differences of two snapshots, "" if there are none.
func difference(want, got map[string]string) string {
	var texts []string
	for _, object := range slices.Sorted(maps.Keys(merged(want, got))) {
		if want[object] != got[object] {
			texts = append(texts, fmt.Sprintf("%s:\n%s", object, FirstDifference(want[object], got[object])))
		}
	}
	return strings.Join(texts, "\n")
}

// FirstDifference is the first different line of two texts with its context.
func FirstDifference(want, got string) string {
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
