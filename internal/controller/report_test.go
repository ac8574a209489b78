/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
)

// progressing is a cluster with that reason of its condition Progressing.
func progressing(reason, message string) *dbv1.DatabaseCluster {
	c := &dbv1.DatabaseCluster{}
	c.Status.Conditions = []metav1.Condition{{Type: dbv1.ConditionProgressing, Status: metav1.ConditionTrue, Reason: reason, Message: message}}
	return c
}

func turns(before, after *dbv1.DatabaseCluster) []kit.Event {
	return kit.Transitions(transitions, before.Status.Conditions, after.Status.Conditions)
}

func TestARetriedRestoreIsOneWarningAndOtherProgressIsNone(t *testing.T) {
	runs, again := progressing(dbv1.ReasonRestoring, "restoring"), progressing(dbv1.ReasonRestoreRetrying, "nobody answers")
	want := []kit.Event{{Type: corev1.EventTypeWarning, Reason: dbv1.ReasonRestoreRetrying, Action: "ReportProgressing", Note: "nobody answers"}}
	if got := turns(runs, again); !reflect.DeepEqual(got, want) {
		t.Errorf("reported %v, want %v", got, want)
	}
	if got := append(turns(again, again), turns(again, runs)...); len(got) > 0 {
		t.Errorf("unexpected events %v", got)
	}
}

func TestARetriedCreationOfDataIsAWarningOfItsOwn(t *testing.T) {
	runs, again := progressing(dbv1.ReasonInitializing, "writing"), progressing(dbv1.ReasonInitializeRetrying, "no such program")
	want := []kit.Event{{Type: corev1.EventTypeWarning, Reason: dbv1.ReasonInitializeRetrying, Action: "ReportProgressing", Note: "no such program"}}
	if got := turns(runs, again); !reflect.DeepEqual(got, want) {
		t.Errorf("reported %v, want %v", got, want)
	}
}

func TestTwoConditionsThatChangeForOneReasonAreTwoEvents(t *testing.T) {
	after := &dbv1.DatabaseCluster{}
	for _, kind := range []string{dbv1.ConditionBackupHealthy, dbv1.ConditionBackupVerified} {
		after.Status.Conditions = append(after.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: dbv1.ReasonInvalidSchedule})
	}
	all := turns(&dbv1.DatabaseCluster{}, after)
	if len(all) != 2 || all[0].Action == all[1].Action {
		t.Errorf("%+v: events with the same reason and action are counted as one", all)
	}
}
