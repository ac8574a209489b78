//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// zombie is an attempt that continues after a second one has started.
type zombie struct {
	w      *world
	goOn   string
	finish func() outcome
}

// startZombie starts a backup that stops in the middle of its output, with one piece stored and another partly stored.
func (w *world) startZombie(last string) *zombie {
	w.t.Helper()
	folder := w.t.TempDir()
	z := &zombie{w: w, goOn: filepath.Join(folder, "go-on")}
	started := filepath.Join(folder, "started")
	script := "head -c 60000000 /dev/urandom; touch " + started + "; while ! test -e " + z.goOn + "; do sleep 0.01; done; " + last
	cmd, finish := w.command(w.t.Context(), w.backupArguments(script, "--piece-size", "24Mi")...)
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	z.finish = finish
	wait(w.t, started)
	return z
}

// end lets the zombie continue to its end.
func (z *zombie) end() outcome {
	z.w.t.Helper()
	if err := os.WriteFile(z.goOn, nil, 0o600); err != nil {
		z.w.t.Fatal(err)
	}
	return z.finish()
}

func (w *world) restores(sum string) {
	w.t.Helper()
	w.data = w.t.TempDir()
	if got := w.must(w.restore("cat > " + w.data + "/all")); got.SHA256 != sum {
		w.t.Errorf("restored is %s, not %s", got.SHA256, sum)
	}
}

func TestAZombieAndASecondAttemptLeaveOneWholeBackup(t *testing.T) {
	t.Parallel()
	const second = "head -c 60000000 /dev/urandom"
	for name, test := range map[string]struct {
		last     string // of the zombie
		complete func(*world, *zombie) outcome
	}{
		"the zombie fails after the second has completed": {"exit 1", func(w *world, z *zombie) outcome {
			made := w.must(w.backup(second, "--piece-size", "24Mi"))
			w.fails(z.end(), 1, protocol.ActionFailed)
			return made
		}},
		"the zombie ends after the second has completed": {"head -c 30000000 /dev/urandom", func(w *world, z *zombie) outcome {
			made := w.must(w.backup(second, "--piece-size", "24Mi"))
			if late := w.must(z.end()); late.SHA256 != made.SHA256 {
				t.Errorf("the zombie has %+v, the backup is %+v", late.Result, made.Result)
			}
			return made
		}},
		"the zombie completes before the second ends": {"echo last", func(w *world, z *zombie) outcome {
			other := w.startZombie("echo other")
			made := w.must(z.end())
			if late := w.must(other.end()); late.SHA256 != made.SHA256 {
				t.Errorf("the second has %+v, the backup is %+v", late.Result, made.Result)
			}
			return made
		}},
		"the zombie completes and the second fails": {"echo last", func(w *world, z *zombie) outcome {
			other := w.startZombie("exit 1")
			made := w.must(z.end())
			w.fails(other.end(), 1, protocol.ActionFailed)
			return made
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.location = strings.ReplaceAll(w.location, "_", "-")
			made := test.complete(w, w.startZombie(test.last))
			w.restores(made.SHA256)
			if pieces, err := filepath.Glob(w.path("member-0/*.zst")); err != nil || len(pieces) != 3 {
				t.Errorf("the pieces are %v, %v", pieces, err)
			}
			w.must(w.remove())
			w.nothing()
		})
	}
}

// conditional answers writes of manifests like a service that honors their condition.
func (w *world) conditional(handle func(http.ResponseWriter, *http.Request, http.Handler)) string {
	return between(w.t, func(out http.ResponseWriter, in *http.Request, forward http.Handler) {
		_, err := os.Stat(filepath.Join(s3.root, in.URL.Path))
		if in.Method == http.MethodPut && in.Header.Get("If-None-Match") == "*" && err == nil {
			out.WriteHeader(http.StatusPreconditionFailed)
			_, _ = out.Write([]byte("<Error><Code>PreconditionFailed</Code><Message>The object exists.</Message></Error>"))
			return
		}
		handle(out, in, forward)
	})
}

func TestAManifestWhoseAnswerIsLostIsOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var lost atomic.Int32
	w.endpoint = w.conditional(func(out http.ResponseWriter, in *http.Request, forward http.Handler) {
		if in.Method == http.MethodPut && strings.HasSuffix(in.URL.Path, "manifest.json") && lost.Add(1) <= 2 {
			forward.ServeHTTP(&nobody{}, in)
			panic(http.ErrAbortHandler)
		}
		forward.ServeHTTP(out, in)
	})
	made := w.must(w.backup("echo rows"))
	if lost.Load() != 2 {
		t.Errorf("%d manifests were sent", lost.Load())
	}
	w.restores(made.SHA256)
}

func TestAServiceThatRefusesTheSecondManifestDecides(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.endpoint = w.conditional(func(out http.ResponseWriter, in *http.Request, forward http.Handler) {
		if in.Method == http.MethodHead { // the check before the write does not find it
			out.WriteHeader(http.StatusNotFound)
			return
		}
		forward.ServeHTTP(out, in)
	})
	z := w.startZombie("echo last")
	made := w.must(w.backup("echo rows"))
	if late := w.must(z.end()); late.SHA256 != made.SHA256 {
		t.Errorf("the zombie has %+v, the backup is %+v", late.Result, made.Result)
	}
	w.restores(made.SHA256)
}

func TestAManifestThatTheServerDidNotAnswerForKeepsItsPieces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	direct := w.endpoint
	w.endpoint = between(t, func(out http.ResponseWriter, in *http.Request, forward http.Handler) {
		if in.Method == http.MethodPut && strings.HasSuffix(in.URL.Path, "manifest.json") {
			forward.ServeHTTP(&nobody{}, in)
			panic(http.ErrAbortHandler)
		}
		if in.Method == http.MethodGet && strings.HasSuffix(in.URL.Path, "manifest.json") {
			panic(http.ErrAbortHandler)
		}
		forward.ServeHTTP(out, in)
	})
	w.fails(w.backup("echo rows"), protocol.ExitTransient, protocol.DestinationUnreachable)
	w.endpoint = direct
	made := w.must(w.backup("exit 1"))
	w.restores(made.SHA256)
}

// The program does not get the response.
type nobody struct{ header http.Header }

func (n *nobody) Header() http.Header {
	if n.header == nil {
		n.header = http.Header{}
	}
	return n.header
}
func (*nobody) WriteHeader(int)                {}
func (*nobody) Write(data []byte) (int, error) { return len(data), nil }

func TestAServiceWithoutConditionalWritesIsAskedBeforeAManifestIsWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.endpoint = between(t, func(out http.ResponseWriter, in *http.Request, forward http.Handler) {
		if in.Header.Get("If-None-Match") != "" {
			out.WriteHeader(http.StatusNotImplemented)
			_, _ = out.Write([]byte(`<Error><Code>NotImplemented</Code><Message>A header implies functionality that is not implemented.</Message></Error>`))
			return
		}
		forward.ServeHTTP(out, in)
	})
	z := w.startZombie("echo last")
	made := w.must(w.backup("echo rows"))
	if late := w.must(z.end()); late.SHA256 != made.SHA256 {
		t.Errorf("the zombie has %+v, the backup is %+v", late.Result, made.Result)
	}
	w.restores(made.SHA256)
}
