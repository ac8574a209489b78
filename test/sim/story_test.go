/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// story is the events in a readable form.
type story struct {
	lines     []string
	revisions []string
	at        func() time.Time
}

func (s *story) add(by, what string) {
	for i, revision := range s.revisions {
		what = strings.ReplaceAll(what, revision, fmt.Sprintf("revision %d", i+1))
	}
	seconds := int(s.at().Sub(began).Seconds())
	s.lines = append(s.lines, fmt.Sprintf("%4ds  %-11s  %s", seconds, by, what))
}

// once adds a line that a controller would repeat.
func (s *story) once(by, what string) {
	if n := len(s.lines); n > 0 && slices.ContainsFunc(s.lines[max(0, n-30):], func(line string) bool { return strings.HasSuffix(line, what) }) {
		return
	}
	s.add(by, what)
}

// revision is a name for the hash of a revision that does not change with the rendering.
func (s *story) revision(hash string) string {
	i := slices.Index(s.revisions, hash)
	if i < 0 {
		s.revisions = append(s.revisions, hash)
		i = len(s.revisions) - 1
	}
	return fmt.Sprintf("revision %d", i+1)
}

func (s *story) heading(text string) { s.lines = append(s.lines, "", "# "+text, "") }

func (s *story) text() string { return strings.TrimLeft(strings.Join(s.lines, "\n"), "\n") + "\n" }

// text is what has happened so far, in a readable form.
func (w *world) text() string { return w.story.text() }

// recordChange adds a write of the operator.
func (w *world) recordChange(c change) {
	if w.by != operator {
		return
	}
	switch {
	case c.before == nil:
		w.story.add(w.by, fmt.Sprintf("%s: creates %s", w.life.verb, ref(c.after)))
	case c.after == nil && c.before.GetDeletionTimestamp() != nil:
		w.story.add(w.by, fmt.Sprintf("%s: lets %s go", w.life.verb, ref(c.before)))
	case c.after == nil, c.after.GetDeletionTimestamp() != nil && c.before.GetDeletionTimestamp() == nil:
		w.story.add(w.by, fmt.Sprintf("%s: deletes %s%s", w.life.verb, ref(c.before), propagation(c)))
	default:
		if what := differences(c.before, c.after); what != "" {
			w.story.add(w.by, fmt.Sprintf("%s: %s %s", w.life.verb, ref(c.after), what))
		}
		w.recordConditions(c)
		w.recordBackup(c)
	}
}

// recordBackup adds the status of a backup.
func (w *world) recordBackup(c change) {
	after, ok := c.after.(*dbv1.DatabaseBackup)
	if !ok {
		return
	}
	is, was := after.Status, c.before.(*dbv1.DatabaseBackup).Status
	if is.Phase != was.Phase || is.Message != was.Message {
		w.story.add("backup", fmt.Sprintf("%s %s %s", after.Name, is.Phase, is.Message))
	}
	if v := is.Verification; v != nil && (was.Verification == nil || v.Phase != was.Verification.Phase || v.Message != was.Verification.Message) {
		w.story.add("backup", fmt.Sprintf("%s verification %s: %s", after.Name, v.Phase, v.Message))
	}
	for _, b := range []string{dbv1.ConditionStalled, dbv1.ConditionDeletionBlocked} {
		before, now := meta.FindStatusCondition(was.Conditions, b), meta.FindStatusCondition(is.Conditions, b)
		if now != nil && now.Status == metav1.ConditionTrue && (before == nil || before.Status != now.Status || before.Message != now.Message) {
			w.story.add("backup", fmt.Sprintf("%s %s %s: %s", after.Name, b, now.Reason, now.Message))
		}
	}
}

func propagation(c change) string {
	if c.after != nil && hasFinalizer(c.after, metav1.FinalizerOrphanDependents) {
		return ", its pods stay"
	}
	return ""
}

func (w *world) recordConditions(c change) {
	after, ok := c.after.(*dbv1.DatabaseCluster)
	if !ok {
		return
	}
	before := c.before.(*dbv1.DatabaseCluster)
	if before.Status.ObservedGeneration != after.Status.ObservedGeneration {
		w.story.add("status", fmt.Sprintf("observedGeneration %d", after.Status.ObservedGeneration))
	}
	for _, is := range after.Status.Conditions {
		was := meta.FindStatusCondition(before.Status.Conditions, is.Type)
		if was == nil || was.Status != is.Status || was.Reason != is.Reason || was.Message != is.Message {
			w.story.add("status", fmt.Sprintf("%s %s %s: %s", is.Type, is.Status, is.Reason, is.Message))
		}
	}
	for i, is := range after.Status.Hooks {
		if was := before.Status.Hooks; i >= len(was) || was[i].Phase != is.Phase || len(was[i].Stopped) != len(is.Stopped) {
			w.story.add("status", fmt.Sprintf("hook %s %s: %s%s", is.Name, is.Phase, is.Message, endings(is.Stopped)))
		}
	}
	for _, was := range before.Status.Conditions {
		if meta.FindStatusCondition(after.Status.Conditions, was.Type) == nil {
			w.story.add("status", was.Type+" is no more")
		}
	}
}

func endings(stopped []dbv1.StoppedMember) string {
	text := ""
	for _, s := range stopped {
		code := "?"
		if s.ExitCode != nil {
			code = fmt.Sprint(*s.ExitCode)
		}
		text += fmt.Sprintf(" [%s %s]", s.Pod, code)
	}
	return text
}

// mostDifferences is the number of reported differences of one write.
const mostDifferences = 6

// Values without meaning for readers: hashes, and the UID in the record of a generation.
var (
	digest     = regexp.MustCompile(`^[0-9a-f]{8,}$`)
	recordedOf = regexp.MustCompile(`^(generation-\d+)-of-.+$`)
)

// differences returns the differing fields of two states of an object. It omits counters of the API server and the
// status, which has its own lines.
func differences(before, after client.Object) string {
	was, is := flat(before), flat(after)
	var texts []string
	for _, path := range slices.Sorted(maps.Keys(merged(was, is))) {
		old, had := was[path]
		value, has := is[path]
		switch {
		case old == value && had == has:
		case digest.MatchString(old) && digest.MatchString(value), digest.MatchString(value) && !had:
			texts = append(texts, path)
		case !had:
			texts = append(texts, fmt.Sprintf("%s + %s", path, short(value)))
		case !has:
			texts = append(texts, fmt.Sprintf("%s - %s", path, short(old)))
		default:
			texts = append(texts, fmt.Sprintf("%s %s -> %s", path, short(old), short(value)))
		}
	}
	if more := len(texts) - mostDifferences; more > 0 {
		texts = append(texts[:mostDifferences], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}

func short(value string) string {
	const most = 60
	if digest.MatchString(value) {
		return "(hash)"
	}
	if value = recordedOf.ReplaceAllString(value, "$1"); len(value) > most {
		return value[:most] + "..."
	}
	return value
}

func merged(a, b map[string]string) map[string]string {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

var omittedFields = []string{
	"apiVersion", "kind", "status", "metadata.resourceVersion", "metadata.generation", "metadata.managedFields", "metadata.uid",
	"metadata.creationTimestamp", "metadata.annotations[" + dbv1.AnnotationApplied + "]",
}

// flat returns an object as path and text of each leaf.
func flat(object client.Object) map[string]string {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		panic(err)
	}
	leaves := map[string]string{}
	flatten("", content, leaves)
	return leaves
}

func flatten(path string, value any, into map[string]string) {
	if slices.Contains(omittedFields, path) {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			next := path + "." + key
			if strings.ContainsAny(key, "./") {
				next = path + "[" + key + "]"
			}
			flatten(strings.TrimPrefix(next, "."), inner, into)
		}
	case []any:
		for i, inner := range v {
			key := fmt.Sprint(i)
			if element, ok := inner.(map[string]any); ok && element["name"] != nil {
				key = fmt.Sprint(element["name"])
			}
			flatten(path+"["+key+"]", inner, into)
		}
	default:
		into[path] = fmt.Sprint(v)
	}
}

// sequence is the steps of the owner of a cluster, one after the other.
type sequence struct {
	name  string
	steps []step
}

// step is one action of a person or program. The world then continues until it is idle, or for some rounds.
type step struct {
	what   string
	do     func(w *world)
	rounds int
	// golden is the golden file that already has the result.
	golden string
}

// tell is a story of steps.
func tell(name string, steps ...step) sequence { return sequence{name, steps} }

// hurried reports whether the next step starts before the world is idle. The intermediate actions then depend on
// timing, and only the end is the same.
func (s sequence) hurried() bool {
	for _, step := range s.steps {
		if step.rounds > 0 {
			return true
		}
	}
	return false
}
