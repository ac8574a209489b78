//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// archiver runs the action of the engine under transfer.
func (w *world) archiver(ports string) (*exec.Cmd, func() outcome) {
	w.t.Helper()
	action, errAction := filepath.Abs("postgresql/archive")
	scripts, errScripts := filepath.Abs("../../config/engines/postgresql-v1/scripts")
	if err := errors.Join(errAction, errScripts); err != nil {
		w.t.Fatal(err)
	}
	call := protocol.Archive{To: w.location, ID: "uid-1", Store: w.store(), MaxLag: 200 * time.Millisecond, Stalled: time.Second}
	cmd, finish := w.command(w.t.Context(), append(protocol.Args(&call), "--", action)...)
	cmd.Env = append(cmd.Env, "DBC_MEMBERS=127.0.0.1 127.0.0.1", "DBC_PORT="+ports, "DBC_DATA_DIR=/none", "DBC_SECRETS_DIR="+w.keys, "PYTHONPATH="+w.driver()+":"+scripts,
		"PYTHONDONTWRITEBYTECODE=1")
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return cmd, finish
}

// driver is a folder with the names that the scripts import: the archive does not use this driver.
func (w *world) driver() string {
	w.t.Helper()
	folder := w.t.TempDir()
	for name, text := range map[string]string{
		"__init__.py": "class Error(Exception): pass\nclass OperationalError(Error): pass\n", "extensions.py": "encrypt_password = None\n",
		"sql.py": "SQL = Identifier = Literal = None\n",
	} {
		path := filepath.Join(folder, "psycopg2", name)
		if os.MkdirAll(filepath.Dir(path), 0o755) != nil || os.WriteFile(path, []byte(text), 0o600) != nil {
			w.t.Fatal("cannot write " + path)
		}
	}
	return folder
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
	if err != nil {
		w.t.Fatal(err)
	}
	return names
}

// collect copies the files of the archive into a folder, as PostgreSQL reads them.
func (w *world) collect(p postgresql) {
	w.t.Helper()
	names := map[string]bool{}
	for _, file := range w.listing() {
		if file.Record == "" {
			names[file.Name] = true
		}
	}
	for name := range maps.Keys(names) {
		content := w.fetched(name)
		if !strings.HasSuffix(name, ".history") {
			content += strings.Repeat("\x00", archive.MaxFileBytes-len(content))
		}
		_, file, _ := strings.Cut(name, "-")
		if err := os.WriteFile(filepath.Join(p.folder, file), []byte(content), 0o644); err != nil { //nolint:gosec // another user reads it
			w.t.Fatal(err)
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

// crash ends the primary, and lets the replica take over.
func (p postgresql) crash() {
	p.do("pg_ctl", "-D", "first", "-m", "immediate", "stop")
	p.do("pg_ctl", "-D", "second", "promote")
}

// Kills at any time, a crash of the primary, and a stop must leave no hole: any moment can be recovered, with exactly the rows of that time.
// An archive may even have rows that the next primary lacks.
func TestAnyMomentOfPostgreSQLCanBeRecoveredFromItsArchive(t *testing.T) {
	t.Run("the replica has the rows", func(t *testing.T) {
		t.Parallel()
		w, p := newWorld(t), newPostgreSQL(t)
		w.disturb(p, func(string) { p.crash() })
	})
	t.Run("the archive is ahead of the replica", func(t *testing.T) {
		t.Parallel()
		w, p := newWorld(t), newPostgreSQL(t)
		w.disturb(p, func(first string) {
			p.do("pg_ctl", "-D", "second", "stop")
			p.ask(first, "INSERT INTO row SELECT 1000000 + n FROM generate_series(1, 40000) n")
			for end := p.ask(first, "SELECT pg_walfile_name(pg_current_wal_lsn())"); !strings.Contains(strings.Join(w.objects(), " "), end); {
				time.Sleep(50 * time.Millisecond)
			}
			p.do("pg_ctl", "-D", "first", "-m", "immediate", "stop")
			p.start("second")
			p.do("pg_ctl", "-D", "second", "promote")
		})
		if !strings.Contains(strings.Join(w.objects(), " "), ".fork.") {
			t.Error("the archive does not record the history that the database has given up")
		}
	})
}

// disturb writes rows while the archiver is killed, and the primary ends in the middle.
func (w *world) disturb(p postgresql, fail func(first string)) {
	w.t.Helper()
	w.key("replication-password", "unused")
	first, second := p.pair()
	ports := first + "," + second
	done, ended, rows := make(chan struct{}), make(chan struct{}), &writer{}
	go func() { defer close(ended); rows.write(p, ports, done) }()
	archiver, finish := w.archiver(ports)
	for kill := range 6 {
		time.Sleep(time.Duration(500+rand.IntN(1000)) * time.Millisecond)
		if kill == 3 {
			fail(first)
		}
		_ = archiver.Process.Kill()
		_ = archiver.Wait() // it was killed
		archiver, finish = w.archiver(ports)
	}
	time.Sleep(time.Second)
	close(done)
	<-ended
	history := strings.Split(p.ask(second,
		"SELECT n, to_char(pg_xact_commit_timestamp(xmin), 'YYYY-MM-DD HH24:MI:SS.USOF') FROM row ORDER BY pg_xact_commit_timestamp(xmin)"), "\n")
	p.do("pg_ctl", "-D", "second", "-w", "stop") // it waits until the archive has everything
	if err := archiver.Process.Signal(syscall.SIGTERM); err != nil {
		w.t.Fatal(err)
	}
	w.must(finish())
	w.compare(p, history)
	if len(rows.acknowledged) < 100 {
		w.t.Errorf("only %d rows were written", len(rows.acknowledged))
	}
}

// compare recovers the end and random moments.
func (w *world) compare(p postgresql, history []string) {
	w.t.Helper()
	w.collect(p)
	if whole, want := p.restored("whole", ""), numbers(history); !slices.Equal(whole, want) || len(w.listing().Ranges()) != 1 {
		w.t.Errorf("the end has %d rows of %d; ranges %+v\n%s", len(whole), len(want), w.listing().Ranges(), strings.Join(w.objects(), "\n"))
	}
	for attempt := range 4 {
		at := rand.IntN(len(history) - 1) // there is a later commit
		_, until, _ := strings.Cut(history[at], "|")
		if got, want := p.restored(fmt.Sprintf("moment%d", attempt), until), numbers(history[:at+1]); !slices.Equal(got, want) {
			w.t.Errorf("until %s: %d rows, want %d", until, len(got), len(want))
		}
	}
}
