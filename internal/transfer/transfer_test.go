/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// TestMain lets the test binary act as the program, so that tests can signal, kill and measure it.
func TestMain(m *testing.M) {
	if os.Getenv("BE_TRANSFER") == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	code := int(Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
	stop()
	os.Exit(code)
}

// world is a volume for backups and a volume for data.
type world struct {
	t    *testing.T
	root string
	data string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{t: t, root: t.TempDir(), data: t.TempDir()}
}

// outcome is the complete output of a transfer.
type outcome struct {
	protocol.Result
	code           protocol.ExitCode
	stdout, stderr string
}

func (w *world) run(arguments ...string) outcome {
	w.t.Helper()
	return w.runIn(w.t.Context(), arguments...)
}

func (w *world) runIn(ctx context.Context, arguments ...string) outcome {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	arguments, result := w.arguments(arguments)
	code := Run(ctx, arguments, &stdout, &stderr)
	return w.outcome(code, result, stdout.String(), stderr.String())
}

// arguments adds the result file to a command.
func (w *world) arguments(arguments []string) (all []string, result string) {
	result = filepath.Join(w.t.TempDir(), "result")
	return slices.Insert(slices.Clone(arguments), 1, "--result", result), result
}

func (w *world) outcome(code protocol.ExitCode, path, stdout, stderr string) outcome {
	w.t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatalf("no result: %v\n%s", err, stderr)
	}
	if len(content) > protocol.MaxResultBytes {
		w.t.Errorf("the result has %d bytes", len(content))
	}
	result, err := protocol.DecodeResult(string(content))
	if err != nil {
		w.t.Fatalf("the result %q: %v", content, err)
	}
	return outcome{*result, code, stdout, stderr}
}

// backupArguments returns the arguments to back up member 0 of 1 with a shell script.
func (w *world) backupArguments(script string, more ...string) []string {
	arguments := []string{"backup", "--to", "file:///shop/orders", "--root", w.root, "--id", "uid-1", "--complete", "--piece-size", "64Ki"}
	return append(append(arguments, more...), "--", "sh", "-c", script)
}

func (w *world) restoreArguments(script string, more ...string) []string {
	arguments := []string{"restore", "--from", "file:///shop/orders", "--root", w.root, "--id", "new-1", "--into", w.data}
	return append(append(arguments, more...), "--", "sh", "-c", script)
}

func (w *world) backup(script string, more ...string) outcome {
	w.t.Helper()
	return w.run(w.backupArguments(script, more...)...)
}

func (w *world) restore(script string, more ...string) outcome {
	w.t.Helper()
	return w.run(w.restoreArguments(script, more...)...)
}

// worked fails the test immediately if a preparation failed.
func (w *world) worked(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) must(o outcome) outcome {
	w.t.Helper()
	if o.code != 0 || o.Reason != "" || o.Message != "" {
		w.t.Fatalf("exit code %d, %s: %s\n%s", o.code, o.Reason, o.Message, o.stderr)
	}
	return o
}

// fails asserts the failure and the texts in its message.
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

// stored returns the files at the destination.
func (w *world) stored() []string {
	w.t.Helper()
	return files(w.t, w.root)
}

// nothing fails the test if the destination has any file.
func (w *world) nothing() {
	w.t.Helper()
	if left := w.stored(); len(left) > 0 {
		w.t.Errorf("left are %v", left)
	}
}

// restored returns the files in the data directory except the mark.
func (w *world) restored() []string {
	w.t.Helper()
	return slices.DeleteFunc(files(w.t, w.data), func(name string) bool { return name == protocol.MarkName })
}

func files(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		names = append(names, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func (w *world) path(name string) string { return filepath.Join(w.root, "shop/orders", w.name(name)) }

// name returns the name of a piece without its attempt, or any other name unchanged.
func (w *world) name(name string) string {
	folder := filepath.Join(w.root, "shop/orders")
	found, err := filepath.Glob(filepath.Join(folder, strings.Replace(name, ".zst", "-*.zst", 1)))
	if err != nil || len(found) != 1 || !strings.Contains(name, ".zst") {
		return name
	}
	return strings.TrimPrefix(found[0], folder+"/")
}

// change replaces a stored file with the result of the function.
func (w *world) change(name string, by func([]byte) []byte) {
	w.t.Helper()
	content, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	w.worked(os.WriteFile(w.path(name), by(content), 0o600))
}

// noise creates an incompressible file with fixed content: eleven pieces of 64 KiB.
func (w *world) noise() string {
	w.t.Helper()
	content := make([]byte, 700_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	name := filepath.Join(w.t.TempDir(), "noise")
	w.worked(os.WriteFile(name, content, 0o600))
	return name
}

func same(t *testing.T, one, other string) {
	t.Helper()
	a, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("%s and %s differ", one, other)
	}
}
