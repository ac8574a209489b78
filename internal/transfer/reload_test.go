/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// member is a server that serves the certificate in a folder, after it has loaded it.
type member struct {
	folder string
	port   int
}

// serve starts a server on loopback. It loads the certificate again when the file "reload" appears. With a request it
// answers that before TLS.
func serve(t *testing.T, folder, request, response string) member {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	loaded := load(t, folder)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := os.Stat(filepath.Join(folder, "reload")); err == nil {
				loaded = load(t, folder)
			}
			answer(connection, loaded, request, response)
		}
	}()
	address, _ := listener.Addr().(*net.TCPAddr)
	return member{folder, address.Port}
}

func answer(connection net.Conn, pair tls.Certificate, request, response string) {
	defer connection.Close()
	if request != "" {
		got := make([]byte, len(request))
		if _, err := io.ReadFull(connection, got); err != nil || string(got) != request {
			return
		}
		_, _ = connection.Write([]byte(response))
	}
	_ = tls.Server(connection, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}).Handshake()
}

func load(t *testing.T, folder string) tls.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key"))
	if err != nil {
		t.Error(err)
	}
	return pair
}

func authority(t *testing.T) pki.Authority {
	t.Helper()
	a, err := pki.NewAuthority("orders", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// folderWith is a folder with a new certificate for a host.
func folderWith(t *testing.T, a pki.Authority, host string) string {
	t.Helper()
	folder := t.TempDir()
	refresh(t, a, host, folder)
	return folder
}

func refresh(t *testing.T, a pki.Authority, host string, folders ...string) {
	t.Helper()
	files, err := a.Issue([]string{host}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// reload runs one attempt with a short timeout, and returns the log.
func reload(t *testing.T, call protocol.Reload) (said string, err error) {
	t.Helper()
	var log bytes.Buffer
	call.Members, call.Interval = []string{"localhost"}, 100*time.Millisecond
	if call.Timeout == 0 {
		call.Timeout = 3 * time.Second
	}
	err = (&reloadRun{run: &run{log: slog.New(slog.NewJSONHandler(&log, nil))}, Reload: &call}).do(t.Context())
	return log.String(), err
}

func TestAMemberThatServesTheCertificateIsReady(t *testing.T) {
	folder := folderWith(t, authority(t), "localhost")
	for name, exchange := range map[string][4]string{
		"TLS at once":   {},
		"after a start": {"\x00\x08hello", "S", "000868656c6c6f", "53"},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, folder, exchange[0], exchange[1])
			log, err := reload(t, protocol.Reload{Port: server.port, Folder: folder, Request: exchange[2], Response: exchange[3], Command: []string{"true"}})
			if err != nil {
				t.Errorf("%v\n%s", err, log)
			}
		})
	}
}

func TestAReloadIsRepeatedUntilTheMemberHasTheRenewedFiles(t *testing.T) {
	a := authority(t)
	theirs, ours := folderWith(t, a, "localhost"), t.TempDir()
	server := serve(t, theirs, "", "")
	refresh(t, a, "localhost", ours)
	call := protocol.Reload{Port: server.port, Folder: ours, Timeout: 20 * time.Second, Command: []string{"sh", "-c", `
		[ "$DBC_MEMBER" = localhost ] || exit 1
		echo reload >> "` + theirs + `/reload"
		[ "$(wc -l < "` + theirs + `/reload")" -lt 4 ] || cp "` + ours + `"/tls.* "` + theirs + `"`}}
	if log, err := reload(t, call); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
	if runs, _ := os.ReadFile(filepath.Join(theirs, "reload")); bytes.Count(runs, []byte("\n")) < 4 {
		t.Errorf("it reloaded %d times, want more than 3", bytes.Count(runs, []byte("\n")))
	}
}

func TestAMemberWithoutTheCertificateFailsTheAttempt(t *testing.T) {
	a := authority(t)
	folder := folderWith(t, a, "localhost")
	serving := serve(t, folder, "", "").port
	plain := serve(t, folder, "\x00\x08hello", "N").port
	cases := map[string]struct {
		call protocol.Reload
		says string
		code protocol.ExitCode
	}{
		"another certificate": {protocol.Reload{Port: serving, Folder: folderWith(t, a, "localhost")}, "serves another certificate, which is valid until", protocol.ExitTransient},
		"another CA":          {protocol.Reload{Port: serving, Folder: folderWith(t, authority(t), "localhost")}, "certificate signed by unknown authority", protocol.ExitTransient},
		"no TLS":              {protocol.Reload{Port: plain, Folder: folder, Request: "000868656c6c6f", Response: "53"}, "does not serve TLS", protocol.ExitTransient},
		"not reachable":       {protocol.Reload{Port: 1, Folder: folder}, "cannot be reached", protocol.ExitTransient},
		"no certificate":      {protocol.Reload{Port: serving, Folder: t.TempDir()}, "The certificate cannot be read", protocol.ExitTransient},
		"failing command":     {protocol.Reload{Port: serving, Folder: folder, Command: []string{"sh", "-c", "echo no >&2; exit 1"}}, "The end of its stderr: no", protocol.ExitTransient},
		"user must act":       {protocol.Reload{Port: serving, Folder: folder, Command: []string{"sh", "-c", "echo restart >&2; exit 20"}}, "restart", protocol.ExitPrecondition},
		"final exit code":     {protocol.Reload{Port: serving, Folder: folder, Command: []string{"sh", "-c", "echo never >&2; exit 30"}}, "never", protocol.ExitRefused},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.call.Command == nil {
				c.call.Command = []string{"true"}
			}
			_, err := reload(t, c.call)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, want %q", err, c.says)
			}
			if code := failureOf(err).exitCode(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
		})
	}
}

func TestAMemberWithAnotherNameIsRefused(t *testing.T) {
	folder := folderWith(t, authority(t), "orders-0.orders-headless")
	server := serve(t, folder, "", "")
	_, err := reload(t, protocol.Reload{Port: server.port, Folder: folder, Command: []string{"true"}})
	if err == nil || !strings.Contains(err.Error(), "not localhost") {
		t.Errorf("got %v, want an error about the host name", err)
	}
}
