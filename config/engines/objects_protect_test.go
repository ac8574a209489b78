//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// protected are the engines with the action, and the scripts that the action reads.
var protected = map[string][]string{
	"postgresql-v1":        {"protect", "protection.py", "common.py"},
	"postgresql-single-v1": {"protect", "lift.sql", "common"},
}

// protects is the action of an engine for a server.
func protects(d *database, engine, mode string) (said string, code int) {
	d.t.Helper()
	cmd := d.commandOf(engine, "protect", protected[engine])
	cmd.Env = append(cmd.Env, "DBC_PROTECT="+mode)
	output, _ := cmd.CombinedOutput() // the exit code has the error
	return string(output), cmd.ProcessState.ExitCode()
}

// commandOf is the command of an action of an engine for a server of the cluster my-db, with the scripts that it reads.
func (d *database) commandOf(engine, name string, scripts []string) *exec.Cmd {
	d.t.Helper()
	folder := filepath.Join(d.folder, name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		d.t.Fatal(err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(filepath.Join(engine, "scripts", script))
		if err != nil {
			d.t.Fatal(err)
		}
		text = []byte(strings.ReplaceAll(string(text), "/dbc/scripts", folder))
		if err := os.WriteFile(filepath.Join(folder, script), text, 0o700); err != nil { //nolint:gosec // programs
			d.t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(d.t.Context(), filepath.Join(folder, name))
	cmd.Env = append(os.Environ(), "PATH="+d.programs+":"+os.Getenv("PATH"), "DBC_MEMBER=127.0.0.1", "DBC_MEMBERS=127.0.0.1", "DBC_CLUSTER=my-db",
		"DBC_PORT="+d.port, "PGPORT="+d.port, "DBC_SECRETS_DIR="+d.folder+"/secrets", "DBC_DATA_DIR="+d.folder)
	return cmd
}

func TestAProtectedPostgreSQLServesReadersAndNoWriters(t *testing.T) {
	for _, engine := range slices.Sorted(maps.Keys(protected)) {
		t.Run(engine, func(t *testing.T) {
			d := newDatabase(t, engine)
			d.ask("postgres", "CREATE ROLE app LOGIN PASSWORD 'app'; CREATE DATABASE shop OWNER app")
			client := func(statements string) string { return d.as("app", "app", "shop", statements) }
			client("CREATE TABLE orders (id int); INSERT INTO orders VALUES (1)")
			writer := make(chan string, 1)
			go func() { writer <- client("BEGIN; INSERT INTO orders VALUES (2); SELECT pg_sleep(600); COMMIT") }()
			for d.ask("postgres", "SELECT count(*) FROM pg_stat_activity WHERE usename = 'app' AND backend_xid IS NOT NULL") != "1" {
				if t.Context().Err() != nil {
					t.Fatal("the writer does not begin")
				}
			}
			for range 2 { // it must succeed if it runs again
				if said, code := protects(d, engine, "on"); code != 0 {
					t.Fatalf("on: %d, %s", code, said)
				}
			}
			if said := <-writer; !strings.Contains(said, "terminating connection") {
				t.Errorf("the transaction that wrote says %q", said)
			}
			if said := client("INSERT INTO orders VALUES (3)"); !strings.Contains(said, "read-only transaction") {
				t.Errorf("a writer gets %q", said)
			}
			if said := client("SELECT count(*) FROM orders"); said != "1" {
				t.Errorf("a reader gets %q", said)
			}
			d.expect("postgres", "CREATE TABLE housekeeping (id int); SELECT 'written'", "written")
			for range 2 {
				if said, code := protects(d, engine, "off"); code != 0 {
					t.Fatalf("off: %d, %s", code, said)
				}
			}
			if said := client("INSERT INTO orders VALUES (4); SELECT count(*) FROM orders"); said != "2" {
				t.Errorf("after that, a writer gets %q", said)
			}
			d.expect("postgres", "SELECT count(*) FROM pg_db_role_setting", "0")
			if _, code := protects(d, engine, "half"); code != 2 {
				t.Errorf("another mode exits with %d", code)
			}
		})
	}
}

func TestAProtectionThatDoesNotExistIsLiftedWithoutTheEndOfASession(t *testing.T) {
	for _, engine := range slices.Sorted(maps.Keys(protected)) {
		t.Run(engine, func(t *testing.T) {
			d := newDatabase(t, engine)
			d.ask("postgres", "CREATE ROLE app LOGIN PASSWORD 'app'; CREATE DATABASE shop OWNER app")
			client := make(chan string, 1)
			go func() { client <- d.as("app", "app", "shop", "SELECT pg_sleep(3); SELECT 'continues'") }()
			for d.ask("postgres", "SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'") != "1" {
				if t.Context().Err() != nil {
					t.Fatal("the client does not begin")
				}
			}
			if said, code := protects(d, engine, "off"); code != 0 {
				t.Fatalf("off: %d, %s", code, said)
			}
			if said := <-client; !strings.Contains(said, "continues") {
				t.Errorf("the client says %q", said)
			}
		})
	}
}

// The program that receives the log is a replica that stores nothing while it is stopped.
func TestAProtectionAndItsEndWaitForTheReplicas(t *testing.T) {
	const engine = "postgresql-v1"
	d := newDatabase(t, engine)
	d.ask("postgres", "SELECT pg_create_physical_replication_slot('one')")
	receiver := exec.CommandContext(t.Context(), filepath.Join(d.programs, "pg_receivewal"), "-D", t.TempDir(), "--slot=one", "--synchronous", "--no-loop",
		"-d", "host=127.0.0.1 user=postgres application_name=127 port="+d.port+" password='"+superuserPassword+"'")
	if err := receiver.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = receiver.Process.Kill(); _ = receiver.Wait() })
	for d.ask("postgres", "SELECT state FROM pg_stat_replication WHERE flush_lsn >= pg_current_wal_flush_lsn()") != "streaming" {
		if t.Context().Err() != nil {
			t.Fatal("the replica does not begin")
		}
		d.ask("postgres", "CREATE TABLE t (n int); DROP TABLE t")
	}
	for _, mode := range []string{"on", "off"} {
		_ = receiver.Process.Signal(syscall.SIGSTOP)
		if said, code := protects(d, engine, mode); code != 11 || !strings.Contains(said, "127 have not stored the change within 20 seconds") {
			t.Errorf("%s: %d, %s", mode, code, said)
		}
		_ = receiver.Process.Signal(syscall.SIGCONT)
		if said, code := protects(d, engine, mode); code != 0 {
			t.Errorf("%s again: %d, %s", mode, code, said)
		}
	}
	d.expect("postgres", "SELECT count(*) FROM pg_db_role_setting", "0")
}
