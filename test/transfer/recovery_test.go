//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// archiver runs the action of the engine under transfer, again if it ends.
func (w *world) archiver(p postgresql, ports string) (*exec.Cmd, func() outcome) {
	w.t.Helper()
	call := protocol.Archive{To: w.location, ID: "uid-1", Store: w.store(), MaxLag: 200 * time.Millisecond, Stalled: time.Second}
	call.State = filepath.Join(w.t.TempDir(), "state")
	cmd, finish := w.command(w.t.Context(), append(protocol.Args(&call), "--", filepath.Join(p.folder, "scripts", "archive"))...)
	cmd.Env = append(cmd.Env, p.reaches(ports, w.keys)...)
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return cmd, finish
}

func (w *world) listing() archive.Listing { return archive.Read(w.objects()) }

// objects are those of the archive in the bucket.
func (w *world) objects() (names []string) {
	w.t.Helper()
	err := filepath.WalkDir(w.path(""), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(w.path(""), path)
			names = append(names, name)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it has not begun
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return names
}

// has waits until the archive has a part of a file.
func (w *world) has(file string) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(strings.Join(w.objects(), " "), file); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("the archive lacks %s:\n%s", file, strings.Join(w.objects(), "\n"))
		}
	}
}

// numbers are those of the rows, in order.
func numbers(history []string) (all []int) {
	for _, line := range history {
		number, _, _ := strings.Cut(line, "|")
		n, _ := strconv.Atoi(number)
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

// crash ends the primary, and lets the replica take over. Without one, the server starts again.
func (p postgresql) crash() {
	p.do("pg_ctl", "-D", "first", "-m", "immediate", "stop")
	if p.engine == single {
		p.start("first")
		return
	}
	p.do("pg_ctl", "-D", "second", "promote")
}

// Kills at any time, a crash of the primary, and a stop must leave no hole: any moment can be recovered, with exactly the rows of that time.
// An archive may even have rows that the next primary lacks.
func TestAnyMomentOfPostgreSQLCanBeRecoveredFromItsArchive(t *testing.T) {
	for name, engine := range map[string]string{"the replica has the rows": "postgresql-v1", "the server starts again": single} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p := newWorld(t), newPostgreSQL(t, engine)
			w.disturb(p, func(member) { p.crash() })
		})
	}
	t.Run("the server begins a timeline", func(t *testing.T) {
		t.Parallel()
		w, p := newWorld(t), newPostgreSQL(t, single)
		objects := w.disturb(p, func(first member) {
			p.do("pg_ctl", "-D", first.name, "-m", "fast", "stop")
			p.do("touch", first.name+"/standby.signal")
			p.start(first.name)
			p.do("pg_ctl", "-D", first.name, "promote")
		})
		if !strings.Contains(strings.Join(objects, " "), "00000002.history.") {
			t.Error("the archive lacks the history of the timeline")
		}
	})
	t.Run("the archive is ahead of the replica", func(t *testing.T) {
		t.Parallel()
		w, p := newWorld(t), newPostgreSQL(t, "postgresql-v1")
		objects := w.disturb(p, func(first member) {
			p.do("pg_ctl", "-D", "second", "stop")
			p.ask(first.port, "INSERT INTO row SELECT 1000000 + n FROM generate_series(1, 40000) n")
			w.has(p.ask(first.port, "SELECT pg_walfile_name(pg_current_wal_lsn())"))
			p.do("pg_ctl", "-D", "first", "-m", "immediate", "stop")
			p.start("second")
			p.do("pg_ctl", "-D", "second", "promote")
		})
		if !strings.Contains(strings.Join(objects, " "), ".fork.") {
			t.Error("the archive does not record the history that the database has given up")
		}
	})
}

// disturb writes rows while transfer and the action are killed, and the primary ends in the middle. It returns the objects of the whole
// archive.
func (w *world) disturb(p postgresql, fail func(first member)) (objects []string) {
	w.t.Helper()
	w.key("replication-password", "unused")
	w.key("password", "unused")
	p.install(w)
	first := p.first()
	last := p.second(first)
	ports := first.port
	if last != first {
		ports += "," + last.port
	}
	archiver, finish := w.archiver(p, ports)
	if last == first { // the action creates the slot, so the backup begins later
		w.has(p.ask(first.port, "SELECT pg_walfile_name(pg_current_wal_lsn())"))
		p.copy(first, "base")
	}
	done, ended, rows := make(chan struct{}), make(chan struct{}), &writer{}
	go func() { defer close(ended); rows.write(p, ports, done) }()
	for kill := range 8 {
		time.Sleep(time.Duration(500+rand.IntN(1000)) * time.Millisecond)
		switch {
		case kill == 3:
			fail(first)
			fallthrough
		case kill%2 == 0:
			_ = archiver.Process.Kill()
			_ = archiver.Wait() // it was killed
			archiver, finish = w.archiver(p, ports)
		default:
			w.killAction(archiver.Process.Pid)
		}
	}
	time.Sleep(3 * time.Second)
	p.copy(last, "later")
	later := archive.BaseBackup{ID: "later", Start: p.begins("later"), Ended: time.Now(), Trusted: true}
	for range archive.MaxObjectsInFlight + 2 { // some files follow, because the last ones remain
		p.ask(last.port, "SELECT pg_switch_wal()")
		time.Sleep(200 * time.Millisecond)
	}
	point := p.mark(last)
	close(done)
	<-ended
	w.has(p.ask(last.port, "SELECT pg_walfile_name(pg_current_wal_lsn())"))
	time.Sleep(5 * time.Second) // so that the archive has a mark after the last commit
	history := strings.Split(p.ask(last.port,
		`SELECT n, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') FROM row, pg_xact_commit_timestamp(row.xmin) at ORDER BY at`), "\n")
	p.do("pg_ctl", "-D", last.name, "-w", "stop") // it waits until the archive has everything
	if err := archiver.Process.Signal(syscall.SIGTERM); err != nil {
		w.t.Fatal(err)
	}
	w.must(finish())
	w.compare(p, history)
	if got := w.restoredTo(p, "base", "point", protocol.Recover{Point: point.name}); !within(got, point.before, point.after) {
		w.t.Errorf("at %+v there are %d rows: %v", point, len(got), got)
	}
	objects = w.objects()
	w.trim(p, later, history)
	if len(rows.acknowledged) < 100 {
		w.t.Errorf("only %d rows were written", len(rows.acknowledged))
	}
	return objects
}

// compare recovers the end and random moments.
func (w *world) compare(p postgresql, history []string) {
	w.t.Helper()
	if whole, want := w.restored(p, "base", "whole", ""), numbers(history); !slices.Equal(whole, want) || len(w.listing().Ranges()) != 1 {
		w.t.Errorf("the end has %d rows of %d; ranges %+v\n%s", len(whole), len(want), w.listing().Ranges(), strings.Join(w.objects(), "\n"))
	}
	newest := w.listing().Ranges()[0].Newest().Format(time.RFC3339Nano)
	if _, last, _ := strings.Cut(history[len(history)-1], "|"); newest < last {
		w.t.Errorf("the archive has every commit until %s, but the last one was at %s", newest, last)
	}
	if got := w.restored(p, "base", "newest", newest); !slices.Equal(got, numbers(history)) {
		w.t.Errorf("until %s, after the last commit: %d rows of %d", newest, len(got), len(history))
	}
	for attempt := range 2 {
		at := rand.IntN(len(history) - 1) // there is a later commit
		_, until, _ := strings.Cut(history[at], "|")
		if got, want := w.restored(p, "base", fmt.Sprintf("moment%d", attempt), until), numbers(history[:at+1]); !slices.Equal(got, want) {
			w.t.Errorf("until %s: %d rows, want %d", until, len(got), len(want))
		}
	}
}

// trim deletes the log that a backup does not need, and recovers its first moment and the end.
func (w *world) trim(p postgresql, backup archive.BaseBackup, history []string) {
	w.t.Helper()
	unneeded := archive.Before(w.objects(), w.listing().Retained([]archive.BaseBackup{backup}, time.Time{}).From)
	for _, name := range unneeded {
		if err := os.Remove(w.path(name)); err != nil {
			w.t.Fatal(err)
		}
	}
	if _, found := w.listing().Find(p.begins("base")); len(unneeded) == 0 || found {
		w.t.Errorf("deleted %d objects: %+v", len(unneeded), w.listing())
	}
	at := slices.IndexFunc(history, func(row string) bool {
		return row[strings.Index(row, "|")+1:] > backup.Ended.UTC().Format(time.RFC3339Nano)
	})
	_, until, _ := strings.Cut(history[at], "|")
	if got, want := w.restored(p, "later", "first", until), numbers(history[:at+1]); !slices.Equal(got, want) {
		w.t.Errorf("without earlier log, until %s: %d rows, want %d", until, len(got), len(want))
	}
	if got := w.restored(p, "later", "last", ""); !slices.Equal(got, numbers(history)) {
		w.t.Errorf("without earlier log, the end has %d rows of %d", len(got), len(history))
	}
}

// A refused deletion, as of a bucket that retains objects, hides no time.
func TestLogThatABucketRetainsHidesNoTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	destination := strings.TrimSuffix(w.location, "/orders")
	w.location = destination + "/archive-uid-1"
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	w.must(w.run(w.archiving(`for n in {0..20}; do echo mark ` + until + `; printf "put log.$n 1\nx"; done`)...))
	w.location = destination + "/base"
	w.must(w.backup("echo data", "--about", "clusterUID=uid-1", "--check=echo", `--check={"archiveFile":"log.9"}`))
	refuse := atomic.Bool{}
	refuse.Store(true)
	w.endpoint = between(t, func(response http.ResponseWriter, request *http.Request, proxy http.Handler) {
		if request.Method == http.MethodDelete && refuse.Load() {
			http.Error(response, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(response, request)
	})
	window := func() protocol.Recoverable {
		call := protocol.Window{Of: destination, ID: "uid-1", Store: w.store(), Patience: time.Second, Remove: true, Trusted: []string{"uid-1"}}
		return *w.must(w.run(protocol.Args(&call)...)).Recoverable
	}
	refused := window()
	refuse.Store(false)
	done := window()
	if len(refused.Spans) != 1 || refused.Removed != 0 || !strings.Contains(refused.Left, "00000.log.0") {
		t.Errorf("refused: %+v", refused)
	}
	if done.Removed != 9 || done.Left != "" || fmt.Sprint(done.Spans) != fmt.Sprint(refused.Spans) {
		t.Errorf("allowed: %+v after %+v", done, refused)
	}
}

// A database takes a missing file for the end of its log. So a recovery waits for a bucket that fails.
func TestARecoveryWaitsForABucketThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.run(w.archiving(`printf 'put log.1 5\nfile1put log.2 5\nfile2'`)...))
	var refused atomic.Int32
	w.endpoint = between(t, func(response http.ResponseWriter, request *http.Request, proxy http.Handler) {
		if strings.Contains(request.URL.Path, ".log.2.") && refused.Add(1) <= 6 {
			http.Error(response, "<Error><Code>SlowDown</Code></Error>", http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(response, request)
	})
	into := filepath.Join(t.TempDir(), "file")
	call := protocol.Recover{From: w.location, Start: "log.1", Store: w.store(), Command: []string{"bash", "-c",
		"for n in 1 2; do $DBC_ARCHIVE_FETCH --file log.$n --into " + into + " || exit 1; cat " + into + " >&2; echo >&2; done"}}
	out := w.must(w.run(protocol.Args(&call)...))
	if !strings.Contains(out.stderr, `"line":"file2"`) || !strings.Contains(out.stderr, "The recovery waits.") || refused.Load() <= 6 {
		t.Errorf("%d requests: %+v", refused.Load(), out)
	}
}
