/*
SPDX-License-Identifier: Apache-2.0
*/

package acceptance

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	testingclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/status"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

var (
	now   = metav1.NewTime(time.Unix(1767225600, 0).UTC())
	kinds = schema.GroupResource{Group: dbv1.GroupVersion.Group, Resource: "databaseengines"}
)

func ledger() *dbv1.DatabaseEngine {
	e := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: "ledger-v1", UID: "u-1", Generation: 1}}
	e.Spec.Topology = dbv1.TopologyIndependent
	return e
}

// world is a Reconciler over one engine whose status write returns an answer.
type world struct {
	*Reconciler
	applied []string
	said    []string
}

func newWorld(t *testing.T, declared *dbv1.DatabaseEngine, answer error) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := dbv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	w := &world{}
	funcs := interceptor.Funcs{SubResourceApply: func(_ context.Context, _ client.Client, part string, object runtime.ApplyConfiguration, options ...client.SubResourceApplyOption) error {
		text, err := json.Marshal(object)
		if err != nil {
			t.Error(err)
		}
		of := &client.SubResourceApplyOptions{}
		of.ApplyOpts(options)
		w.applied = append(w.applied, part+" of "+of.FieldManager+": "+string(text))
		return answer
	}}
	c := fakeclient.For(scheme).WithStatusSubresource(declared).WithObjects(declared).WithInterceptorFuncs(funcs).Build()
	w.Reconciler = &Reconciler{
		Engines: c, Writer: apply.Writer{Client: c}, Clock: testingclock.NewFakePassiveClock(now.Time),
		Log: funcr.New(func(_, args string) { w.said = append(w.said, args) }, funcr.Options{}),
	}
	return w
}

func (w *world) pass(t *testing.T) (ctrl.Result, error) {
	t.Helper()
	return w.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: "ledger-v1"}})
}

func TestOnlyTheStatusOfTheObservedEngineIsApplied(t *testing.T) {
	declared := ledger()
	declared.Status.Conditions = []metav1.Condition{{Type: "Blessed", Status: metav1.ConditionTrue, Reason: "By", LastTransitionTime: now}}
	w := newWorld(t, declared, nil)
	if result, err := w.pass(t); err != nil || !result.IsZero() {
		t.Errorf("%+v, %v", result, err)
	}
	const want = `status of databasecluster-operator: {"apiVersion":"database.dbcluster.io/v1alpha1","kind":"DatabaseEngine",` +
		`"metadata":{"name":"ledger-v1","resourceVersion":"999","uid":"u-1"},"status":{"conditions":[{"lastTransitionTime":"2026-01-01T00:00:00Z",` +
		`"message":"clusters can use this engine","observedGeneration":1,"reason":"Accepted","status":"True","type":"Accepted"}],"observedGeneration":1}}`
	if len(w.applied) != 1 || w.applied[0] != want {
		t.Errorf("got  %q\nwant %q", w.applied, want)
	}
}

func TestACorrectEngineStatusIsNotWritten(t *testing.T) {
	declared := ledger()
	declared.Status = status.OfEngine(declared, metav1.NewTime(now.Add(-time.Hour)))
	w := newWorld(t, declared, nil)
	if result, err := w.pass(t); err != nil || !result.IsZero() || len(w.applied) > 0 {
		t.Errorf("%+v, %v, %q", result, err, w.applied)
	}
}

func TestADeletedOrTerminatingEngineIsIgnored(t *testing.T) {
	other, going := ledger(), ledger()
	other.Name = "other"
	going.DeletionTimestamp, going.Finalizers = &now, []string{"example.org/held"}
	for _, declared := range []*dbv1.DatabaseEngine{other, going} {
		w := newWorld(t, declared, nil)
		if result, err := w.pass(t); err != nil || !result.IsZero() || len(w.applied) > 0 {
			t.Errorf("%s: %+v, %v, %q", declared.Name, result, err, w.applied)
		}
	}
}

func TestErrorsOfTheAPIServerLeadToTheRightRequeue(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		answer error
		again  time.Duration
		fails  bool
		said   string
	}{
		"it changed meanwhile":                     {apierrors.NewConflict(kinds, "ledger-v1", broken), kit.ConflictDelay, false, ""},
		"the right is missing":                     {apierrors.NewForbidden(kinds, "ledger-v1", broken), skippedRequeueAfter, false, "skipped: the operator is not allowed"},
		"it was deleted, or the CRD has no status": {apierrors.NewNotFound(kinds, "ledger-v1"), skippedRequeueAfter, false, ""},
		"anything else":                            {broken, 0, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, ledger(), c.answer)
			for range 2 {
				if result, err := w.pass(t); (err != nil) != c.fails || result.RequeueAfter != c.again {
					t.Errorf("%+v, %v", result, err)
				}
			}
			if said := strings.Join(w.said, "\n"); strings.Count(said, "left out") != strings.Count(c.said, "left out") || !strings.Contains(said, c.said) {
				t.Errorf("it said %q", w.said)
			}
		})
	}
}

func TestTheKnownEnginesAreThoseOfACompleteCache(t *testing.T) {
	w := newWorld(t, ledger(), nil)
	complete := false
	w.Synced = func(context.Context) bool { return complete }
	if engines, err := w.Known(t.Context()); err != nil || len(engines) > 0 {
		t.Errorf("an incomplete cache: %+v, %v", engines, err)
	}
	complete = true
	if engines, err := w.Known(t.Context()); err != nil || len(engines) != 1 || engines[0].Name != "ledger-v1" {
		t.Errorf("%+v, %v", engines, err)
	}
}
