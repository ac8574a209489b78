//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// archiving are the arguments of an archive with a script as its action. $last is the first reply.
func (w *world) archiving(script string) []string {
	call := protocol.Archive{To: w.location, ID: "uid-1", Store: w.store(), MaxLag: 50 * time.Millisecond, Stalled: 500 * time.Millisecond}
	return append(protocol.Args(&call), "--", "bash", "-c", "read -r last; "+script)
}

func (w *world) fetched(file string) string {
	w.t.Helper()
	into := filepath.Join(w.t.TempDir(), "file")
	w.must(w.run(protocol.Args(&protocol.Fetch{From: w.location, File: file, Into: into, Store: w.store()})...))
	content, err := os.ReadFile(into)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}

// counting is an action that sends the numbers from 0 to 3999 in files of a hundred, from where the archive ends. Each line has 6 bytes, so the
// content follows from the place.
const counting = `set -- $last; n=0
	if [ -n "$2" ]; then n=$(((10#${2#log.}) * 100 + $3 / 6)); fi
	while [ $n -lt 4000 ]; do
		printf 'data log.%02d %d 6\n%05d\n' $((n / 100)) $((n % 100 * 6)) $n
		n=$((n + 1))
		[ $((n % 100)) != 0 ] || printf 'end log.%02d 600\n' $(((n - 1) / 100))
		[ $((n % 10)) != 0 ] || sleep 0.01
	done`

func (w *world) hasCounted() {
	w.t.Helper()
	for file := range 40 {
		var want strings.Builder
		for n := range 100 {
			fmt.Fprintf(&want, "%05d\n", file*100+n)
		}
		if got := w.fetched(fmt.Sprintf("log.%02d", file)); got != want.String() {
			w.t.Errorf("log.%02d has %d bytes: %.60q", file, len(got), got)
		}
	}
}

func TestAnArchiveIsCompleteAfterKillsOverABadBucket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var refused, lost atomic.Int32
	w.endpoint = between(t, func(response http.ResponseWriter, request *http.Request, proxy http.Handler) {
		fate := rand.IntN(8)
		if request.Method != http.MethodPut {
			fate = 7
		}
		switch fate {
		case 0:
			refused.Add(1)
			http.Error(response, "<Error><Code>SlowDown</Code></Error>", http.StatusServiceUnavailable)
		case 1:
			lost.Add(1)
			proxy.ServeHTTP(discard{}, request) // the object is stored, and the program does not learn it
			panic(http.ErrAbortHandler)
		default:
			proxy.ServeHTTP(response, request)
		}
	})
	kills := 0
	for ; kills < 8; kills++ {
		cmd, _ := w.command(t.Context(), w.archiving(counting)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(200+rand.IntN(400)) * time.Millisecond)
		_ = cmd.Process.Kill() // it may have ended
		if cmd.Wait() == nil {
			break
		}
	}
	w.must(w.run(w.archiving(counting)...))
	w.hasCounted()
	if kills == 0 || refused.Load() == 0 || lost.Load() == 0 {
		t.Errorf("%d kills, %d refused writes, %d lost responses", kills, refused.Load(), lost.Load())
	}
}

// discard is a response without a reader.
type discard struct{}

func (discard) Header() http.Header               { return http.Header{} }
func (discard) Write(content []byte) (int, error) { return len(content), nil }
func (discard) WriteHeader(int)                   {}

func TestABucketThatIsAwayStallsTheArchive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	said := filepath.Join(t.TempDir(), "said")
	w.endpoint = between(t, func(response http.ResponseWriter, request *http.Request, proxy http.Handler) {
		if _, err := os.Stat(said); err != nil && request.Method == http.MethodPut && !strings.HasSuffix(request.URL.Path, protocol.ArchiveName) {
			http.Error(response, "", http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(response, request)
	})
	out := w.must(w.run(w.archiving(`printf 'data log.00 0 6\n00000\n'; read -r a; echo > ` + said + `; read -r b; read -r c; echo "$a, $b, $c" >&2`)...))
	if !strings.Contains(out.stderr, `"line":"stalled, resumed, durable log.00 6"`) || w.fetched("log.00") != "00000\n" {
		t.Errorf("%+v", out)
	}
}

// A file of a quiet database has thousands of parts. One by one, they would take minutes from a distant bucket.
func TestTheEndOfAnArchiveIsReadByManyRequestsAtTheSameTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.run(w.archiving(`for n in {0..19}; do printf 'data log.00 %d 6\n%05d\ncut\n' $((n * 6)) $n; done`)...))
	var arrived atomic.Int32
	together := make(chan struct{})
	w.endpoint = between(t, func(response http.ResponseWriter, request *http.Request, proxy http.Handler) {
		if strings.Contains(request.URL.Path, ".part.") {
			if arrived.Add(1) == 8 {
				close(together)
			}
			select {
			case <-together:
			case <-request.Context().Done():
			}
		}
		proxy.ServeHTTP(response, request)
	})
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd, finish := w.command(ctx, w.archiving(`printf 'data log.00 120 6\n00020\n'`)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.must(finish())
	var want strings.Builder
	for n := range 21 {
		fmt.Fprintf(&want, "%05d\n", n)
	}
	if got := w.fetched("log.00"); got != want.String() || arrived.Load() < 20 {
		t.Errorf("after %d reads: %q", arrived.Load(), got)
	}
}
