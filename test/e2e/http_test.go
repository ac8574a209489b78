//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// metrics requests the metrics of the leader from this machine, which is the node and can reach pod addresses. It
// repeats the request until the answer contains the word: only a leader has made passes, and another test may stop it
// meanwhile.
func (w world) metrics(token, word string) (status int, body string) {
	w.Helper()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		leader := w.kubectl("-n", operatorNamespace, "get", "leases", "-o", "jsonpath={.items[0].spec.holderIdentity}")
		pod, _, _ := strings.Cut(leader, "_")
		address, _ := run(w.Context(), "", "-n", operatorNamespace, "get", "pod", pod, "-o", "jsonpath={.status.podIP}")
		status, body, err = get(w.Context(), fmt.Sprintf("https://%s:8443/metrics", address), token)
		if err == nil && strings.Contains(body, word) {
			return status, body
		}
	}
	w.Fatalf("the answer of the operator is %d without %q: %v", status, word, err)
	return 0, ""
}

// get reads a page from a server with a self-signed certificate.
func get(ctx context.Context, url, token string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // see above
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}
