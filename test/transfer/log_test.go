//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
)

// alone starts a server, with the slot that members of the engine have.
func (w *world) alone(p postgresql) member {
	w.t.Helper()
	w.key("replication-password", "unused")
	w.key("password", "unused")
	p.install(w)
	first := p.first()
	p.reserve(first)
	return first
}

// reserve creates the slot, if the action does not.
func (p postgresql) reserve(m member) {
	p.t.Helper()
	if p.engine != single {
		p.ask(m.port, "SELECT pg_create_physical_replication_slot('dbc_archive', true)")
	}
}

// reaches is the environment of an action.
func (p postgresql) reaches(ports, keys string) []string {
	return []string{
		"DBC_MEMBERS=127.0.0.1 127.0.0.1", "DBC_PORT=" + ports, "PGPORT=" + ports, "DBC_DATA_DIR=/none", "DBC_SECRETS_DIR=" + keys,
		"PATH=" + p.programs + ":" + os.Getenv("PATH"), "PYTHONDONTWRITEBYTECODE=1",
	}
}

// killAction kills the process of the action, if one runs.
func (w *world) killAction(transfer int) {
	w.t.Helper()
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", transfer))
	for _, file := range tasks {
		text, _ := os.ReadFile(file)
		for child := range strings.FieldsSeq(string(text)) {
			pid, _ := strconv.Atoi(child)
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

// A file can have all its bytes in the archive, but not its end. Then another run ends it before the next file.
func TestAnArchiveOfPostgreSQLContinuesAfterAFileWhoseEndIsNotStored(t *testing.T) {
	for _, engine := range []string{"postgresql-v1", single} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w, p := newWorld(t), newPostgreSQL(t, engine)
			first := w.alone(p)
			segment := p.ask(first.port, "SELECT pg_walfile_name(pg_current_wal_lsn()) FROM pg_switch_wal()")
			file := p.ask(first.port, "SELECT system_identifier FROM pg_control_system()") + "-" + segment
			w.must(w.run(w.archiving(`for n in 0 1 2 3; do
				echo data ` + file + ` $((n << 22)) $((1 << 22))
				dd if=` + filepath.Join(p.folder, first.name, "pg_wal", segment) + ` bs=4M skip=$n count=1 status=none
			done`)...))
			w.archiver(p, first.port)
			p.ask(first.port, "CREATE TABLE later ()")
			w.has(p.ask(first.port, "SELECT pg_walfile_name(pg_current_wal_lsn())"))
		})
	}
}

// Log that the server has removed is a gap, and the archive begins again after it.
func TestAnArchiveOfPostgreSQLRecordsLogThatIsLost(t *testing.T) {
	for _, engine := range []string{"postgresql-v1", single} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w, p := newWorld(t), newPostgreSQL(t, engine)
			first := w.alone(p)
			archiver, _ := w.archiver(p, first.port)
			w.has(".part.")
			_ = archiver.Process.Kill()
			_ = archiver.Wait() // it was killed
			p.ask(first.port, "ALTER SYSTEM SET wal_keep_size = 0")
			p.ask(first.port, "SELECT pg_drop_replication_slot(slot_name), pg_reload_conf() FROM pg_replication_slots WHERE NOT active")
			for range 3 {
				p.ask(first.port, "CREATE TABLE IF NOT EXISTS later (); DROP TABLE later; SELECT pg_switch_wal()")
				p.ask(first.port, "CHECKPOINT")
			}
			p.reserve(first)
			w.archiver(p, first.port)
			w.has(".gap.")
			w.has(p.ask(first.port, "SELECT pg_walfile_name(pg_current_wal_lsn())"))
		})
	}
}

// A server can have another history under the same names: its volume was restored, or it never had what the archive has from a primary that
// was lost. The archive must not continue one history by the other: it records a gap, and the next backup begins a new range.
func TestAnArchiveOfPostgreSQLDoesNotContinueOneHistoryByAnother(t *testing.T) {
	for name, killed := range map[string]bool{"while the archiver runs": false, "before the archiver starts": true} {
		for _, engine := range []string{"postgresql-v1", single} {
			t.Run(engine+" "+name, func(t *testing.T) {
				t.Parallel()
				w, p := newWorld(t), newPostgreSQL(t, engine)
				first := w.alone(p)
				p.do("pg_ctl", "-D", first.name, "-m", "fast", "stop")
				p.do("cp", "-a", first.name, "other")
				p.start(first.name)
				archiver, _ := w.archiver(p, first.port)
				w.writes(p, first, 1)
				if killed == (engine == single) { // in one case the archive ends with the end of a file
					p.ask(first.port, "SELECT pg_switch_wal()")
				}
				w.marked()
				if killed {
					_ = archiver.Process.Kill()
					_ = archiver.Wait() // it was killed
				}
				p.do("pg_ctl", "-D", first.name, "-m", "immediate", "stop")
				p.do("mv", first.name, "lost")
				p.do("mv", "other", first.name)
				p.start(first.name)
				for range 3 {
					w.writes(p, first, 2)
				}
				if killed {
					w.archiver(p, first.port)
				}
				w.has(".gap.")
				p.copy(first, "base")
				w.writes(p, first, 3)
				w.marked()
				want := p.ask(first.port, "SELECT string_agg(n::text, ' ' ORDER BY n) FROM row")
				if got := strings.Trim(fmt.Sprint(w.restored(p, "base", "restored", "")), "[]"); got != want {
					t.Errorf("the recovered rows differ: %d characters instead of %d", len(got), len(want))
				}
			})
		}
	}
}

// The action continues at the end of the archive, or records a gap if the server has other bytes there.
func TestTheArchiveOfPostgreSQLContinuesWhereItEnds(t *testing.T) {
	for _, engine := range []string{"postgresql-v1", single} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w, p := newWorld(t), newPostgreSQL(t, engine)
			first := w.alone(p)
			segment := p.ask(first.port, "SELECT pg_walfile_name(pg_current_wal_lsn()) FROM pg_switch_wal()")
			p.ask(first.port, "CREATE TABLE later ()")
			next := p.ask(first.port, "SELECT pg_walfile_name(pg_current_wal_lsn())")
			system := p.ask(first.port, "SELECT system_identifier FROM pg_control_system()") + "-"
			content, err := os.ReadFile(filepath.Join(p.folder, first.name, "pg_wal", segment))
			if err != nil {
				t.Fatal(err)
			}
			digest := func(size int) string {
				sum := sha256.Sum256(content[:size])
				return string(archive.DigestOf(sum[:]))
			}
			for told, want := range map[string]string{
				"0 open " + digest(0):                       "data " + system + segment + " 0 ",
				"100000 open " + digest(100000):             "data " + system + segment + " 100000 ",
				"100000 open " + digest(100001):             "gap " + system + segment + " 100000",
				"16777216 open " + digest(len(content)):     "end " + system + segment + " 16777216",
				"16777216 complete " + digest(len(content)): "data " + system + next + " 0 ",
				"16777216 complete " + digest(5):            "gap " + system + next + " 0",
			} {
				if got := w.firstFrame(p, first, "last "+system+segment+" "+told); !strings.HasPrefix(got, want) {
					t.Errorf("%s: the action sends %q, want %q", told, got, want)
				}
			}
		})
	}
}

// A restored volume can have a lower timeline than the archive. A primary that lost its leadership has one, too, but not for long.
func TestAnArchiveOfPostgreSQLBeginsAgainAfterALostTimeline(t *testing.T) {
	for engine, waits := range map[string]bool{"postgresql-v1": true, single: false} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w, p := newWorld(t), newPostgreSQL(t, engine)
			first := w.alone(p)
			script := filepath.Join(p.folder, "scripts", "archive")
			text, err := os.ReadFile(script) //nolint:gosec // of the test
			text = bytes.Replace(text, []byte("\nBEHIND = 300\n"), []byte("\nBEHIND = 6\n"), 1)
			if err := errors.Join(err, os.WriteFile(script, text, 0o755)); err != nil { //nolint:gosec // another user runs it
				t.Fatal(err)
			}
			lost := p.ask(first.port, "SELECT system_identifier FROM pg_control_system()") + "-000000020000000000000001"
			p.ask(first.port, "ALTER SYSTEM SET log_connections = on")
			p.ask(first.port, "SELECT pg_reload_conf()")
			began := time.Now()
			if got := w.firstFrame(p, first, "last "+lost+" 4096 open 0123456789abcdef"); !strings.HasPrefix(got, "gap "+lost+" 4096") {
				t.Errorf("the action sends %q", got)
			}
			if waits && time.Since(began) < time.Second {
				t.Error("the action did not wait for another primary")
			}
			// A slow machine needs fewer.
			if got := p.logged("connection authorized: user=replicator"); waits && (got < 3 || got > 12) {
				t.Errorf("the action connected %d times", got)
			}
		})
	}
}

// logged is how often the servers have logged a text.
func (p postgresql) logged(text string) int {
	p.t.Helper()
	log, err := os.ReadFile(filepath.Join(p.folder, "log"))
	if err != nil {
		p.t.Fatal(err)
	}
	return bytes.Count(log, []byte(text))
}

// firstFrame is the first line of the action after a reply.
func (w *world) firstFrame(p postgresql, m member, reply string) string {
	w.t.Helper()
	a := w.act(p, m, reply)
	line, _ := a.frames.ReadString('\n') // an action that ended has sent nothing
	_ = a.cmd.Cancel()
	_ = a.cmd.Wait() // it was killed
	return line
}

// writes inserts rows of several files.
func (w *world) writes(p postgresql, m member, million int) {
	w.t.Helper()
	p.ask(m.port, fmt.Sprintf("INSERT INTO row SELECT n FROM generate_series(%d000000, %d030000) n", million, million))
}

// marked waits until the archive has each commit until now.
func (w *world) marked() {
	w.t.Helper()
	now := time.Now()
	for deadline := now.Add(time.Minute); !w.listing().Newest().After(now); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("the archive has each commit until %s only:\n%s", w.listing().Newest(), strings.Join(w.objects(), "\n"))
		}
	}
}

func TestAnArchiveOfPostgreSQLRefusesAnotherDatabase(t *testing.T) {
	for _, engine := range []string{"postgresql-v1", single} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			w, p := newWorld(t), newPostgreSQL(t, engine)
			first := w.alone(p)
			cmd := exec.CommandContext(t.Context(), filepath.Join(p.folder, "scripts", "archive")) //nolint:gosec // of the engine
			cmd.Env = append(os.Environ(), p.reaches(first.port, w.keys)...)
			cmd.Stdin = strings.NewReader("last 1-000000010000000000000001 5 open\n")
			said, _ := cmd.CombinedOutput() // the exit code is checked below
			if code := cmd.ProcessState.ExitCode(); code != 30 || !strings.Contains(string(said), "has the database 1, but") {
				t.Errorf("exit code %d: %s", code, said)
			}
		})
	}
}
