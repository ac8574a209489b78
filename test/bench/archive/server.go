/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// server is a server of PostgreSQL.
type server struct {
	b            *bench
	folder, port string
	process      *process
}

// serve starts a server with settings as KEY=VALUE.
func (b *bench) serve(folder string, settings ...string) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	return b.serveAt(port, folder, settings...)
}

func (b *bench) serveAt(port, folder string, settings ...string) (*server, error) {
	words := []string{"postgres", "-D", folder}
	for _, setting := range append([]string{
		"port=" + port, "listen_addresses=127.0.0.1", "unix_socket_directories=" + b.folder, "shared_buffers=128MB", "max_wal_senders=10",
		"max_slot_wal_keep_size=-1", "max_wal_size=1GB", "log_min_messages=warning", "log_checkpoints=off",
	}, settings...) {
		words = append(words, "-c", setting)
	}
	process, err := b.start("server-"+port, nil, words...)
	if err != nil {
		return nil, err
	}
	s := &server{b, folder, port, process}
	return s, b.until("a server answers", func() (bool, error) {
		select {
		case <-process.ended:
			return false, fmt.Errorf("the server of %s ended: %s", folder, process.tail())
		default:
			_, err := s.ask("SELECT 1")
			return err == nil, nil
		}
	})
}

// connection is how clients reach a database of the server.
func (s *server) connection(user, database string) []string {
	return []string{"-h", "127.0.0.1", "-p", s.port, "-U", user, database}
}

// ask returns the answer to a query.
func (s *server) ask(statement string) (string, error) {
	return s.askAs("postgres", "postgres", statement)
}

func (s *server) askAs(user, database, statement string) (string, error) {
	return s.b.do(nil, append([]string{"psql", "-XqtA", "-v", "ON_ERROR_STOP=1", "-c", statement}, s.connection(user, database)...)...)
}

// stop stops the server cleanly.
func (s *server) stop() error { return s.b.stop(s.process) }

// lose kills the server with everything that it has started, and sets its data aside.
func (s *server) lose() error {
	s.process.kill()
	s.b.forget(s.process)
	return os.Rename(s.folder, s.folder+".lost")
}

// The statements of applications. A row has about 1 KiB, of which an eighth is random.
const (
	row     = "(SELECT string_agg(repeat(md5(random()::text || n || k), 4), '') FROM generate_series(1, 8) k)"
	insert  = "INSERT INTO data (text) SELECT " + row + " FROM generate_series(1, 20000) n"
	update  = "UPDATE data SET text = " + row + " FROM (SELECT (random() * %d)::bigint FROM generate_series(1, 2000)) picked(m) WHERE n = m"
	reserve = `SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots; SELECT pg_switch_wal(); CHECKPOINT;
		SELECT pg_create_physical_replication_slot(name, true) FROM unnest(ARRAY['dbc_archive', 'receivewal']) name`
)

// The folders that trials copy.
const (
	emptyServer  = "server-empty"  // the tables of the client
	filledServer = "server-filled" // and those of pgbench
	behindServer = "server-behind" // and log that is not archived
)

// template creates a server whose slots keep everything that follows.
func (b *bench) template() error {
	b.tell("Creating a server.")
	folder := b.path(emptyServer)
	if _, err := b.do(nil, "initdb", "-D", folder, "-U", "postgres", "-A", "trust", "--data-checksums", "--no-sync"); err != nil {
		return err
	}
	return b.with(folder, func(s *server) error {
		if _, err := s.ask("CREATE ROLE replicator LOGIN REPLICATION; CREATE ROLE app LOGIN"); err != nil {
			return err
		}
		if _, err := s.ask("CREATE DATABASE app OWNER app"); err != nil {
			return err
		}
		_, err := s.askAs("app", "app", `CREATE TABLE commits (n bigserial PRIMARY KEY, at timestamptz DEFAULT clock_timestamp());
			CREATE TABLE data (n bigserial PRIMARY KEY, text text)`)
		if err != nil {
			return err
		}
		_, err = s.ask(reserve)
		return err
	})
}

// with runs a server while the function runs.
func (b *bench) with(folder string, do func(*server) error, settings ...string) error {
	s, err := b.serve(folder, settings...)
	if err != nil {
		return err
	}
	if err := do(s); err != nil {
		return err
	}
	return s.stop()
}

func (b *bench) copyOf(template, to string) error {
	_, err := b.do(nil, "cp", "-a", "--reflink=auto", b.path(template), to)
	return err
}

// write lets the server write log, in GiB.
func (s *server) write(gib float64, each ...string) error {
	start, err := s.ask("SELECT pg_current_wal_insert_lsn()")
	for n := 0; err == nil; n++ {
		if _, err := s.askAs("app", "app", each[n%len(each)]); err != nil {
			return err
		}
		written, err := s.ask(fmt.Sprintf("SELECT pg_current_wal_insert_lsn() - '%s' >= %f", start, gib*(1<<30)))
		if err != nil || written == "t" {
			return err
		}
	}
	return err
}

// complete ends a segment of the log, and returns its name.
func (s *server) complete() (string, error) {
	return s.ask("SELECT pg_walfile_name(pg_switch_wal())")
}

// control returns a line of the control file of a server.
func (b *bench) control(folder, line string) (string, error) {
	text, err := b.do([]string{"LC_ALL=C"}, "pg_controldata", "-D", folder)
	if err != nil {
		return "", err
	}
	_, value, _ := strings.Cut(text, line+":")
	value, _, _ = strings.Cut(value, "\n")
	return strings.TrimSpace(value), nil
}

// replay lets a server recover by a command, and stops it.
func (b *bench) replay(folder, command string) error {
	if err := os.WriteFile(filepath.Join(folder, "recovery.signal"), nil, 0o600); err != nil {
		return fmt.Errorf("ask for a recovery: %w", err)
	}
	return b.with(folder, func(s *server) error {
		return b.until("the server has recovered", func() (bool, error) {
			answer, err := s.ask("SELECT pg_is_in_recovery()")
			return answer == "f", err
		})
	}, "archive_mode=off", "restore_command="+command)
}
