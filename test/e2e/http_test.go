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
	"time"
)

// metrics asks an operator for its metrics, from this machine, which is the node and so reaches pods by
// their addresses. Another story may be killing one at the time, so it asks until one answers.
func (w world) metrics(token string) (status int, body string) {
	w.Helper()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		address := w.kubectl("-n", operatorNamespace, "get", "pods", "-l", "control-plane=controller-manager",
			"--field-selector=status.phase=Running", "-o", "jsonpath={.items[0].status.podIP}")
		if status, body, err = get(w.Context(), fmt.Sprintf("https://%s:8443/metrics", address), token); err == nil {
			return status, body
		}
	}
	w.Fatalf("no operator answers: %v", err)
	return 0, ""
}

// get reads a page from a server whose certificate nobody but itself has signed.
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
