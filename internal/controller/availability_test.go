/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestAnEventReportsThatClientsLoseTheDatabaseAndThatTheyHaveItBack(t *testing.T) {
	created := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	is := func(status metav1.ConditionStatus, reason string, since time.Duration, ready int32) *dbv1.DatabaseCluster {
		c := &dbv1.DatabaseCluster{}
		c.Status.ReadyReplicas = ready
		c.Status.Conditions = []metav1.Condition{
			{Type: dbv1.ConditionStalled, Status: metav1.ConditionFalse, LastTransitionTime: metav1.NewTime(created)},
			{Type: dbv1.ConditionAvailable, Status: status, Reason: reason, Message: "why", LastTransitionTime: metav1.NewTime(created.Add(since))},
		}
		return c
	}
	with, without := metav1.ConditionTrue, metav1.ConditionFalse
	for name, c := range map[string]struct {
		before, after *dbv1.DatabaseCluster
		want          string
	}{
		"lost":                                {is(with, dbv1.ReasonPrimaryReady, time.Minute, 3), is(without, dbv1.ReasonNoPrimary, time.Hour, 2), "Warning NoPrimary why"},
		"back":                                {is(without, dbv1.ReasonNoPrimary, time.Hour, 2), is(with, dbv1.ReasonPrimaryReady, time.Hour, 3), "Normal PrimaryReady why"},
		"still lost":                          {is(without, dbv1.ReasonNoPrimary, time.Hour, 2), is(without, dbv1.ReasonNoMajority, time.Hour, 2), ""},
		"the cause is known":                  {is(without, dbv1.ReasonNoPrimary, time.Hour, 2), is(without, dbv1.ReasonWritesRefused, time.Hour, 2), "Warning WritesRefused why"},
		"the cause remains":                   {is(without, dbv1.ReasonWritesRefused, time.Hour, 2), is(without, dbv1.ReasonWritesRefused, time.Hour, 2), ""},
		"created":                             {is(without, dbv1.ReasonNoPrimary, 0, 2), is(with, dbv1.ReasonPrimaryReady, time.Minute, 3), ""},
		"hibernated":                          {is(with, dbv1.ReasonPrimaryReady, time.Minute, 3), is(without, dbv1.ReasonHibernating, time.Hour, 3), ""},
		"one independent member":              {is(with, dbv1.ReasonAllReplicasReady, time.Minute, 3), is(without, dbv1.ReasonReplicasNotReady, time.Hour, 2), ""},
		"one independent member is back":      {is(without, dbv1.ReasonReplicasNotReady, time.Hour, 2), is(with, dbv1.ReasonAllReplicasReady, time.Hour, 3), ""},
		"the only independent member is back": {is(without, dbv1.ReasonReplicasNotReady, time.Hour, 0), is(with, dbv1.ReasonAllReplicasReady, time.Hour, 1), "Normal AllReplicasReady why"},
		"the only independent member":         {is(with, dbv1.ReasonAllReplicasReady, time.Minute, 1), is(without, dbv1.ReasonReplicasNotReady, time.Hour, 0), "Warning ReplicasNotReady why"},
		"first status":                        {&dbv1.DatabaseCluster{}, is(without, dbv1.ReasonNoPrimary, 0, 0), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, e := range availability(c.before, c.after) {
				got += e.Type + " " + e.Reason + " " + e.Note
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
