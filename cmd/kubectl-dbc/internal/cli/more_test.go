/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/preview"
)

// echo is a client that prints what it is sent.
type echo struct{ terminal bool }

func (e *echo) Stream(remotecommand.StreamOptions) error { return nil }

func (e *echo) StreamWithContext(_ context.Context, o remotecommand.StreamOptions) error {
	e.terminal = o.Tty
	_, err := io.Copy(o.Stdout, o.Stdin)
	return err
}

func TestTheClientOfAJobGetsTheLineThatStartsItAndThenTheInput(t *testing.T) {
	s, out, _ := offline(t)
	s.In = strings.NewReader("SELECT 1")
	e := &echo{terminal: true}
	if err := s.stream(t.Context(), e, false); err != nil || out.String() != "\nSELECT 1" || e.terminal {
		t.Errorf("got %v, %q, %t", err, out, e.terminal)
	}
}

func TestADifferenceIsPrintedAsKubectlPrintsIt(t *testing.T) {
	s, out, _ := offline(t)
	s.printPreview(preview.Preview{
		Differences: []preview.Difference{
			{Kind: "StatefulSet", Name: "orders", Before: "a: 1\nb: 2\n", After: "a: 1\nb: 3\n"}, {Kind: "Service", Name: "orders", After: "c: 4\n"},
		},
		Sentences: []string{"The members restart."},
	}, "orders.yaml")
	want := "StatefulSet orders\n--- now\n+++ with orders.yaml\n@@ -1,2 +1,2 @@\n a: 1\n-b: 2\n+b: 3\n\n" +
		"Service orders\n--- now\n+++ with orders.yaml\n@@ -0,0 +1 @@\n+c: 4\n\nThe members restart.\n"
	if fields, expected := strings.Join(strings.Fields(out.String()), " "), strings.Join(strings.Fields(want), " "); fields != expected {
		t.Errorf("got\n%s", out)
	}
}

func TestMetricsAreReadWithATokenOfTheNamedAccount(t *testing.T) {
	clients := fake.NewClientset()
	clients.PrependReactor("create", "serviceaccounts", func(action k8stesting.Action) (bool, runtime.Object, error) {
		if action.GetNamespace() != "monitoring" || action.GetSubresource() != "token" {
			t.Errorf("got %v", action)
		}
		return true, &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{Token: "short-lived"}}, nil
	})
	token, err := tokenOf(t.Context(), clients, "monitoring/prometheus")
	if err != nil || token != "short-lived" {
		t.Fatalf("got %q, %v", token, err)
	}
	if _, err := tokenOf(t.Context(), clients, "prometheus"); err == nil || !strings.Contains(err.Error(), "is not NAMESPACE/NAME") {
		t.Errorf("got %v", err)
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer short-lived" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte("databasecluster_operator_leading 1\n"))
	}))
	defer server.Close()
	if text, err := scrape(t.Context(), server.URL+"/metrics", token); err != nil || text != "databasecluster_operator_leading 1\n" {
		t.Errorf("got %q, %v", text, err)
	}
	if _, err := scrape(t.Context(), server.URL+"/metrics", "another"); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("got %v", err)
	}
}

func TestThePortOfTheMetricsIsThatOfTheOperator(t *testing.T) {
	pod := &corev1.Pod{}
	if _, err := metricsPort(pod); err == nil {
		t.Error("a pod without a port has one")
	}
	pod.Spec.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "health", ContainerPort: 8081}, {Name: "metrics", ContainerPort: 8443}}}}
	if port, err := metricsPort(pod); err != nil || port != 8443 {
		t.Errorf("got %d, %v", port, err)
	}
}
