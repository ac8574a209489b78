/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// journal is the events in a readable form.
type journal struct {
	lines     []string
	revisions []string
	at        func() time.Time
}

func (s *journal) add(by, what string) {
	for i, revision := range s.revisions {
		what = strings.ReplaceAll(what, revision, fmt.Sprintf("revision %d", i+1))
	}
	seconds := int(s.at().Sub(Began).Seconds())
	s.lines = append(s.lines, fmt.Sprintf("%4ds  %-11s  %s", seconds, by, what))
}

// once adds a line that a controller would repeat.
func (s *journal) once(by, what string) {
	said := func(line string) bool { return strings.HasSuffix(line, what) }
	if !slices.ContainsFunc(s.lines[max(0, len(s.lines)-30):], said) {
		s.add(by, what)
	}
}

// revision is a name for the hash of a revision that does not change with the rendering.
func (s *journal) revision(hash string) string {
	i := slices.Index(s.revisions, hash)
	if i < 0 {
		s.revisions = append(s.revisions, hash)
		i = len(s.revisions) - 1
	}
	return fmt.Sprintf("revision %d", i+1)
}

func (s *journal) heading(text string) { s.lines = append(s.lines, "", "# "+text, "") }

func (s *journal) text() string { return strings.TrimLeft(strings.Join(s.lines, "\n"), "\n") + "\n" }

// Text is what has happened so far, in a readable form.
func (w *World) Text() string { return w.journal.text() }

// recordChange adds a write of the operator.
func (w *World) recordChange(c store.Change) {
	if w.by != operator {
		return
	}
	switch {
	case c.Before == nil:
		w.journal.add(w.by, fmt.Sprintf("%s: creates %s", w.life.verb, store.Ref(c.After)))
	case c.After == nil && c.Before.GetDeletionTimestamp() != nil:
		w.journal.add(w.by, fmt.Sprintf("%s: lets %s go", w.life.verb, store.Ref(c.Before)))
	case c.After == nil, c.After.GetDeletionTimestamp() != nil && c.Before.GetDeletionTimestamp() == nil:
		w.journal.add(w.by, fmt.Sprintf("%s: deletes %s%s", w.life.verb, store.Ref(c.Before), propagation(c)))
	default:
		if what := differences(c.Before, c.After); what != "" {
			w.journal.add(w.by, fmt.Sprintf("%s: %s %s", w.life.verb, store.Ref(c.After), what))
		}
		w.recordStatus(c)
	}
}

// recordStatus adds the status of an object that the operator reconciles.
func (w *World) recordStatus(c store.Change) {
	if !isReconciled(c.After) {
		return
	}
	switch after := c.After.(type) {
	case *dbv1.DatabaseCluster:
		before := c.Before.(*dbv1.DatabaseCluster)
		if before.Status.ObservedGeneration != after.Status.ObservedGeneration {
			w.journal.add("status", fmt.Sprintf("observedGeneration %d", after.Status.ObservedGeneration))
		}
	case *dbv1.DatabaseBackup:
		w.recordPhases(after.Name, c.Before.(*dbv1.DatabaseBackup).Status, after.Status)
	}
	w.recordConditions(c)
	w.recordHooks(c)
}

// recordPhases adds the phases of a backup and its verification.
func (w *World) recordPhases(name string, was, is dbv1.DatabaseBackupStatus) {
	if is.Phase != was.Phase || is.Message != was.Message {
		w.journal.add("backup", fmt.Sprintf("%s %s %s", name, is.Phase, is.Message))
	}
	v, before := is.Verification, was.Verification
	if v != nil && (before == nil || v.Phase != before.Phase || v.Message != before.Message) {
		w.journal.add("backup", fmt.Sprintf("%s verification %s: %s", name, v.Phase, v.Message))
	}
}

// recordConditions adds the conditions that have changed. A story has one cluster, so only other objects are named.
func (w *World) recordConditions(c store.Change) {
	by, name, isTrue := nounOf(c.After), c.After.GetName()+" ", ""
	if _, cluster := c.After.(*dbv1.DatabaseCluster); cluster {
		by, name, isTrue = "status", "", " True"
	}
	before, after := conditionsOf(c.Before), conditionsOf(c.After)
	for _, is := range after {
		was := meta.FindStatusCondition(before, is.Type)
		changed := was == nil || was.Status != is.Status || was.Reason != is.Reason || was.Message != is.Message
		state := strings.Replace(" "+string(is.Status), " True", isTrue, 1)
		if changed && !repeatsPhase(c.After, is) {
			w.journal.add(by, fmt.Sprintf("%s%s%s %s: %s", name, is.Type, state, is.Reason, is.Message))
		}
	}
	for _, was := range before {
		if meta.FindStatusCondition(after, was.Type) == nil {
			w.journal.add(by, name+was.Type+" is no more")
		}
	}
}

// conditionsOf are the conditions of an object of the operator's kinds.
func conditionsOf(object client.Object) []metav1.Condition {
	return reflect.ValueOf(object).Elem().FieldByName("Status").FieldByName("Conditions").Interface().([]metav1.Condition)
}

// repeatsPhase reports whether the phases of a backup already show a condition. They do not show what blocks the backup.
func repeatsPhase(object client.Object, is metav1.Condition) bool {
	_, backup := object.(*dbv1.DatabaseBackup)
	return backup && (is.Status != metav1.ConditionTrue || is.Type == dbv1.ConditionReady || is.Type == dbv1.ConditionVerified)
}

func (w *World) recordHooks(c store.Change) {
	after, ok := c.After.(*dbv1.DatabaseCluster)
	if !ok {
		return
	}
	for i, is := range after.Status.Hooks {
		if was := c.Before.(*dbv1.DatabaseCluster).Status.Hooks; i >= len(was) || was[i].Phase != is.Phase ||
			len(was[i].Stopped) != len(is.Stopped) {
			w.journal.add("status", fmt.Sprintf("hook %s %s: %s%s", is.Name, is.Phase, is.Message, endings(is.Stopped)))
		}
	}
}

func propagation(c store.Change) string {
	if c.After != nil && store.HasFinalizer(c.After, metav1.FinalizerOrphanDependents) {
		return ", its pods stay"
	}
	return ""
}

func endings(stopped []dbv1.StoppedMember) string {
	var text strings.Builder
	for _, s := range stopped {
		code := "?"
		if s.ExitCode != nil {
			code = fmt.Sprint(*s.ExitCode)
		}
		fmt.Fprintf(&text, " [%s %s]", s.Pod, code)
	}
	return text.String()
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

// Story is the steps of the owner of a cluster, one after the other.
type Story struct {
	Name  string
	Steps []Step
}

// Step is one action of a person or program. The world then continues until it is idle, or for some rounds.
type Step struct {
	What   string
	Do     func(w *World)
	Rounds int
	// Golden is the golden file that already has the result.
	Golden string
}

// Tell is a story of steps.
func Tell(name string, steps ...Step) Story { return Story{name, steps} }

// hurried reports whether the next step starts before the world is idle. The intermediate actions then depend on
// timing, and only the end is the same.
func (s Story) hurried() bool {
	for _, step := range s.Steps {
		if step.Rounds > 0 {
			return true
		}
	}
	return false
}
