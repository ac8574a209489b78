//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// offersMetrics starts an operator for one namespace and returns the address of its metrics.
func offersMetrics(t *testing.T, ns string, flags ...string) (p *process, address string) {
	t.Helper()
	address = freeAddress(t)
	for _, name := range []string{"metrics-auth-role", "metrics-reader"} {
		role, err := shipped(name)
		if err != nil {
			t.Fatal(err)
		}
		role.Name += "-" + ns
		createFor(t, role)
	}
	bindCluster(t, ns, "metrics-auth-role", user(operatorUser)[0])
	p = operator(t, kubeconfig(t, operatorUser, ""), nil, append([]string{"--watch-namespace=" + ns, "--metrics-bind-address=" + address}, flags...)...)
	eventually(t, "the metrics endpoint to answer", func() error {
		_, _, err := scrape(t.Context(), address, "")
		return err
	})
	return p, address
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// bindCluster binds a subject to a ClusterRole that offersMetrics created.
func bindCluster(t *testing.T, ns, role string, to rbacv1.Subject) {
	t.Helper()
	createFor(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role + "-" + ns},
		RoleRef:    clusterRole(role + "-" + ns),
		Subjects:   []rbacv1.Subject{to},
	})
}

// scrape reads the metrics of a server with a self-signed certificate.
func scrape(ctx context.Context, address, token string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/metrics", http.NoBody)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // see above
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Timeout: 10 * time.Second, Transport: transport}).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// token creates a ServiceAccount and returns a token for it.
func token(t *testing.T, ns, name string) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	create(t, account)
	request := &authenticationv1.TokenRequest{}
	if err := admin.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// reader creates a ServiceAccount that may read the metrics, and returns a token for it.
func reader(t *testing.T, ns string) string {
	t.Helper()
	bindCluster(t, ns, "metrics-reader", rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: "reader"})
	return token(t, ns, "reader")
}

func TestOnlyAuthorizedUsersReadMetricsOverTLS(t *testing.T) {
	parallel(t)
	ns := ownNamespace(t)
	p, address := offersMetrics(t, ns)
	for _, who := range []struct {
		name, token string
		status      int
	}{
		{"nobody", "", http.StatusUnauthorized},
		{"a client with an invalid token", "made-up", http.StatusInternalServerError}, // controller-runtime's answer
		{"a ServiceAccount without the right", token(t, ns, "stranger"), http.StatusForbidden},
		{"a ServiceAccount with metrics-reader", reader(t, ns), http.StatusOK},
	} {
		status, body, err := scrape(t.Context(), address, who.token)
		if err != nil || status != who.status {
			t.Errorf("the answer to %s is %d (%v), want %d", who.name, status, err, who.status)
		}
		if answered := strings.Contains(body, "workqueue_"); answered != (status == http.StatusOK) {
			t.Errorf("%s is answered metrics: %v", who.name, answered)
		}
	}
	mustBeEncrypted(t, address)
	p.mustStop(t)
	mustLackNoRight(t, p)
}

// mustBeEncrypted sends requests in plain text and with an outdated TLS version.
func mustBeEncrypted(t *testing.T, address string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /metrics HTTP/1.1\r\nHost: %s\r\n\r\n", address)
	if answer, _ := io.ReadAll(conn); !strings.HasPrefix(string(answer), "HTTP/1.0 400") {
		t.Errorf("the answer to plain HTTP is %q", answer)
	}
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}} //nolint:gosec // to be refused
	old, err := dialer.DialContext(t.Context(), "tcp", address)
	if err == nil {
		old.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "protocol version not supported") {
		t.Errorf("TLS 1.1 ends with %v, want the server to refuse it", err)
	}
}
