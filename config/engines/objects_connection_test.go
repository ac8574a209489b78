//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/pki"
)

func TestOnlyThePrimaryOfPostgreSQLIsWrittenTo(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-v1")
	d.do("", "pg_basebackup", "-R", "-D", "replica", "-c", "fast", "--no-sync", "-d", "host=127.0.0.1 port="+d.port+" user=postgres password='"+superuserPassword+"'")
	d.start("replica", "127.0.0.2")
	databases, users := shop()
	d.members = "127.0.0.2"
	if code := exitCode(d.action(d.document(databases, users))); code != 11 {
		t.Errorf("without a primary, the exit code is %d", code)
	}
	d.members = "127.0.0.2 127.0.0.1"
	if results := d.apply(databases, users); !strings.HasPrefix(results["d-shop"], "Created created") {
		t.Error(results)
	}
	position := d.ask("postgres", "SELECT pg_current_wal_flush_lsn()")
	replica := "host=127.0.0.2 port=" + d.port + " user=postgres dbname=postgres password='" + superuserPassword + "'"
	for strings.TrimSpace(d.do("", "psql", "-XqtAc", "SELECT pg_last_wal_replay_lsn() >= '"+position+"'", replica)) != "t" {
		time.Sleep(50 * time.Millisecond)
	}
	d.do("", "pg_ctl", "-D", "replica", "-w", "promote")
	d.do("", "pg_ctl", "-D", "data", "-m", "immediate", "stop")
	d.all(databases, users, "Done")
}

func exitCode(command *exec.Cmd) int {
	_ = command.Run()
	return command.ProcessState.ExitCode()
}

func TestTheObjectsOfPostgreSQLAreChangedOverTLS(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-v1")
	trusted, other := certificates(t), certificates(t)
	d.serve(map[string][]byte{"tls.crt": trusted["tls.crt"], "tls.key": trusted["tls.key"]})
	databases, users := shop()
	for folder, c := range map[string]struct {
		files pki.Files
		host  string
		want  int
	}{"trusted": {trusted, "localhost", 0}, "another name": {trusted, "127.0.0.1", 11}, "another CA": {other, "localhost", 11}} {
		folder = filepath.Join(d.folder, folder)
		write(t, folder, map[string]string{"ca.crt": string(c.files[pki.AuthorityKey])})
		d.members = c.host
		action := d.action(d.document(databases, users))
		action.Env = append(action.Env, "DBC_TLS_MODE=Require", "DBC_TLS_DIR="+folder)
		if code := exitCode(action); code != c.want {
			t.Errorf("%s: the exit code is %d, want %d", folder, code, c.want)
		}
	}
}

// certificates are those of a new CA for localhost.
func certificates(t *testing.T) pki.Files {
	t.Helper()
	authority, err := pki.NewAuthority("orders", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	files, err := authority.Issue([]string{"localhost"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTheObjectsOfPostgreSQLAreChangedDuringARotation(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	databases, users := shop()
	for _, c := range []struct {
		files map[string]string
		want  int
	}{
		{map[string]string{"password": "next"}, 11},
		{map[string]string{"password": "next", "password.previous": superuserPassword}, 0},
		{map[string]string{"password": superuserPassword, "password.previous": "next"}, 0},
	} {
		folder := filepath.Join(t.TempDir(), "secrets")
		write(t, folder, c.files)
		action := d.action(d.document(databases, users))
		action.Env = append(action.Env, "DBC_SECRETS_DIR="+folder)
		if code := exitCode(action); code != c.want {
			t.Errorf("with %v, the exit code is %d, want %d", c.files, code, c.want)
		}
	}
	d.ask("postgres", "ALTER ROLE postgres PASSWORD 'next'")
	if err := os.WriteFile(filepath.Join(d.folder, "secrets", "password"), []byte("next"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.all(databases, users, "Done") // although the hashes in the marks need another password now
}

// The owner of a database may set defaults for all sessions in it, also for those of the action.
func TestTheDefaultsOfADatabaseOfPostgreSQLDoNotDisturbTheAction(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	databases, users := shop()
	databases[0] = databases[0].with(object{"owner": "boss"})
	users[2] = login("boss")
	d.apply(databases, users)
	d.as("boss", "of boss", "shop", `CREATE SCHEMA trap; CREATE TABLE trap.pg_class (n int); CREATE TABLE public."a'b\c" (n int);`+
		"ALTER DATABASE shop SET role = boss; ALTER DATABASE shop SET search_path = trap, pg_catalog; "+
		"ALTER DATABASE shop SET standard_conforming_strings = off; ALTER DATABASE shop SET default_transaction_read_only = on")
	d.ask("postgres", "ALTER DATABASE shop SET log_statement = 'all'")
	if got := d.as("boss", "of boss", "shop", "SHOW standard_conforming_strings; SHOW search_path; SHOW role"); got != "off\ntrap, pg_catalog\nboss" {
		t.Fatal(got)
	}
	if got := d.ask("postgres", "ALTER DATABASE shop OWNER TO boss"); got != "" {
		t.Fatal(got)
	}
	databases[0] = databases[0].with(object{"attributes": object{"schemas": "sales,more", "extensions": "hstore,pg_trgm"}})
	users = append(users, login("late", "shop", "readWrite"))
	results := d.apply(databases, users)
	if got, want := results["d-shop"], "Done created schema more; created extension pg_trgm"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	said := d.as("late", "of late", "shop", `SET default_transaction_read_only = off; INSERT INTO public."a'b\c" VALUES (1)`)
	if got := d.ask("shop", `SELECT n FROM public."a'b\c"`); got != "1" {
		t.Errorf("a writer cannot write: %s %s", got, said)
	}
	d.all(databases, users, "Done")
}
