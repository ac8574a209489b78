/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
)

func TestAnEngineIsAcceptedUnlessItsDeclarationIsWrong(t *testing.T) {
	good := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: "ledger-v1", Generation: 3}}
	bad := good.DeepCopy()
	bad.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: ".."}}
	before, now := metav1.NewTime(time.Unix(1, 0)), metav1.NewTime(time.Unix(2, 0))
	for name, c := range map[string]struct {
		declared *dbv1.DatabaseEngine
		was      metav1.Condition
		want     metav1.Condition
	}{
		"a good one, new": {good, metav1.Condition{}, metav1.Condition{
			Status: metav1.ConditionTrue, Reason: "Accepted", Message: "clusters can use this engine", LastTransitionTime: now,
		}},
		"a good one, as before": {good, metav1.Condition{Type: "Accepted", Status: metav1.ConditionTrue, LastTransitionTime: before}, metav1.Condition{
			Status: metav1.ConditionTrue, Reason: "Accepted", Message: "clusters can use this engine", LastTransitionTime: before,
		}},
		"an invalid one that an older operator accepted": {bad, metav1.Condition{Type: "Accepted", Status: metav1.ConditionTrue, LastTransitionTime: before}, metav1.Condition{
			Status: metav1.ConditionFalse, Reason: "InvalidEngine", Message: engine.Declared(bad), LastTransitionTime: now,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			declared := c.declared.DeepCopy()
			if c.was.Type != "" {
				declared.Status.Conditions = []metav1.Condition{c.was}
			}
			given := declared.DeepCopy()
			c.want.Type, c.want.ObservedGeneration = "Accepted", 3
			want := dbv1.DatabaseEngineStatus{ObservedGeneration: 3, Conditions: []metav1.Condition{c.want}}
			if got := OfEngine(declared, now); !equality.Semantic.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if !equality.Semantic.DeepEqual(declared, given) {
				t.Errorf("the engine was changed: %+v", declared)
			}
		})
	}
}

func TestTheMessageOfAnEngineWithManyErrorsIsShort(t *testing.T) {
	declared := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: "ledger-v1"}}
	declared.Spec.Container.Args = strings.Split(strings.Repeat("/dbc/scripts/none ", 256), " ")
	if message := OfEngine(declared, metav1.Time{}).Conditions[0].Message; len(message) > 32768 {
		t.Errorf("it has %d bytes", len(message))
	}
}
