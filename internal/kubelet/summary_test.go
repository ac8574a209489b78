/*
SPDX-License-Identifier: Apache-2.0
*/

package kubelet

import (
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/dbcluster/databasecluster-operator/internal/state"
)

const answer = `{"node":{"nodeName":"one"},"pods":[{"podRef":{"name":"orders-0","namespace":"shop"},"volume":[
	{"time":"2026-01-01T00:00:00Z","availableBytes":150,"capacityBytes":1000,"usedBytes":800,"inodesFree":5,"inodes":100,"inodesUsed":95,"name":"data","pvcRef":{"name":"data-orders-0","namespace":"shop"}},
	{"time":"2026-01-01T00:00:00Z","availableBytes":1,"capacityBytes":10,"name":"scratch"},
	{"time":"2026-01-01T00:00:00Z","name":"other","pvcRef":{"name":"other","namespace":"shop"}}]},{}]}`

// kubeletOf is a kubelet, with the requests that it has received.
func kubeletOf(t *testing.T, handle http.HandlerFunc) (address, port string, authority []byte, seen *[]string) {
	t.Helper()
	seen = &[]string{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*seen = append(*seen, r.URL.Path+" "+r.Header.Get("Authorization"))
		handle(w, r)
	}))
	server.Config.ErrorLog = nil
	server.StartTLS()
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	address, port, err = net.SplitHostPort(at.Host)
	if err != nil {
		t.Fatal(err)
	}
	return address, port, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), seen
}

func readerOf(t *testing.T, config *rest.Config, file, port string) reader {
	t.Helper()
	asks, err := clientFor(config, file)
	if err != nil {
		t.Fatal(err)
	}
	return reader{asks, port}
}

// relay serves one connection of another address.
func relay(from net.Listener, to string) {
	in, err := from.Accept()
	if err != nil {
		return
	}
	defer in.Close()
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer out.Close()
	go func() { _, _ = io.Copy(out, in) }()
	_, _ = io.Copy(in, out)
}

func answers(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }

func TestAKubeletReportsTheUseOfClaims(t *testing.T) {
	address, port, authority, seen := kubeletOf(t, answers)
	config := &rest.Config{BearerToken: "token", TLSClientConfig: rest.TLSClientConfig{CAData: authority}}
	got, err := readerOf(t, config, "", port).summary(t.Context(), "one", address)
	want := state.VolumeUsage{Capacity: 1000, Available: 150, UsedPercent: 95, Measured: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	if err != nil || len(got) != 1 || got["shop/data-orders-0"] != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if strings.Join(*seen, ",") != "/stats/summary Bearer token" {
		t.Errorf("it received %q", *seen)
	}
}

// Another server at the address of a kubelet could act as the operator, if it got the token.
func TestNoTokenIsSentToAKubeletThatIsNotVerified(t *testing.T) {
	for name, c := range map[string]struct {
		config  *rest.Config
		address string
		want    string
	}{
		"an unknown CA": {&rest.Config{}, "", "has a certificate of an unknown CA, so the operator sends it no token"},
		"verification that is turned off for the API server": {
			&rest.Config{TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, "", "has a certificate of an unknown CA, so the operator sends it no token",
		},
		"the address of another node": {nil, "127.0.0.2", "is not for the address of the node, so the operator sends it no token"},
	} {
		t.Run(name, func(t *testing.T) {
			address, port, authority, seen := kubeletOf(t, answers)
			if c.config == nil {
				c.config = &rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: authority}}
			}
			if c.address != "" {
				listener, err := net.Listen("tcp", net.JoinHostPort(c.address, "0"))
				if err != nil {
					t.Skip("the machine has one address only")
				}
				go relay(listener, net.JoinHostPort(address, port))
				t.Cleanup(func() { listener.Close() })
				address = c.address
				_, port, _ = net.SplitHostPort(listener.Addr().String())
			}
			c.config.BearerToken = "token"
			_, err := readerOf(t, c.config, "", port).summary(t.Context(), "one", address)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
			if len(*seen) > 0 {
				t.Errorf("it received %q", *seen)
			}
		})
	}
}

func TestATokenFollowsNoRedirect(t *testing.T) {
	_, other, authority, others := kubeletOf(t, answers)
	address, port, more, _ := kubeletOf(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://127.0.0.1:"+other+"/stats/summary", http.StatusFound)
	})
	config := &rest.Config{BearerToken: "token", TLSClientConfig: rest.TLSClientConfig{CAData: append(authority, more...)}}
	_, err := readerOf(t, config, "", port).summary(t.Context(), "one", address)
	if err == nil || err.Error() != "the kubelet of node one answers with the status 302" || len(*others) > 0 {
		t.Errorf("got %v, and the other server received %q", err, *others)
	}
}

func TestTheFlagAddsACertificateAuthority(t *testing.T) {
	address, port, authority, _ := kubeletOf(t, answers)
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readerOf(t, &rest.Config{}, file, port).summary(t.Context(), "one", address); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{file + ".missing", os.Args[0]} {
		if _, err := clientFor(&rest.Config{}, bad); err == nil || !strings.Contains(err.Error(), "--kubelet-certificate-authority") {
			t.Errorf("%s: got %v", bad, err)
		}
	}
}

func TestARefusalNamesTheWayOut(t *testing.T) {
	for code, want := range map[int]string{
		http.StatusForbidden:           "the operator may not get nodes/stats of node one. Grant it the ClusterRole of the operator",
		http.StatusUnauthorized:        "the kubelet of node one does not accept tokens. Set authentication.webhook.enabled in its configuration",
		http.StatusInternalServerError: "the kubelet of node one cannot measure: see its log. One cause is localStorageCapacityIsolation: false in its configuration",
		http.StatusNotFound:            "the kubelet of node one answers with the status 404",
		http.StatusOK:                  "the kubelet of node one does not answer with a summary",
	} {
		address, port, authority, _ := kubeletOf(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		config := &rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: authority}}
		if _, err := readerOf(t, config, "", port).summary(t.Context(), "one", address); err == nil || err.Error() != want {
			t.Errorf("%d: got %v", code, err)
		}
	}
}
