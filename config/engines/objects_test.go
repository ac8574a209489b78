//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// shop is a database with a user for each privilege.
func shop() (databases, users []object) {
	return []object{owned("shop").with(object{"attributes": object{"schemas": "sales", "extensions": "hstore, plpgsql"}})},
		[]object{login("reader", "shop", "readOnly"), login("writer", "shop", "readWrite"), login("boss", "shop", "owner"), login("guest", "shop", "connect"), login("alien")}
}

func TestAUserOfPostgreSQLHasItsPrivilegesAndNoMore(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	databases, users := shop()
	results := d.apply(databases, users)
	for id, want := range map[string]string{
		"d-shop": "Created created; created schema sales; created extension hstore", "u-reader": "Created created; granted readOnly on shop", "u-writer": "Created created; granted readWrite on shop",
		"u-alien": "Created created", "u-guest": "Created created; granted connect on shop", "u-boss": "Created created; granted owner on shop; set role dbc_shop_owner_",
	} {
		if got := results[id]; got != want && !(id == "u-boss" && strings.HasPrefix(got, want)) {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	as := func(user, statements string) string { return d.as(user, "of "+user, "shop", statements) }
	const create = "CREATE TABLE sales.orders (n serial, text text); INSERT INTO sales.orders (text) VALUES ('first'); " +
		"CREATE TABLE public.others (n int); CREATE SCHEMA later; CREATE TABLE later.orders (n int)"
	for _, c := range []struct{ user, statements, want string }{
		{"reader", "CREATE TABLE public.orders (n int)", "ERROR:  permission denied for schema public"},
		{"writer", "CREATE TABLE sales.orders (n int)", "ERROR:  permission denied for schema sales"},
		{"boss", create, ""},
		{"boss", "SELECT count(DISTINCT tableowner) FROM pg_tables WHERE tablename IN ('orders', 'others') AND tableowner LIKE 'dbc_shop_owner_%'", "1"},
		{"reader", "SELECT text FROM sales.orders", "first"},
		{"reader", "SELECT count(*) FROM public.others, later.orders", "0"},
		{"reader", "SELECT last_value FROM sales.orders_n_seq", "1"},
		{"reader", "INSERT INTO sales.orders (text) VALUES ('x')", "ERROR:  permission denied for table orders"},
		{"reader", "SELECT nextval('sales.orders_n_seq')", "ERROR:  permission denied for sequence orders_n_seq"},
		{"writer", "INSERT INTO sales.orders (text) VALUES ('second'); UPDATE sales.orders SET text = 'third' WHERE n = 2; DELETE FROM sales.orders WHERE n = 1", ""},
		{"writer", "INSERT INTO later.orders VALUES (1); SELECT text FROM sales.orders", "third"},
		{"writer", "DROP TABLE sales.orders", "ERROR:  must be owner of table orders"},
		{"guest", "SELECT 1", "1"},
		{"guest", "SELECT text FROM sales.orders", "ERROR:  permission denied for schema sales"},
	} {
		if got := as(c.user, c.statements); !strings.HasPrefix(got, c.want) || got != c.want && !strings.HasPrefix(c.want, "ERROR") {
			t.Errorf("%s: %s\n%s\nwant %s", c.user, c.statements, got, c.want)
		}
	}
	if got := as("alien", "SELECT 1"); !strings.Contains(got, `permission denied for database "shop"`) {
		t.Error("a user without privileges connects:", got)
	}
	d.hasNoPassword("of reader", "of writer", "of boss", superuserPassword)
}

func TestASecondRunOnPostgreSQLWritesNothing(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	databases, users := shop()
	users[0] = users[0].with(object{"attributes": object{"connectionLimit": "5", "validUntil": "2040-01-31T12:00:00Z", "inherit": "false", "memberOf": "pg_monitor, pg_signal_backend"}})
	users[1] = users[1].with(object{"password": strings.Repeat("long ", 20) + "\"'\\:name $1\n"})
	users[2] = users[2].with(object{"password": "p\u00e4sswo\u0308rd \u00a0\u2460"})
	d.apply(databases, users)
	d.all(databases, users, "Done")
	d.ask("postgres", "VACUUM; CHECKPOINT")
	before := d.position()
	d.all(databases, users, "Done")
	if after := d.position(); after != before {
		t.Errorf("the log was at %s, and is at %s\n%s", before, after, d.do("", "sh", "-c", "pg_waldump -p data/pg_wal -s '"+strings.Split(before, "|")[0]+"' 2> /dev/null || :"))
	}
	if got := d.as("boss", users[2]["password"].(string), "shop", "SELECT 1"); got != "1" {
		t.Error(got)
	}
}

func TestWhatIsNoLongerDeclaredOnPostgreSQLIsRevokedAndWhatAPersonGrantedStays(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	databases, users := shop()
	users[0] = users[0].with(object{"attributes": object{"memberOf": "pg_monitor"}})
	d.apply(databases, users)
	d.as("boss", "of boss", "shop", "CREATE TABLE orders (n int); CREATE TABLE secrets (n int)")
	d.ask("shop", "GRANT CONNECT ON DATABASE shop TO reader, boss; GRANT SELECT ON secrets TO reader; GRANT USAGE ON SCHEMA public TO reader; CREATE ROLE human; "+
		"GRANT human TO reader; CREATE USER colleague; GRANT pg_read_all_data TO reader; REVOKE pg_read_all_data FROM reader")
	d.ask("postgres", "DO $$ BEGIN EXECUTE format('GRANT %I TO colleague', (SELECT rolname FROM pg_roles WHERE rolname LIKE 'dbc_shop_readonly%')); END $$")
	users[0], users[1], users[2] = login("reader"), login("writer", "shop", "readOnly"), login("boss")
	results := d.apply(databases, users)
	for id, want := range map[string]string{
		"u-reader": "Done revoked dbc_member_pg_monitor; revoked dbc_shop_readonly_", "u-writer": "Done revoked dbc_shop_readwrite_", "u-boss": "Done revoked dbc_shop_owner_",
	} {
		if !strings.HasPrefix(results[id], want) {
			t.Errorf("%s: %s, want %s", id, results[id], want)
		}
	}
	for user, want := range map[string]string{"reader": "ERROR:  permission denied for table orders", "writer": "0", "boss": "ERROR:  permission denied for table orders"} {
		if got := d.as(user, "of "+user, "shop", "SELECT count(*) FROM public.orders"); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", user, got, want)
		}
	}
	if got := d.as("reader", "of reader", "shop", "SELECT count(*) FROM public.secrets"); got != "0" {
		t.Error("the privilege that a person granted is revoked:", got)
	}
	const members = "SELECT string_agg(g.rolname, ',' ORDER BY g.rolname) FROM pg_auth_members m JOIN pg_roles g ON g.oid = roleid JOIN pg_roles r ON r.oid = member WHERE r.rolname = "
	d.expect("postgres", members+"'reader'", "human")
	if got := d.ask("postgres", members+"'colleague'"); !strings.HasPrefix(got, "dbc_shop_readonly_") {
		t.Error("a person's own user lost its group:", got)
	}
	d.all(databases, users, "Done")
}

func TestTwoHundredUsersOfPostgreSQLNeedLittleWork(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	databases := []object{owned("shop"), owned("stock")}
	users := make([]object, 0, 200)
	for i := range 200 {
		users = append(users, login(fmt.Sprintf("user%d", i), "shop", []string{"readOnly", "readWrite", "owner"}[i%3], "stock", "readOnly"))
	}
	for _, run := range []string{"creates them", "changes nothing"} {
		start := time.Now()
		d.apply(databases, users)
		t.Logf("a run that %s takes %v", run, time.Since(start).Round(time.Millisecond))
	}
	d.all(databases, users, "Done")
	d.expect("postgres", "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'user%' AND rolcanlogin", "200")
}
