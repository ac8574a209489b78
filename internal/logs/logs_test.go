/*
SPDX-License-Identifier: Apache-2.0
*/

package logs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// reader reads from an API server with this handler.
func reader(t *testing.T, answer http.HandlerFunc) Reader {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	pods, err := corev1client.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return Reader{Pods: pods, Events: pods}
}

func TestOnlyTheEndOfOneContainersLogIsRead(t *testing.T) {
	r := reader(t, func(w http.ResponseWriter, request *http.Request) {
		q := request.URL.Query()
		if request.URL.Path != "/api/v1/namespaces/shop/pods/orders-0/log" || q.Get("container") != "action" || q.Get("tailLines") != "20" || q.Get("limitBytes") != "65536" {
			t.Errorf("%s", request.URL)
		}
		fmt.Fprint(w, strings.Repeat("x", 100_000)) // even if the server ignores the limit
	})
	text, err := r.Tail(t.Context(), "shop", "orders-0", "action")
	if err != nil || len(text) != 64<<10 {
		t.Error(len(text), err)
	}
}

func TestAnUnreadableLogIsAnErrorThatNamesThePod(t *testing.T) {
	r := reader(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	if _, err := r.Tail(t.Context(), "shop", "orders-0", "action"); err == nil || !strings.Contains(err.Error(), "read the log of pod orders-0") {
		t.Error(err)
	}
}
