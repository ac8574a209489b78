/*
SPDX-License-Identifier: Apache-2.0
*/

package logs

import (
	"encoding/json"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTheNewestEventOfTheKubeletExplainsAPodThatIsNotReady(t *testing.T) {
	early, late := event("Unhealthy", "Startup probe failed: it waits", 1), event("Unhealthy", "Readiness probe failed: it is full", 2)
	for name, c := range map[string]struct {
		events []corev1.Event
		want   string
	}{
		"there is no event":   {nil, ""},
		"others do not count": {[]corev1.Event{late, early, event("Pulled", "pulled", 3)}, "Readiness probe failed: it is full"},
		"a volume is missing": {[]corev1.Event{early, event("FailedMount", "no such disk", 3)}, "no such disk"},
	} {
		t.Run(name, func(t *testing.T) {
			r := reader(t, func(w http.ResponseWriter, request *http.Request) {
				if request.URL.Query().Get("fieldSelector") != "involvedObject.uid=pod" {
					t.Errorf("%s", request.URL)
				}
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(corev1.EventList{TypeMeta: metav1.TypeMeta{Kind: "EventList", APIVersion: "v1"}, Items: c.events})
			})
			if got, err := r.Unready(t.Context(), "shop", "pod"); err != nil || got != c.want {
				t.Error(got, err)
			}
		})
	}
}
