//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/transfer"
)

func TestALargeDatabaseGoesThereAndBackWithinTheMemoryBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.environment = append(w.environment, "GOMAXPROCS=4")
	made := w.must(w.backup(fmt.Sprintf("head -c %d /dev/urandom", size()), "--piece-size", "256Mi", "--compression-level", "9"))
	got := w.must(w.restore("sha256sum > " + w.data + "/sum"))
	sum, err := os.ReadFile(filepath.Join(w.data, "sum"))
	if err != nil || made.Bytes != size() || string(sum[:64]) != made.SHA256 || got.SHA256 != made.SHA256 {
		t.Errorf("made %+v, got %+v, whose sum is %s, %v", made.Result, got.Result, sum, err)
	}
	t.Logf("backup %d MiB resident, %.0f MB/s; restore %d MiB, %.0f MB/s", made.peak>>20, rate(made), got.peak>>20, rate(got))
	for what, peak := range map[string]int64{"backup": made.peak, "restore": got.peak} {
		if peak > transfer.MemoryBound {
			t.Errorf("the %s used %d bytes, more than %d", what, peak, int64(transfer.MemoryBound))
		}
	}
	w.must(w.remove())
	w.nothing()
}

func rate(o outcome) float64 {
	return float64(o.Bytes) / 1e6 / o.Completed.Sub(o.Started).Seconds()
}

func TestABackupOfManyPieces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.must(w.backup("head -c 60000000 /dev/urandom", "--piece-size", "9Mi"))
	pieces, err := filepath.Glob(w.path("member-0/*.zst"))
	if err != nil || len(pieces) != 7 {
		t.Errorf("the pieces are %v, %v", pieces, err)
	}
	again := w.must(w.backup("exit 1"))
	if again.SHA256 != made.SHA256 {
		t.Errorf("made %+v, again %+v", made.Result, again.Result)
	}
	w.must(w.restore("sha256sum > " + w.data + "/sum"))
	if sum, err := os.ReadFile(filepath.Join(w.data, "sum")); err != nil || string(sum[:64]) != made.SHA256 {
		t.Errorf("the sum is %s, %v", sum, err)
	}
	if o := w.must(w.run(protocol.Args(&protocol.List{At: "s3://" + w.bucket, Store: w.store()})...)); !strings.Contains(o.stdout, w.location+" ") {
		t.Errorf("listed is %s", o.stdout)
	}
	w.fails(w.run(protocol.Args(&protocol.Delete{At: w.location, ID: "uid-2", Store: w.store()})...), protocol.ExitRefused, protocol.IDMismatch, "uid-1")
	w.must(w.remove())
	w.nothing()
	w.fails(w.restore("cat >/dev/null", "--id", "new-2"), protocol.ExitRefused, protocol.DataDirectoryNotEmpty, "new-1")
	w.data = t.TempDir()
	w.fails(w.restore("cat >/dev/null"), protocol.ExitPrecondition, protocol.BackupMissing, w.location)
}

func TestInvalidCredentials(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*world){
		"the secret key": func(w *world) { w.key(protocol.SecretKeyFile, "guessed") },
		"the access key": func(w *world) { w.key(protocol.AccessKeyFile, "AKIANOBODY") },
		"none":           func(w *world) { w.key(protocol.AccessKeyFile, "") },
		"no Secret":      func(w *world) { w.keys = filepath.Join(w.keys, "missing") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			change(w)
			w.fails(w.backup("echo rows"), protocol.ExitPrecondition, protocol.CredentialsRefused, "ecret")
			w.fails(w.restore("cat"), protocol.ExitPrecondition, protocol.CredentialsRefused)
			w.fails(w.remove(), protocol.ExitPrecondition, protocol.CredentialsRefused)
			w.nothing()
		})
	}
}

func TestAMissingBucket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.location = "s3://missing/orders"
	w.fails(w.backup("echo rows"), protocol.ExitPrecondition, protocol.DestinationMissing, "s3://missing/orders", "NoSuchBucket", "Create the bucket")
	w.fails(w.restore("cat"), protocol.ExitPrecondition, protocol.DestinationMissing)
	w.fails(w.remove(), protocol.ExitPrecondition, protocol.DestinationMissing)
}

func TestAnUnreachableServer(t *testing.T) {
	t.Parallel()
	closed, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.endpoint = "http://" + closed
	w.fails(w.backup("echo rows"), protocol.ExitTransient, protocol.DestinationUnreachable, "cannot connect to http", "connection refused", "endpoint")
	w.endpoint = "http://no-such-host.invalid"
	w.fails(w.backup("echo rows"), protocol.ExitTransient, protocol.DestinationUnreachable, "DNS lookup of no-such-host.invalid failed")
}

func TestAWrongClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.endpoint = answering(t, func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "application/xml")
		out.WriteHeader(http.StatusForbidden)
		fmt.Fprint(out, "<Error><Code>RequestTimeTooSkewed</Code><Message>The difference between the request time and the current time is too large.</Message></Error>")
	})
	w.fails(w.backup("echo rows"), protocol.ExitTransient, protocol.ClockSkew, "RequestTimeTooSkewed", "clock of the pod's node")
}

func TestAnUnhealthyServer(t *testing.T) {
	t.Parallel()
	for status, reason := range map[int]protocol.Reason{
		http.StatusServiceUnavailable: protocol.DestinationUnreachable, http.StatusInsufficientStorage: protocol.DestinationFull,
	} {
		w := newWorld(t)
		w.endpoint = answering(t, func(out http.ResponseWriter, _ *http.Request) { out.WriteHeader(status) })
		if o := w.backup("echo rows"); o.Reason != reason {
			t.Errorf("%d: %+v", status, o.Result)
		}
	}
}

func TestAServerThatGoesSilentInTheMiddle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	released := make(chan struct{})
	defer close(released)
	w.endpoint = between(t, func(out http.ResponseWriter, in *http.Request, forward http.Handler) {
		if in.Method == http.MethodPut {
			<-released
		}
		forward.ServeHTTP(out, in)
	})
	w.fails(w.backup("head -c 200000000 /dev/urandom", "--idle-timeout", "1s"), protocol.ExitTransient, protocol.DestinationUnreachable, "did not answer for 1s")
}

func TestAnInterruptedRequestIsReportedOnlyAsInterrupted(t *testing.T) {
	t.Parallel()
	commands := map[string]func(*world) []string{
		"backup":  func(w *world) []string { return w.backupArguments("echo rows") },
		"restore": func(w *world) []string { return w.restoreArguments("cat") },
		"delete":  (*world).removeArguments,
	}
	for name, arguments := range commands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			asked, released := make(chan struct{}, 10), make(chan struct{})
			w.endpoint = answering(t, func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-released })
			t.Cleanup(func() { close(released) })
			cmd, finish := w.command(t.Context(), arguments(w)...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-asked
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			w.fails(finish(), protocol.ExitTransient, protocol.Interrupted)
		})
	}
}

func TestALostConnectionIsResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.must(w.backup("head -c 30000000 /dev/urandom"))
	var cut atomic.Int32
	w.endpoint = between(t, func(out http.ResponseWriter, in *http.Request, forward http.Handler) {
		if strings.HasSuffix(in.URL.Path, ".zst") && cut.Add(1) <= 3 {
			out = &cutOff{out, 5_000_000}
		}
		forward.ServeHTTP(out, in)
	})
	w.must(w.restore("sha256sum > " + w.data + "/sum"))
	if sum, err := os.ReadFile(filepath.Join(w.data, "sum")); err != nil || string(sum[:64]) != made.SHA256 || cut.Load() != 4 {
		t.Errorf("the sum is %s after %d requests, %v", sum, cut.Load(), err)
	}
}

// cutOff breaks the connection after that many bytes.
type cutOff struct {
	http.ResponseWriter
	left int
}

func (c *cutOff) Write(data []byte) (int, error) {
	if c.left -= len(data); c.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return c.ResponseWriter.Write(data)
}

func TestADamagedObjectOnDisk(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"a bit":     func(content []byte) []byte { content[len(content)/2] ^= 4; return content },
		"cut short": func(content []byte) []byte { return content[:len(content)-1] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.must(w.backup("head -c 20000000 /dev/urandom", "--piece-size", "9Mi"))
			object := w.piece(1)
			content, err := os.ReadFile(object)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(object, damage(content), 0o600); err != nil {
				t.Fatal(err)
			}
			w.fails(w.restore("cat > "+w.data+"/all"), protocol.ExitRefused, protocol.BackupCorrupt, w.location+"/member-0/00001-")
			if entries, err := os.ReadDir(w.data); err != nil || slices.ContainsFunc(entries, func(entry os.DirEntry) bool { return entry.Name() == "all" }) {
				t.Errorf("left are %v, %v", entries, err)
			}
		})
	}
}

func TestBytesThatChangeOnTheWayAreNeverStored(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		target func(*http.Request) bool
	}{
		"a part of a piece": {"head -c 60000000 /dev/urandom", func(in *http.Request) bool { return in.URL.Query().Get("partNumber") == "3" }},
		"a small piece":     {"head -c 3000000 /dev/urandom", func(in *http.Request) bool { return strings.HasSuffix(in.URL.Path, ".zst") }},
		"a manifest":        {"echo rows", func(in *http.Request) bool { return strings.HasSuffix(in.URL.Path, "manifest.json") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var flips, limit atomic.Int32
			limit.Store(1000)
			w.endpoint = w.betweenTLS(func(out http.ResponseWriter, in *http.Request, forward http.Handler) {
				if in.Method == http.MethodPut && test.target(in) && flips.Add(1) <= limit.Load() {
					in.Body = &flipped{in.Body, 1}
				}
				forward.ServeHTTP(out, in)
			})
			if o := w.backup(test.script); o.code == 0 {
				t.Errorf("the backup completed with other bytes: %+v", o.Result)
			}
			w.fails(w.restore("cat >/dev/null"), protocol.ExitPrecondition, protocol.BackupMissing)
			flips.Store(0)
			limit.Store(1) // the second attempt is unchanged
			if o := w.backup(test.script); o.code == 0 {
				w.restores(o.SHA256)
			} else {
				w.must(w.backup(test.script))
			}
			w.data = t.TempDir()
			w.must(w.restore("cat >/dev/null"))
		})
	}
}

// flipped changes one bit of its input.
type flipped struct {
	io.ReadCloser
	reads int
}

func (f *flipped) Read(buffer []byte) (int, error) {
	n, err := f.ReadCloser.Read(buffer)
	if f.reads--; f.reads <= 0 && n > 10 || n > 10 && errors.Is(err, io.EOF) {
		buffer[n/2] ^= 1
		f.reads = 1 << 30
	}
	return n, err
}

func TestAFailedUploadLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		script string
		code   protocol.ExitCode
		reason protocol.Reason
	}{
		"by the action":  {"head -c 50000000 /dev/urandom; exit 3", 1, protocol.ActionFailed},
		"by its silence": {"head -c 50000000 /dev/urandom; sleep 1000", 1, protocol.ActionHung},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.fails(w.backup(end.script, "--idle-timeout", "2s"), end.code, end.reason)
			w.nothing()
		})
	}
}

func TestAnInterruptedUploadLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started := filepath.Join(t.TempDir(), "started")
	cmd, finish := w.command(t.Context(), w.backupArguments("head -c 50000000 /dev/urandom; touch "+started+"; sleep 1000")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait(t, started)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.fails(finish(), protocol.ExitTransient, protocol.Interrupted)
	w.nothing()
}

func TestTheRestOfAKilledUploadIsRemovedWithTheBackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.killed()
	w.must(w.backup("echo rows"))
	w.must(w.restore("cat >/dev/null"))
	w.must(w.remove())
	w.nothing()
}

func TestAServerWithoutRoom(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := syscall.Mount("tmpfs", root, "tmpfs", 0, "size=40m"); err != nil {
		t.Skipf("a small volume cannot be mounted: %v", err)
	}
	defer syscall.Unmount(root, syscall.MNT_DETACH) //nolint:errcheck // the test is over
	small, err := startServer(root)
	if err != nil {
		t.Fatal(err)
	}
	defer small.stop()
	w := newWorld(t)
	w.at(small)
	// This server does not report that it is full. It returns an internal error, as for a temporary problem.
	o := w.backup("head -c 100000000 /dev/urandom", "--piece-size", "16Mi")
	w.fails(o, protocol.ExitTransient, protocol.DestinationUnreachable, "InternalError", "has free space")
	if pieces, err := filepath.Glob(filepath.Join(root, strings.TrimPrefix(w.location, "s3://"), "member-0/*")); err != nil || len(pieces) > 0 {
		t.Errorf("left are %v, %v", pieces, err)
	}
}

func TestTheAuthorityOfTheSecretIsTrustedAndNoOther(t *testing.T) {
	t.Parallel()
	certificate, key := selfSigned(t)
	secure, err := startServer(t.TempDir(), "--cert", certificate, "--key", key)
	if err != nil {
		t.Fatal(err)
	}
	defer secure.stop()
	w := newWorld(t)
	w.at(secure)
	w.fails(w.backup("echo rows"), protocol.ExitTransient, protocol.DestinationUnreachable, "certificate", "unknown authority")
	w.key("ca.crt", "not a certificate")
	w.fails(w.backup("echo rows"), protocol.ExitPrecondition, protocol.CredentialsRefused, "ca.crt")
	content, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	w.key("ca.crt", string(content))
	w.must(w.backup("head -c 30000000 /dev/urandom"))
	w.must(w.restore("cat > " + w.data + "/all"))
}

func selfSigned(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")
	for name, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: encoded}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// answering is a server that sends the same response to every request.
func answering(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	fake := httptest.NewServer(handler)
	t.Cleanup(fake.Close)
	return fake.URL
}

// between is a proxy between the program and the real server.
func between(t *testing.T, handle func(http.ResponseWriter, *http.Request, http.Handler)) string {
	t.Helper()
	target, err := url.Parse(s3.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Rewrite: func(request *httputil.ProxyRequest) {
		request.SetURL(target)
		request.Out.Host = request.In.Host // it is signed
	}}
	return answering(t, func(out http.ResponseWriter, in *http.Request) { handle(out, in, forward) })
}

// betweenTLS is a proxy between the program and the real server, with TLS for the program.
func (w *world) betweenTLS(handle func(http.ResponseWriter, *http.Request, http.Handler)) string {
	w.t.Helper()
	behind, err := url.Parse(between(w.t, handle))
	if err != nil {
		w.t.Fatal(err)
	}
	front := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(request *httputil.ProxyRequest) {
		request.SetURL(behind)
		request.Out.Host = request.In.Host // it is signed
	}})
	w.t.Cleanup(front.Close)
	w.key("ca.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})))
	return front.URL
}

// wait returns when the file exists.
func wait(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("%s was never created", path)
}
