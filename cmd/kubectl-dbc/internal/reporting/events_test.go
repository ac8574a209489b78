/*
SPDX-License-Identifier: Apache-2.0
*/

package reporting_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/reporting"
)

func TestEventsAreThoseOfTheKindAndNameOfAnObject(t *testing.T) {
	objects := reporting.Objects{
		{GroupKind: schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, Name: "orders"}: "set",
		{GroupKind: schema.GroupKind{Kind: "Pod"}, Name: "orders-0"}:                      "pod",
	}
	event := func(apiVersion, kind, name, uid, message string, second int64) corev1.Event {
		return corev1.Event{
			InvolvedObject: corev1.ObjectReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(uid)},
			Type:           "Normal", Reason: "Any", Message: message, Count: 1, LastTimestamp: metav1.Unix(second, 0),
		}
	}
	got := reporting.Events([]corev1.Event{
		event("v1", "Pod", "orders-0", "pod", "second", 2),
		event("v1", "Pod", "orders-0", "before", "first", 1),
		event("apps/v1", "StatefulSet", "orders", "set", "third", 3),
		event("apps/v1", "Deployment", "orders", "other", "of another application", 4),
		event("serving.example/v1", "StatefulSet", "orders", "other", "of another group", 5),
		event("v1", "Pod", "billing-0", "other", "of another pod", 6),
	}, objects)
	want := "1970-01-01T00:00:01Z Normal Pod/orders-0 (deleted) Any: first (1)\n" +
		"1970-01-01T00:00:02Z Normal Pod/orders-0 Any: second (1)\n" +
		"1970-01-01T00:00:03Z Normal StatefulSet/orders Any: third (1)\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
}
