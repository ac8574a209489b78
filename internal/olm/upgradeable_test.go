/*
SPDX-License-Identifier: Apache-2.0
*/

package olm

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/operator-framework/operator-lib/conditions"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

// memory is a condition that fails a given number of times.
type memory struct {
	now   *metav1.Condition
	fails []error
	sets  int
}

func (m *memory) Get(context.Context) (*metav1.Condition, error) {
	if m.now == nil {
		return nil, errors.New("not found")
	}
	return m.now, nil
}

func (m *memory) Set(_ context.Context, status metav1.ConditionStatus, options ...conditions.Option) error {
	m.sets++
	if len(m.fails) > 0 {
		failed := m.fails[0]
		m.fails = m.fails[1:]
		return failed
	}
	m.now = &metav1.Condition{Status: status}
	for _, option := range options {
		option(m.now)
	}
	return nil
}

func keeper(t *testing.T, condition *memory, clusters ...client.Object) *Upgradeable {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := dbv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return &Upgradeable{
		Clusters:  fakeclient.For(scheme).WithObjects(clusters...).Build(),
		Condition: condition, Clock: clocktesting.NewFakePassiveClock(now), Log: logr.Discard(), reported: make(chan struct{}),
	}
}

func TestAnUnchangedConditionIsNotReportedToOLMAgain(t *testing.T) {
	cluster := running("a")
	condition := &memory{fails: []error{apierrors.NewConflict(schema.GroupResource{}, "a", nil)}}
	u := keeper(t, condition, &cluster)
	for range 2 {
		result, err := u.Reconcile(t.Context(), reconcile.Request{})
		if err != nil || result.RequeueAfter != BlockedAtMost {
			t.Fatalf("%+v, %v", result, err)
		}
	}
	if condition.sets != 2 || condition.now.Status != metav1.ConditionFalse || condition.now.Reason != ReasonRestoreInFlight {
		t.Errorf("set %d times, the one that met a conflict included, to %+v", condition.sets, condition.now)
	}
}

func TestAReplicaDoesNotOverwriteAnExistingReport(t *testing.T) {
	condition := &memory{now: &metav1.Condition{Status: metav1.ConditionFalse}}
	u := keeper(t, condition)
	if u.ready(nil) == nil {
		t.Error("the replica is ready before it has read the OperatorCondition")
	}
	if err := (announcer{u}).Start(t.Context()); err != nil || u.ready(nil) != nil {
		t.Errorf("%v, ready: %v", err, u.ready(nil))
	}
	if condition.sets != 0 {
		t.Error("the report of the leader was overwritten")
	}
}

func TestAnOperatorThatCannotReportToOLMBecomesReady(t *testing.T) {
	before := reportBackoff
	reportBackoff = wait.Backoff{Duration: time.Millisecond, Steps: 3}
	t.Cleanup(func() { reportBackoff = before })
	forbidden := errors.New("forbidden")
	condition := &memory{fails: []error{forbidden, forbidden, forbidden}}
	u := keeper(t, condition)
	if err := (announcer{u}).Start(t.Context()); err != nil {
		t.Errorf("the operator would stop: %v", err)
	}
	if condition.sets != 3 || u.ready(nil) != nil {
		t.Errorf("tried %d times, ready: %v", condition.sets, u.ready(nil))
	}
}

func TestOnlyTheStartOrEndOfARestoreStartsAPass(t *testing.T) {
	none, runs, ended := restored("a", ""), running("a"), restored("a", dbv1.RestoreCompleted)
	more := *runs.DeepCopy()
	more.Status.Restore.Bytes = 7
	for name, c := range map[string]struct {
		before, after dbv1.DatabaseCluster
		want          bool
	}{
		"begins": {none, runs, true}, "ends": {runs, ended, true}, "goes on": {runs, more, false}, "is long over": {ended, ended, false},
	} {
		if got := startsOrEndsRestore.Update(event.UpdateEvent{ObjectOld: &c.before, ObjectNew: &c.after}); got != c.want {
			t.Errorf("a restore that %s starts a pass: %t", name, got)
		}
	}
	if startsOrEndsRestore.Create(event.CreateEvent{Object: &none}) || !startsOrEndsRestore.Create(event.CreateEvent{Object: &runs}) ||
		!startsOrEndsRestore.Delete(event.DeleteEvent{Object: &runs}) {
		t.Error("creations and deletions do not start the right passes")
	}
}
