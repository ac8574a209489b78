//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/testing/sample"
)

// removed are the objects in the mode Remove.
func removed(objects ...object) []object {
	all := make([]object, 0, len(objects))
	for _, one := range objects {
		all = append(all, one.with(object{"mode": "Remove"}))
	}
	return all
}

func TestTheTablesOfARemovedUserOfPostgreSQLBelongToTheOwnerOfTheDatabase(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	d.ask("postgres", "CREATE DATABASE old TEMPLATE template0")
	databases := []object{owned("shop"), owned("stock").with(object{"owner": "boss"})}
	boss, seller := login("boss"), login("seller", "shop", "owner")
	d.apply(databases, []object{boss, seller})
	d.ask("old", "GRANT CREATE ON SCHEMA public TO seller; GRANT CREATE ON DATABASE shop TO seller; CREATE VIEW public.secret AS SELECT 1")
	d.ask("shop", "GRANT CREATE ON SCHEMA public TO seller")
	const create = "CREATE TABLE public.mine AS SELECT 1 AS n"
	for name, statements := range map[string]string{"shop": "RESET ROLE; SET ROLE seller; " + create, "old": create} {
		if said := d.as("seller", "of seller", name, statements); said != "" {
			t.Fatal(name, said)
		}
	}
	d.as("boss", "of boss", "stock", create)
	session := exec.CommandContext(t.Context(), filepath.Join(d.programs, "psql"), "-Xqc", "SELECT pg_sleep(60)",
		"host=127.0.0.1 port="+d.port+" user=seller dbname=shop password='of seller'")
	if err := session.Start(); err != nil {
		t.Fatal(err)
	}
	for d.ask("postgres", "SELECT count(*) FROM pg_stat_activity WHERE usename = 'seller'") != "1" {
		time.Sleep(50 * time.Millisecond)
	}
	databases[1] = owned("stock")
	users := removed(boss, seller)
	results := d.apply(databases, users)
	if results["u-boss"] != "Done removed" || results["u-seller"] != "Done removed" {
		t.Error(results)
	}
	if err := session.Wait(); err == nil {
		t.Error("the session of a removed user goes on")
	}
	for name, want := range map[string]string{"shop": "dbc_shop_owner_", "stock": "dbc_stock_owner_", "old": "dbc_old_owner_"} {
		if got := d.ask(name, "SELECT n || ' ' || (SELECT tableowner FROM pg_tables WHERE tablename = 'mine') FROM public.mine"); !strings.HasPrefix(got, "1 "+want) {
			t.Errorf("the table in %s: %s", name, got)
		}
	}
	d.all(databases, users, "Done")
}

func TestADatabaseOfPostgreSQLIsRemovedWhileItIsUsedButNotThatOfTheCluster(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	d.ask("postgres", "CREATE ROLE app LOGIN PASSWORD 'app'")
	d.ask("postgres", "CREATE DATABASE app OWNER app")
	databases := []object{owned("shop"), owned("app").with(object{"adopt": true})}
	reader := login("reader", "shop", "connect", "app", "readOnly")
	d.apply(databases, []object{reader})
	session := exec.CommandContext(t.Context(), filepath.Join(d.programs, "psql"), "-Xqc", "SELECT pg_sleep(60)",
		"host=127.0.0.1 port="+d.port+" user=reader dbname=shop password='of reader'")
	if err := session.Start(); err != nil {
		t.Fatal(err)
	}
	d.as("app", "app", "app", "CREATE TABLE public.orders (n int)")
	if got := d.as("reader", "of reader", "app", "SELECT count(*) FROM public.orders"); got != "0" {
		t.Error("a table that the owner of the cluster's database creates later:", got)
	}
	users := []object{login("reader", "app", "readOnly")}
	results := d.apply(removed(databases...), users)
	if results["d-shop"] != "Done removed" || results["d-app"] != "Done released: it is the database of spec.bootstrap" {
		t.Error(results)
	}
	_ = session.Wait()
	d.expect("postgres", "SELECT string_agg(datname, ',') FROM pg_database WHERE datname IN ('app', 'shop')", "app")
	d.expect("postgres", "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'dbc_shop%'", "0")
}

// A kill leaves statements that the server still executes, so the run after it may begin beside them.
func TestARunOnPostgreSQLCompletesWhatAKilledOneBegan(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	databases := []object{owned("shop").with(object{"attributes": object{"schemas": "sales"}}), owned("stock").with(object{"owner": "boss"})}
	users := []object{
		login("reader", "shop", "readOnly", "stock", "readOnly"), login("writer", "shop", "readWrite"), login("boss", "shop", "owner"),
	}
	start := time.Now()
	d.apply(databases, users)
	whole := time.Since(start)
	killed, rounds := 0, 8
	if sample.Whole() {
		rounds = 40
	}
	for round := range rounds {
		databases, users := databases, users
		if round%2 == 0 {
			databases, users = removed(databases...), removed(users...)
		}
		if kill(t, d.action(d.document(databases, users)), rand.N(whole)) {
			killed++
		}
		for id, got := range d.apply(databases, users) {
			if !strings.HasPrefix(got, "Done") && !strings.HasPrefix(got, "Created") {
				t.Fatalf("round %d: %s: %s", round, id, got)
			}
		}
		d.all(databases, users, "Done")
		if got := d.ask("postgres", "SELECT count(*) FROM pg_database WHERE datname LIKE 'dbc%'"); got != "0" {
			t.Fatalf("round %d: a new database is left", round)
		}
	}
	t.Logf("%d of %d runs were killed within %v", killed, rounds, whole.Round(time.Millisecond))
	if killed < rounds/2 {
		t.Error("too few runs were killed")
	}
}

// kill starts a command, and kills all its processes after some time. It reports whether they still ran.
func kill(t *testing.T, command *exec.Cmd, after time.Duration) bool {
	t.Helper()
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	_ = command.Wait()
	return command.ProcessState.ExitCode() != 0
}
