//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

// Package transfer runs the transfer binary against a real S3 server on loopback. `make test-s3` runs it.
package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/testing/sample"
	"github.com/dbcluster/databasecluster-operator/internal/transfer"
)

const (
	accessKey = "AKIATEST"
	secretKey = "not-to-be-told"
)

var (
	program string // the binary
	s3      *server
	worlds  atomic.Int32 // how many there have been
)

// size is the amount of data in tests of memory: more than the bound, so that a program that keeps all data fails.
func size() int64 {
	if sample.Whole() {
		return 1 << 30
	}
	return 3 * transfer.MemoryBound
}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests of transfer on S3:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	folder, err := os.MkdirTemp("", "databasecluster-operator-s3-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	program = filepath.Join(folder, "transfer")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "../../cmd/transfer")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build transfer: %w\n%s", err, said)
	}
	if s3, err = startServer(filepath.Join(folder, "s3")); err != nil {
		return 0, err
	}
	defer s3.stop()
	return m.Run(), nil
}

// server is versitygw with a folder behind it.
type server struct {
	endpoint string
	root     string
	cmd      *exec.Cmd
	log      bytes.Buffer
}

func startServer(root string, flags ...string) (*server, error) {
	binary := os.Getenv("DBC_VERSITYGW")
	if binary == "" {
		return nil, errors.New("DBC_VERSITYGW is not set: run `make test-s3`, which builds the server")
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &server{root: root, endpoint: "http://" + address}
	if slices.Contains(flags, "--cert") {
		s.endpoint = "https://" + address
	}
	s.cmd = exec.Command(binary, append(flags, "--port", address, "--health", "/health", "--quiet", "posix", root)...)
	s.cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+accessKey, "ROOT_SECRET_KEY="+secretKey)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if err := s.await(address); err != nil {
		s.stop()
		return nil, fmt.Errorf("%w\n%s", err, &s.log)
	}
	return s, nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

func (s *server) await(address string) error {
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if connection, err := net.Dial("tcp", address); err == nil {
			return connection.Close()
		}
	}
	return errors.New("the S3 server does not listen")
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
}

// world is a bucket, and a volume for data.
type world struct {
	t        *testing.T
	endpoint string
	bucket   string
	keys     string
	location string
	data     string
	// environment is the environment of the program, in addition to that of the test.
	environment []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, bucket: fmt.Sprintf("backups-%d", worlds.Add(1)), keys: t.TempDir(), data: t.TempDir()}
	w.at(s3)
	w.location = "s3://" + w.bucket + "/" + strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-")) + "/orders"
	w.key(protocol.AccessKeyFile, accessKey)
	w.key(protocol.SecretKeyFile, secretKey+"\n") // with a trailing newline, as editors add it
	return w
}

// at switches to a server, where the bucket is a folder.
func (w *world) at(s *server) {
	w.t.Helper()
	if err := os.Mkdir(filepath.Join(s.root, w.bucket), 0o755); err != nil {
		w.t.Fatal(err)
	}
	w.endpoint = s.endpoint
}

func (w *world) key(name, value string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.keys, name), []byte(value), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// path returns the path of an object in the folder behind the server.
func (w *world) path(name string) string {
	return filepath.Join(s3.root, strings.TrimPrefix(w.location, "s3://"), name)
}

// piece returns the path of a piece of any attempt.
func (w *world) piece(number int) string {
	w.t.Helper()
	found, err := filepath.Glob(w.path(fmt.Sprintf("member-0/%05d-*.zst", number)))
	if err != nil || len(found) != 1 {
		w.t.Fatalf("pieces %d are %v, %v", number, found, err)
	}
	return found[0]
}

type outcome struct {
	protocol.Result
	code           protocol.ExitCode
	stdout, stderr string
	peak           int64 // resident memory
}

func (w *world) backupArguments(script string, more ...string) []string {
	call := protocol.Backup{
		To: w.location, ID: "uid-1", Complete: true, About: protocol.About{protocol.AboutCluster: "orders"}, Store: w.store(),
	}
	return append(append(protocol.Args(&call), more...), "--", "sh", "-c", script)
}

func (w *world) backup(script string, more ...string) outcome {
	w.t.Helper()
	return w.run(w.backupArguments(script, more...)...)
}

func (w *world) restoreArguments(script string, more ...string) []string {
	call := protocol.Restore{From: w.location, ID: "new-1", Into: w.data, Store: w.store()}
	return append(append(protocol.Args(&call), more...), "--", "sh", "-c", script)
}

func (w *world) restore(script string, more ...string) outcome {
	w.t.Helper()
	return w.run(w.restoreArguments(script, more...)...)
}

func (w *world) removeArguments() []string {
	return protocol.Args(&protocol.Delete{At: w.location, ID: "uid-1", Store: w.store()})
}

func (w *world) remove() outcome {
	w.t.Helper()
	return w.run(w.removeArguments()...)
}

func (w *world) store() protocol.Store {
	return protocol.Store{Endpoint: w.endpoint, Credentials: w.keys}
}

func (w *world) run(arguments ...string) outcome {
	w.t.Helper()
	cmd, finish := w.command(w.t.Context(), arguments...)
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return finish()
}

// command returns a prepared run, and the function that waits for its end.
func (w *world) command(ctx context.Context, arguments ...string) (*exec.Cmd, func() outcome) {
	w.t.Helper()
	result := filepath.Join(w.t.TempDir(), "result")
	cmd := exec.CommandContext(ctx, program, slices.Insert(arguments, 1, "--result", result)...)
	cmd.Env = append(os.Environ(), w.environment...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	return cmd, func() outcome {
		w.t.Helper()
		_ = cmd.Wait() // the exit code is part of the outcome
		o := outcome{code: protocol.ExitCode(cmd.ProcessState.ExitCode()), stdout: stdout.String(), stderr: stderr.String()}
		o.peak = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
		content, err := os.ReadFile(result)
		if err != nil {
			w.t.Fatalf("no result: %v\n%s", err, &stderr)
		}
		said, err := protocol.DecodeResult(string(content))
		if err != nil {
			w.t.Fatalf("the result %q: %v", content, err)
		}
		o.Result = *said
		for _, said := range []string{string(content), o.stdout, o.stderr} {
			if strings.Contains(said, secretKey) {
				w.t.Errorf("a secret was logged: %s", said)
			}
		}
		return o
	}
}

func (w *world) must(o outcome) outcome {
	w.t.Helper()
	if o.code != 0 || o.Reason != "" {
		w.t.Fatalf("exit code %d, %s: %s\n%s", o.code, o.Reason, o.Message, o.stderr)
	}
	return o
}

func (w *world) fails(o outcome, code protocol.ExitCode, reason protocol.Reason, says ...string) outcome {
	w.t.Helper()
	if o.code != code || o.Reason != reason {
		w.t.Fatalf("exit code %d, %s: %q; want %d, %s\n%s", o.code, o.Reason, o.Message, code, reason, o.stderr)
	}
	for _, text := range says {
		if !strings.Contains(o.Message, text) {
			w.t.Errorf("the message %q does not contain %q", o.Message, text)
		}
	}
	return o
}

// nothing asserts that no objects and no unfinished parts exist.
func (w *world) nothing() {
	w.t.Helper()
	for _, folder := range []string{w.path(""), filepath.Join(s3.root, w.bucket, ".sgwtmp")} {
		err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			if err == nil && !entry.IsDir() {
				w.t.Errorf("left is %s", path)
			}
			return err
		})
		if err != nil {
			w.t.Error(err)
		}
	}
}
