/*
SPDX-License-Identifier: Apache-2.0
*/

package logs

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func event(reason, message string, minute int) corev1.Event {
	return corev1.Event{Reason: reason, Message: message, LastTimestamp: metav1.NewTime(time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC))}
}

func TestTheNewestEventOfAJobExplainsItsMissingPod(t *testing.T) {
	refused, created := event("FailedCreate", "exceeded quota", 2), event("SuccessfulCreate", "created", 1)
	for name, c := range map[string]struct {
		events []corev1.Event
		want   string
	}{
		"there is no event":      {nil, ""},
		"it was refused":         {[]corev1.Event{refused, created, event("Suspended", "other", 9)}, "exceeded quota"},
		"it was created at last": {[]corev1.Event{refused, event("SuccessfulCreate", "created", 3)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := reader(t, func(w http.ResponseWriter, request *http.Request) {
				if request.URL.Path != "/api/v1/namespaces/shop/events" || request.URL.Query().Get("fieldSelector") != "involvedObject.uid=job" {
					t.Errorf("%s", request.URL)
				}
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(corev1.EventList{TypeMeta: metav1.TypeMeta{Kind: "EventList", APIVersion: "v1"}, Items: c.events})
			})
			if got, err := r.Refusal(t.Context(), "shop", "job"); err != nil || got != c.want {
				t.Error(got, err)
			}
		})
	}
}

func TestForbiddenEventsAreAnError(t *testing.T) {
	r := reader(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	if _, err := r.Refusal(t.Context(), "shop", "job"); err == nil {
		t.Error("no error")
	}
}
