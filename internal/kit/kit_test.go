/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// op is an operation that may fail.
type op struct {
	name string
	operation.Properties
	err error
}

func (o op) String() string { return o.name }

type opWith struct{ op }

func (o opWith) Properties() operation.Properties { return o.op.Properties }

type todo struct {
	all  operation.List
	live bool
}

func (t todo) Work() operation.Agenda {
	return operation.Agenda{Operations: t.all, Why: "because", RequeueAfter: time.Minute}
}
func (t todo) LiveRead() bool { return t.live }

func list(all ...op) operation.List {
	var l operation.List
	for _, o := range all {
		l = append(l, opWith{o})
	}
	return l
}

func TestTheEffectOfAFailedOperationDependsOnItsProperties(t *testing.T) {
	broken := errors.New("broken")
	first, aside, disruptive := operation.Properties{First: true}, operation.Properties{Independent: true}, operation.Properties{Disruptive: true}
	for name, c := range map[string]struct {
		all  operation.List
		want string
		err  bool
	}{
		"nothing fails":            {list(op{"a", first, nil}, op{"b", operation.Properties{}, nil}, op{"c", disruptive, nil}), "a b c", false},
		"what prepares the others": {list(op{"a", first, broken}, op{"b", aside, nil}, op{"c", disruptive, nil}), "", true},
		"one of several":           {list(op{"a", operation.Properties{}, broken}, op{"b", operation.Properties{}, nil}, op{"c", disruptive, nil}), "b", true},
		"what has to do with none": {list(op{"a", aside, broken}, op{"b", operation.Properties{}, nil}, op{"c", disruptive, nil}), "b c", true},
		"that which is disruptive": {list(op{"a", operation.Properties{}, nil}, op{"c", disruptive, broken}), "a", true},
	} {
		done, err := Execute(t.Context(), todo{all: c.all}, true, func(_ context.Context, o operation.Operation) ([]Event, error) {
			executed := o.(opWith)
			if executed.err != nil {
				return nil, executed.err
			}
			return []Event{Normal("Done", "Do", executed.name)}, nil
		})
		var notes []string
		for _, e := range done {
			notes = append(notes, e.Note)
		}
		if got := strings.Join(notes, " "); got != c.want || (err != nil) != c.err {
			t.Errorf("%s: executed %q, %v, want %q", name, got, err, c.want)
		}
	}
	_, err := Execute(t.Context(), todo{all: list(op{"a", operation.Properties{Independent: true, Optional: true}, broken})}, true,
		func(context.Context, operation.Operation) ([]Event, error) { return nil, broken })
	if is := operation.Split(err); is.Required != nil || !errors.Is(is.Optional, broken) {
		t.Errorf("the error of an optional operation: %v and %v", is.Required, is.Optional)
	}
}

func TestAnEventNamesAllItsObjectsAndFitsIntoANote(t *testing.T) {
	recorder := events.NewFakeRecorder(10)
	pods := []operation.Patch{{Text: "pod a"}, {Text: "pod b"}}
	(&Base{Events: recorder}).Tell(&corev1.Pod{}, slices.Concat(
		About(pods, ", ", Normal("Deleted", "Delete", "deleting ")), About(pods[:0], ", ", Normal("None", "Do", "")),
		[]Event{Warning("Other", "Do", "x"), Normal("Long", "Do", strings.Repeat("é", MaxNote))},
	))
	var got []string
	for len(recorder.Events) > 0 {
		got = append(got, <-recorder.Events)
	}
	want := []string{"Normal Deleted deleting pod a, pod b", "Warning Other x"}
	if len(got) != 3 || !slices.Equal(got[:2], want) {
		t.Fatalf("%q", got)
	}
	if note := strings.TrimPrefix(got[2], "Normal Long "); len(note) > MaxNote || !utf8.ValidString(note) || !strings.HasSuffix(note, "é…") {
		t.Errorf("%d bytes: %q", len(note), note)
	}
}

func TestAConditionThatReachesItsStatusIsOneEvent(t *testing.T) {
	table := []operation.Transition{
		{Condition: "Ready", Status: metav1.ConditionTrue, Type: corev1.EventTypeNormal, Action: "ReportReady"},
		{Condition: "Progressing", Status: metav1.ConditionTrue, Reason: "Retrying", Type: corev1.EventTypeWarning, Action: "Report"},
	}
	is := func(condition, reason string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: condition, Status: status, Reason: reason, Message: "m"}
	}
	ready, retrying := is("Ready", "A", metav1.ConditionTrue), is("Progressing", "Retrying", metav1.ConditionTrue)
	for name, c := range map[string]struct {
		before, after []metav1.Condition
		want          int
	}{
		"it is new":               {nil, []metav1.Condition{ready, retrying}, 2},
		"nothing changed":         {[]metav1.Condition{ready}, []metav1.Condition{ready}, 0},
		"it has another reason":   {[]metav1.Condition{ready}, []metav1.Condition{is("Ready", "B", metav1.ConditionTrue)}, 1},
		"another status":          {[]metav1.Condition{ready}, []metav1.Condition{is("Ready", "A", metav1.ConditionFalse)}, 0},
		"a reason of no interest": {nil, []metav1.Condition{is("Progressing", "Applying", metav1.ConditionTrue)}, 0},
	} {
		if got := Transitions(table, c.before, c.after); len(got) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := Transitions(table, nil, []metav1.Condition{ready})[0]; got.Reason != "A" || got.Action != "ReportReady" || got.Note != "m" {
		t.Errorf("%+v", got)
	}
}

func TestAReadingFallsBackToTheAPIServerAndStopsAfterAnError(t *testing.T) {
	stored := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "one"}}
	live, reads := fake.NewClientBuilder().WithObjects(stored).Build(), 0
	broken := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			reads++
			return errors.New("broken")
		},
	})
	empty := View{Reader: fake.NewClientBuilder().Build()}
	about := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "about"}}
	if r := (&Reading{View: empty, Object: about}); r.Find(t.Context(), "one", &corev1.Secret{}) || r.Err != nil {
		t.Error("found in an empty cache:", r.Err)
	}
	if r := (&Reading{View: empty.Else(live), Object: about}); !r.Find(t.Context(), "one", &corev1.Secret{}) || r.Err != nil {
		t.Error("not found at the API server:", r.Err)
	}
	r := &Reading{View: View{Reader: broken}, Live: live, Object: about}
	r.Find(t.Context(), "one", &corev1.Secret{})
	r.List(t.Context(), &corev1.PodList{}, "", "")
	if found := r.FindLive(t.Context(), "one", &corev1.Secret{}); found || reads != 1 || r.Err == nil {
		t.Errorf("%d reads, found %t after the error %v", reads, found, r.Err)
	}
}

// log returns the same log for every Job.
type log struct{ tail, refusal string }

func (l log) Tail(context.Context, string, string, string) (string, error) { return l.tail, nil }
func (l log) Refusal(context.Context, string, types.UID) (string, error)   { return l.refusal, nil }
func (l log) Unready(context.Context, string, types.UID) (string, error)   { return "", nil }

func TestATaskIsObservedWithItsPodsItsRejectionAndItsLog(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", UID: "j", Labels: map[string]string{dbv1.LabelComponent: dbv1.ComponentBackup}}}
	job.Status.StartTime = &metav1.Time{Time: now.Add(-time.Minute)}
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "j-x", Labels: map[string]string{batchv1.ControllerUidLabel: "j"}}}
	others := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "k-x", Labels: map[string]string{batchv1.ControllerUidLabel: "k"}}}
	logs := log{tail: `{"msg":"progress","bytes":7}`, refusal: "Error creating: exceeded quota: q"}
	if task := jobs.Observe(t.Context(), logs, job, []corev1.Pod{others}, now); task.Pod != "" || task.Refusal != "exceeded quota: q" {
		t.Errorf("%+v", task)
	}
	job.Status.Active = 1
	tasks := []jobs.Job{jobs.Observe(t.Context(), logs, job, []corev1.Pod{others, pod}, now)}
	jobs.ReadLogs(t.Context(), logs, "shop", tasks, func(jobs.Job) bool { return true })
	if all := tasks[0]; all.Pod != "j-x" || all.Refusal != "" || all.Progress == nil || all.Progress.Bytes != 7 {
		t.Errorf("%+v", all)
	}
}

// count is a kind of object that counts its observations and fails on demand.
type count struct {
	live    []bool
	plan    todo
	err     error
	patched *dbv1.DatabaseBackup
}

func (c *count) Observe(_ context.Context, _ *dbv1.DatabaseBackup, from Reading) (int, error) {
	c.live = append(c.live, from.Uncached)
	return len(c.live), nil
}
func (c *count) Decide(*dbv1.DatabaseBackup, int) todo { return c.plan }
func (c *count) Execute(context.Context, *Pass[*dbv1.DatabaseBackup, int, todo], operation.Operation) ([]Event, error) {
	return nil, c.err
}

func (c *count) Report(p Pass[*dbv1.DatabaseBackup, int, todo]) (*dbv1.DatabaseBackup, []Event) {
	after := p.Object.DeepCopy()
	after.Status.Message = "m"
	c.patched = after
	return after, nil
}

func TestAPassRepeatsUnsafeDecisionsLiveAndReportsNothingAfterAConflict(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "jobs"}, "j", errors.New("changed"))
	for name, c := range map[string]struct {
		live  bool
		err   error
		reads int
		again time.Duration
		fails bool
	}{
		"nothing needs a live read": {false, nil, 1, time.Minute, false},
		"the plan needs one":        {true, nil, 2, time.Minute, false},
		"a conflict":                {true, conflict, 2, ConflictDelay, false},
		"another error":             {false, errors.New("broken"), 1, 0, true},
		"a foreign object":          {false, operation.ForeignError{Kind: "Job", Name: "j"}, 1, ForeignDelay, false},
	} {
		t.Run(name, func(t *testing.T) {
			scheme, object := fake.NewClientBuilder().Build().Scheme(), &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "now"}}
			if err := dbv1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(object).WithStatusSubresource(object).Build()
			kind := &count{plan: todo{all: list(op{name: "a"}), live: c.live}, err: c.err}
			base := Base{Cached: server, Live: server, Writer: apply.Writer{Client: server}, Events: events.NewFakeRecorder(10)}
			result, err := Reconcile(t.Context(), &base, kind, client.ObjectKeyFromObject(object))
			if len(kind.live) != c.reads || result.RequeueAfter != c.again || (err != nil) != c.fails || (kind.patched == nil) != errors.Is(c.err, conflict) {
				t.Errorf("%d reads, %+v, %v, %v", len(kind.live), result, err, kind.patched)
			}
		})
	}
}

func TestAnUpdateThatWakesNothingIsNotCompared(t *testing.T) {
	compared, asked := 0, 0
	facts := func(backup *dbv1.DatabaseBackup) any { compared++; return backup.Spec.Cluster }
	wakes := func(_ context.Context, o client.Object) []reconcile.Request {
		asked++
		return make([]reconcile.Request, len(o.GetLabels()))
	}
	object := func(cluster string, wakes bool) *dbv1.DatabaseBackup {
		o := &dbv1.DatabaseBackup{Spec: dbv1.DatabaseBackupSpec{Cluster: cluster}}
		if wakes {
			o.Labels = map[string]string{"a": "b"}
		}
		return o
	}
	for name, c := range map[string]struct {
		before, after *dbv1.DatabaseBackup
		passes        bool
		compared      int
		asked         int
	}{
		"it wakes nothing":       {object("a", false), object("b", false), false, 0, 1},
		"it wakes an object":     {object("a", true), object("b", true), true, 2, 1},
		"it woke an object":      {object("a", true), object("b", false), true, 2, 2},
		"no fact of it is other": {object("a", true), object("a", true), false, 2, 1},
	} {
		compared, asked = 0, 0
		passes := Awaited(wakes, Changed(facts)).Update(event.UpdateEvent{ObjectOld: c.before, ObjectNew: c.after})
		if passes != c.passes || compared != c.compared || asked != c.asked {
			t.Errorf("%s: passes %v after %d comparisons and %d questions, want %v after %d and %d", name, passes, compared, asked, c.passes, c.compared, c.asked)
		}
	}
}

func TestFactsWithTheResultOfATransferAreCompared(t *testing.T) {
	pod := func(bytes string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "j-x"}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: naming.ActionContainer, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Message: `{"bytes":` + bytes + `,"started":"2026-01-01T00:00:00Z"}`},
		}}}
		return p
	}
	filter := Changed(func(p *corev1.Pod) any { return jobs.AttemptOf(p) })
	if filter.Update(event.UpdateEvent{ObjectOld: pod("7"), ObjectNew: pod("7")}) || !filter.Update(event.UpdateEvent{ObjectOld: pod("7"), ObjectNew: pod("8")}) {
		t.Error("an update passes that changed nothing, or one does not that did")
	}
}
