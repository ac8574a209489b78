/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAPartInFlightEndsAfterItsUpload(t *testing.T) {
	t.Parallel()
	for query, ends := range map[string]bool{"?partNumber=5&uploadId=x": true, "": false} {
		ctx, cancel := context.WithCancel(t.Context())
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
			cancel()
			if !ends {
				<-request.Context().Done()
			}
		}))
		t.Cleanup(server.Close)
		request, err := http.NewRequestWithContext(ctx, http.MethodPut, server.URL+query, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := finishedParts{server.Client()}.Do(request)
		if ends && err != nil || !ends && !errors.Is(err, context.Canceled) {
			t.Errorf("%q: %v", query, err)
		}
		if err == nil {
			_ = response.Body.Close()
		}
	}
}
