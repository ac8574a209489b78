/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// The figures of a recovery.
const (
	recoveryAll     = "recovery_seconds"
	recoveryRestore = "recovery_restore_seconds"
	recoveryReplay  = "recovery_replay_seconds"
	recoveryTool    = "recovery_memory_of_the_tool_mib"
	recoveryOthers  = "recovery_memory_of_all_but_postgres_mib"
	recoveryCPU     = "recovery_cpu_seconds"
	recoveredBase   = "size_of_the_base_gib"
	recoveredLog    = "size_of_the_log_gib"
)

// restorer is a contestant that restores backups as well.
type restorer interface {
	contestant
	// steps returns the two processes that recover a backup until a time into a folder, one after the other.
	steps(h *history, into string) []step
	// tool is the name of its processes.
	tool() string
}

// step is a process, with its environment.
type step struct {
	environment, words []string
	// serves is true for a server, which is stopped when it has recovered.
	serves bool
}

// history is a lost server: its backups and its archives.
type history struct {
	engines, backrest *trial // have the same server; backrest is nil without pgBackRest
	start             string // the file of the archive in which the backup begins
	until             time.Time
	rows              string // at that time
}

// past is the history of this run.
var past *history

// writeHistory creates a server, backs it up, lets it write log, which is archived, and removes it.
func (b *bench) writeHistory() error {
	b.tell(fmt.Sprintf("Writing %g GiB of data.", b.baseGiB))
	t, err := b.large()
	if err != nil {
		return err
	}
	past = &history{engines: t}
	settings := []string{"archive_mode=off"}
	if rest := b.contestant("pgBackRest"); rest != nil {
		past.backrest = &trial{b: b, c: rest, id: t.id + "r", folder: t.folder, port: t.port}
		if err := rest.begin(past.backrest); err != nil {
			return err
		}
		settings = []string{"archive_mode=on", "archive_command=" + rest.command(past.backrest)}
	}
	if t.server, err = b.serveAt(t.port, t.data(), settings...); err != nil {
		return err
	}
	if _, err := t.server.ask(reserve); err != nil {
		return err
	}
	if err := t.receive(); err != nil {
		return err
	}
	if err := b.backUp(t); err != nil {
		return err
	}
	if err := b.writeLog(t); err != nil {
		return err
	}
	if err := t.server.stop(); err != nil {
		return err
	}
	if err := b.stop(t.receiver); err != nil {
		return err
	}
	return os.RemoveAll(t.data())
}

// contestant is the one with a name that takes part; nil for none.
func (b *bench) contestant(name string) contestant {
	for _, c := range b.contestants {
		if c.name() == name && c.missing() == "" {
			return c
		}
	}
	return nil
}

// large creates a server with data, which is not in its log.
func (b *bench) large() (*trial, error) {
	by := b.contestant("postgresql-v1")
	if by == nil {
		by = &engine{bench: b, of: "postgresql-single-v1"}
	}
	t, err := b.trial(by, emptyServer)
	if err != nil {
		return nil, err
	}
	var rows int64
	err = b.with(t.data(), func(s *server) error {
		if _, err := s.ask("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"); err != nil {
			return err
		}
		_, err := s.askAs("app", "app", "DROP TABLE data")
		return err
	})
	if err != nil {
		return nil, err
	}
	rows = int64(b.baseGiB * (1 << 30) / 1170) // a row with its header and its part of the index
	return t, b.with(t.data(), func(s *server) error {
		_, err := s.askAs("app", "app", fmt.Sprintf(`BEGIN; CREATE TABLE data (n bigserial, text text);
			INSERT INTO data (text) SELECT %s FROM generate_series(1, %d) n; ALTER TABLE data ADD PRIMARY KEY (n); COMMIT`, row, rows))
		if err != nil {
			return err
		}
		if _, err := s.askAs("app", "app", "VACUUM (FREEZE, ANALYZE) data"); err != nil {
			return err
		}
		_, err = s.ask("CHECKPOINT")
		return err
	}, "wal_level=minimal", "max_wal_senders=0", "archive_mode=off", "maintenance_work_mem=512MB")
}

// backUp creates the backups, one after the other.
func (b *bench) backUp(t *trial) (err error) {
	b.tell("Creating the backups.")
	// The scripts of this engine need only a shell. Its backups are in the form of those of the other engine, which restores them.
	if past.start, err = (&engine{bench: b, of: "postgresql-single-v1"}).backUp(t); err != nil {
		return err
	}
	if past.backrest != nil {
		_, err = b.do(nil, append((&backrest{b}).words(past.backrest), "--type=full", "backup")...)
	}
	return err
}

// writeLog writes the log of the recovery, and waits until it is archived.
func (b *bench) writeLog(t *trial) error {
	b.tell(fmt.Sprintf("Writing %g GiB of log.", b.logGiB))
	size, err := t.server.ask("SELECT sum(pg_database_size(oid)) / 2.0 ^ 30 FROM pg_database")
	if err != nil {
		return err
	}
	start, err := t.server.ask("SELECT pg_current_wal_insert_lsn()")
	if err != nil {
		return err
	}
	rows, err := t.server.askAs("app", "app", "SELECT max(n) FROM data")
	if err != nil {
		return err
	}
	if err := t.server.write(b.logGiB, insert, strings.ReplaceAll(update, "%d", rows)); err != nil {
		return err
	}
	written, err := t.server.ask(fmt.Sprintf("SELECT (pg_current_wal_insert_lsn() - '%s') / 2.0 ^ 30", start))
	if err != nil {
		return err
	}
	for what, text := range map[string]string{recoveredBase: size, recoveredLog: written} {
		var value float64
		if _, err := fmt.Sscan(text, &value); err != nil {
			return fmt.Errorf("%s is %q", what, text)
		}
		b.figure(everyone, what, value)
	}
	return b.finish(t)
}

// finish chooses the time of the recovery, which a commit follows, and waits until everything is archived.
func (b *bench) finish(t *trial) (err error) {
	if past.rows, err = t.server.askAs("app", "app", "SELECT count(*) FROM data"); err != nil {
		return err
	}
	time.Sleep(time.Second)
	past.until = time.Now()
	time.Sleep(3 * time.Second)
	if _, err := t.server.askAs("app", "app", "DELETE FROM data WHERE n <= 10"); err != nil {
		return err
	}
	time.Sleep(3 * time.Second) // so that a mark of the archive is later than the time
	segment, err := t.server.complete()
	if err != nil {
		return err
	}
	if _, err := t.server.askAs("app", "app", "INSERT INTO commits DEFAULT VALUES"); err != nil {
		return err
	}
	return b.until("the log is archived", func() (bool, error) {
		for _, each := range []*trial{past.engines, past.backrest} {
			if each == nil {
				continue
			}
			if has, err := each.c.has(each, segment); !has || err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// recovery recovers the lost server.
func (b *bench) recovery(c contestant) error {
	r, is := c.(restorer)
	if !is {
		return nil // see phases
	}
	into := b.path("recovered")
	if err := os.Mkdir(into, 0o700); err != nil {
		return fmt.Errorf("create a folder: %w", err)
	}
	if err := cold(b.store.bucket()); err != nil {
		return err
	}
	var took []time.Duration
	tool, rest, cpu := 0.0, 0.0, 0.0
	for _, s := range r.steps(past, into) {
		started := time.Now()
		p, err := b.start("recovery", s.environment, s.words...)
		if err != nil {
			return err
		}
		memory := watch(p)
		if err := b.waitFor(p, s, into); err != nil {
			return err
		}
		if _, err := b.do(nil, "sync", "-f", into); err != nil {
			return err
		}
		took = append(took, time.Since(started))
		seconds, err := p.cpu()
		if err != nil {
			return err
		}
		cpu, tool, rest = cpu+seconds, max(tool, memory.peak(r.tool())), max(rest, memory.peak(others))
	}
	b.figure(c.name(), recoveryAll, (took[0] + took[1]).Seconds())
	b.figure(c.name(), recoveryRestore, took[0].Seconds())
	b.figure(c.name(), recoveryReplay, took[1].Seconds())
	b.figure(c.name(), recoveryTool, tool)
	b.figure(c.name(), recoveryOthers, rest)
	b.figure(c.name(), recoveryCPU, cpu)
	return b.verify(filepath.Join(into, "pgdata"))
}

// waitFor waits for the end of a step: for that of a server until it has recovered and has stopped.
func (b *bench) waitFor(p *process, s step, into string) error {
	if !s.serves {
		return b.wait(p)
	}
	err := b.until("the server has recovered", func() (bool, error) {
		select {
		case <-p.ended:
			return false, fmt.Errorf("the server ended: %s", p.tail())
		default:
		}
		signal, err := exists(filepath.Join(into, "pgdata", "recovery.signal"))
		if signal || err != nil {
			return false, err
		}
		state, err := b.control(filepath.Join(into, "pgdata"), "Database cluster state")
		return state == "in production", err
	})
	if err != nil {
		return err
	}
	_ = p.cmd.Process.Signal(syscall.SIGINT) // it may have ended
	return b.wait(p)                         // until everything is written
}

// verify looks whether the recovered server has the rows of the time.
func (b *bench) verify(data string) error {
	err := b.with(data, func(s *server) error {
		rows, err := s.askAs("app", "app", "SELECT count(*) FROM data")
		if err == nil && rows != past.rows {
			err = fmt.Errorf("the recovered server has %s rows, not %s", rows, past.rows)
		}
		return err
	}, "archive_mode=off")
	if err != nil {
		return err
	}
	return os.RemoveAll(filepath.Dir(data))
}
