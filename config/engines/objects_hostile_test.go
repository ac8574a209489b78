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
)

func TestADatabaseOfPostgreSQLThatRefusesTheActionStopsNoOther(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	databases := []object{owned("shop"), owned("stock")}
	users := []object{login("boss", "shop", "owner"), login("clerk", "stock", "readOnly")}
	d.apply(databases, users)
	if got := d.as("boss", "of boss", "shop", "ALTER DATABASE shop SET local_preload_libraries = 'absent'; ALTER DATABASE shop SET idle_session_timeout = 1"); got != "" {
		t.Fatal(got)
	}
	d.all(databases, users, "Done")
	if got := d.ask("postgres", "ALTER DATABASE shop SET session_preload_libraries = 'absent'"); got != "" {
		t.Fatal(got)
	}
	users = append(users, login("late", "stock", "readWrite"))
	results := d.apply(databases, users)
	for id, want := range map[string]string{"d-stock": "Done", "u-clerk": "Done", "u-late": "Created created", "d-shop": "Failed the database shop refuses a change: ", "u-boss": "Failed the database shop"} {
		if !strings.HasPrefix(results[id], want) {
			t.Errorf("%s: %s, want %s", id, results[id], want)
		}
	}
	d.ask("postgres", "ALTER DATABASE shop RESET session_preload_libraries")
	d.all(databases, users, "Done")
}

func TestSessionsOfUsersDoNotStopTheActionOfPostgreSQL(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	users := []object{login("alien")}
	d.apply(nil, users)
	for range 3 {
		cmd := exec.CommandContext(t.Context(), filepath.Join(d.programs, "psql"), "-XqtA", "-c", "SELECT pg_advisory_lock(4995142087184830980)", "-c", "SELECT pg_sleep(60)") //nolint:gosec // these programs
		cmd.Env = append(os.Environ(), "PGHOST=127.0.0.1", "PGPORT="+d.port, "PGUSER=alien", "PGPASSWORD=of alien", "PGDATABASE=postgres")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Wait() })
	}
	for deadline := time.Now().Add(20 * time.Second); d.ask("postgres", "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") != "3"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the sessions do not wait for the lock")
		}
	}
	d.all(nil, users, "Done")
}

func TestNoUserOfPostgreSQLBecomesASuperuserThroughAnOwner(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	databases := []object{owned("shop").with(object{"owner": "alice"}), owned("stock")}
	users := []object{login("alice"), login("bob", "shop", "owner"), login("carol", "stock", "readOnly"), login("dora", "app", "owner")}
	d.ask("postgres", "CREATE ROLE app LOGIN")
	d.ask("postgres", "CREATE DATABASE app OWNER app")
	results := d.apply(databases, users)
	if got := results["u-dora"]; !strings.HasPrefix(got, "Refused databases.privileges: owner of the database would be app, the account of spec.bootstrap") {
		t.Error(got)
	}
	d.expect("postgres", "SELECT pg_has_role('bob', 'alice', 'MEMBER')", "t")
	readers := d.ask("postgres", "SELECT rolname FROM pg_roles WHERE rolname LIKE 'dbc_stock_readonly%'")
	if got := d.ask("postgres", "GRANT postgres TO alice, "+readers); got != "" {
		t.Fatal(got)
	}
	results = d.apply(databases, users)
	for id, want := range map[string]string{
		"u-bob": "Refused databases.privileges: owner of the database would be alice", "u-carol": "Refused the role " + readers,
		"u-alice": "Failed has rights of a superuser as a member of postgres; revoke that",
	} {
		if !strings.HasPrefix(results[id], want) {
			t.Errorf("%s: %s, want %s", id, results[id], want)
		}
	}
	d.expect("postgres", "SELECT pg_has_role('bob', 'postgres', 'MEMBER') OR pg_has_role('carol', 'postgres', 'MEMBER')", "f")
	databases = append(databases, owned("app").with(object{"owner": "bob"})) // refused, so it is no way around the rule
	if got := d.apply(databases, users)["u-dora"]; !strings.HasPrefix(got, "Refused databases.privileges: owner of the database would be app") {
		t.Error(got)
	}
	d.expect("postgres", "SELECT pg_has_role('dora', 'app', 'MEMBER')", "f")
	if got := d.apply([]object{owned("x").with(object{"owner": readers})}, nil)["d-x"]; !strings.HasPrefix(got, "Refused owner: "+readers+" is reserved") {
		t.Error(got)
	}
}
