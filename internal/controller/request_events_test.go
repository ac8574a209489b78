/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// requesting is a cluster with that request in its status; without a state, it has none.
func requesting(value string, is dbv1.ClusterRequestState, message string) *dbv1.DatabaseCluster {
	c := &dbv1.DatabaseCluster{}
	if is != "" {
		at := metav1.Now()
		c.Status.Requests = []dbv1.ClusterRequestStatus{{Type: dbv1.RequestHandOver, Request: value, State: is, Message: message, Time: &at}}
	}
	return c
}

func TestANewRequestAndItsEndAreOneEventEach(t *testing.T) {
	none := requesting("", "", "")
	for name, c := range map[string]struct {
		before, after *dbv1.DatabaseCluster
		want          []string
	}{
		"a new one that waits":       {none, requesting("1", dbv1.RequestPending, "spec.paused is true"), []string{`Normal RequestPending: request HandOver "1": spec.paused is true`}},
		"a new one":                  {none, requesting("1", dbv1.RequestAccepted, ""), []string{`Normal RequestAccepted: request HandOver "1"`}},
		"a new one that is refused":  {none, requesting("1", dbv1.RequestRefused, "no"), []string{`Warning RequestRefused: request HandOver "1": no`}},
		"one that waits no longer":   {requesting("1", dbv1.RequestPending, "w"), requesting("1", dbv1.RequestAccepted, ""), nil},
		"one that waits again":       {requesting("1", dbv1.RequestAccepted, ""), requesting("1", dbv1.RequestPending, "w"), nil},
		"its end":                    {requesting("1", dbv1.RequestAccepted, ""), requesting("1", dbv1.RequestCompleted, "done"), []string{`Normal RequestCompleted: request HandOver "1": done`}},
		"its refusal":                {requesting("1", dbv1.RequestPending, "w"), requesting("1", dbv1.RequestRefused, "no"), []string{`Warning RequestRefused: request HandOver "1": no`}},
		"no change":                  {requesting("1", dbv1.RequestRefused, "no"), requesting("1", dbv1.RequestRefused, "no"), nil},
		"another text":               {requesting("1", dbv1.RequestRefused, "no"), requesting("1", dbv1.RequestRefused, "never"), nil},
		"another one":                {requesting("1", dbv1.RequestCompleted, ""), requesting("2", dbv1.RequestCompleted, "done"), []string{`Normal RequestCompleted: request HandOver "2": done`}},
		"the end of its annotation":  {requesting("1", dbv1.RequestCompleted, ""), none, nil},
		"the same after another one": {requesting("2", dbv1.RequestRefused, "no"), requesting("1", dbv1.RequestRefused, "no"), []string{`Warning RequestRefused: request HandOver "1": no`}},
	} {
		var got []string
		for _, e := range requestEvents(c.before, c.after) {
			got = append(got, e.Type+" "+e.Reason+": "+e.Note)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
