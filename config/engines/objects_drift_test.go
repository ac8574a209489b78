//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"strings"
	"testing"
)

// edits are changes of a person, and what the action reports in the mode Check, and in the mode Apply.
var edits = []struct{ name, id, statements, drift, change string }{
	{"the right of a superuser", "u-reader", "ALTER ROLE reader SUPERUSER BYPASSRLS", "has SUPERUSER; has BYPASSRLS", "removed SUPERUSER; removed BYPASSRLS"},
	{"other rights", "u-reader", "ALTER ROLE reader REPLICATION CREATEROLE NOLOGIN", "has NOLOGIN; has REPLICATION; has CREATEROLE", "allowed logins; removed REPLICATION; removed CREATEROLE"},
	{"a password", "u-reader", "ALTER ROLE reader PASSWORD 'another'", "the password differs", "set the password"},
	{"no password", "u-reader", "ALTER ROLE reader PASSWORD NULL", "the password differs", "set the password"},
	{"attributes", "u-reader", "ALTER ROLE reader CONNECTION LIMIT 7 NOINHERIT", "connectionLimit is 7; inherit is f", "set connectionLimit 5; set inherit t"},
	{"a membership", "u-reader", "REVOKE readers FROM reader", "lacks readOnly on shop", "granted readOnly on shop"},
	{"a group role", "u-reader", "REVOKE CONNECT ON DATABASE shop FROM readers", "readers lacks CONNECT", "granted CONNECT on shop"},
	{"a table", "u-reader", "REVOKE SELECT ON orders FROM readers", "readers lacks SELECT in schema public (objects: 1)", "granted readOnly in schema public (objects: 1)"},
	{"a limit of a database", "d-shop", "ALTER DATABASE shop CONNECTION LIMIT 3", "connectionLimit is 3", "set connectionLimit 9"},
	{"a schema", "d-shop", "DROP SCHEMA sales", "lacks schema sales", "created schema sales"},
	{"an owner", "d-shop", "ALTER DATABASE shop OWNER TO postgres", "owner is postgres", "set owner boss"},
	{"a role of sessions", "u-chief", "ALTER ROLE chief IN DATABASE shop RESET role", "objects on shop would not belong to boss", "set role boss on shop"},
}

func TestAnEditByHandOnPostgreSQLIsReportedOrRepaired(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	databases := []object{owned("shop").with(object{"owner": "boss", "attributes": object{"connectionLimit": "9", "schemas": "sales"}})}
	users := []object{
		login("reader", "shop", "readOnly").with(object{"attributes": object{"connectionLimit": "5", "inherit": "true"}}), login("boss"), login("chief", "shop", "owner"),
	}
	d.apply(databases, users)
	d.as("chief", "of chief", "shop", "CREATE TABLE public.orders (n int)")
	readers := d.ask("postgres", "SELECT rolname FROM pg_roles WHERE rolname LIKE 'dbc_shop_readonly%'")
	checked := func(all []object) (checked []object) {
		for _, one := range all {
			checked = append(checked, one.with(object{"mode": "Check"}))
		}
		return checked
	}
	for _, edit := range edits {
		named := strings.NewReplacer("readers", readers).Replace
		if said := d.ask("shop", named(edit.statements)); said != "" {
			t.Fatal(said)
		}
		results := d.apply(checked(databases), checked(users))
		if got, want := results[edit.id], "Drifted "+named(edit.drift); got != want {
			t.Errorf("%s, checked: %s, want %s", edit.name, got, want)
		}
		delete(results, edit.id)
		for id, got := range results {
			if got != "Done" {
				t.Errorf("%s, checked: %s: %s", edit.name, id, got)
			}
		}
		if got, want := d.apply(databases, users)[edit.id], "Done "+named(edit.change); got != want {
			t.Errorf("%s, applied: %s, want %s", edit.name, got, want)
		}
	}
	d.all(checked(databases), checked(users), "Done")
}

func TestTheModeCheckCreatesNothingOnPostgreSQL(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	check := object{"mode": "Check"}
	databases, users := []object{owned("shop")}, []object{login("reader", "shop", "readOnly"), login("boss")}
	checked := []object{users[0].with(check), users[1].with(check)}
	d.all([]object{databases[0].with(check)}, checked, "Drifted it does not exist")
	d.expect("postgres", "SELECT count(*) FROM pg_roles WHERE rolname IN ('reader', 'boss')", "0")
	d.apply(databases, users)
	d.ask("postgres", "DROP DATABASE shop")
	results := d.apply([]object{databases[0].with(check)}, checked)
	if results["d-shop"] != "Drifted it does not exist" || results["u-boss"] != "Done" || results["u-reader"] != "Failed databases.name: shop does not exist" {
		t.Error(results)
	}
	d.expect("postgres", "SELECT count(*) FROM pg_database WHERE datname = 'shop'", "0")
	results = d.apply(databases, checked)
	if results["d-shop"] != "Created created" || !strings.HasPrefix(results["u-reader"], "Drifted ") || !strings.Contains(results["u-reader"], "lacks readOnly on shop") {
		t.Error(results)
	}
}

func TestAnObjectOfAPersonOnPostgreSQLIsTakenOverOnlyIfAsked(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	d.ask("postgres", "CREATE ROLE reader LOGIN PASSWORD 'mine' CREATEROLE CREATEDB")
	d.ask("postgres", "CREATE DATABASE shop")
	databases, users := []object{owned("shop")}, []object{login("reader", "shop", "readOnly")}
	adopted := object{"adopt": true}
	if got := d.apply([]object{}, []object{users[0].with(adopted)})["u-reader"]; !strings.HasPrefix(got, "Refused name: reader has rights of a superuser") {
		t.Error("a user who may create others is taken over:", got)
	}
	d.ask("postgres", "ALTER ROLE reader NOCREATEROLE")
	for id, got := range d.apply(databases, users) {
		if !strings.HasPrefix(got, "Exists name: a ") {
			t.Errorf("%s: %s", id, got)
		}
	}
	removed := func(one object) []object { return []object{one.with(object{"mode": "Remove"})} }
	d.all(removed(databases[0]), removed(users[0]), "Done kept: this object did not create it")
	if got := d.as("reader", "mine", "shop", "SELECT 1"); got != "1" {
		t.Error("the user was changed:", got)
	}
	results := d.apply([]object{databases[0].with(adopted)}, []object{users[0].with(adopted)})
	if results["d-shop"] != "Done adopted" || results["u-reader"] != "Done adopted; set the password; granted readOnly on shop" {
		t.Error(results)
	}
	d.expect("postgres", "SELECT rolcreatedb FROM pg_roles WHERE rolname = 'reader'", "t")
	d.all(databases, users, "Done")
	other := users[0].with(object{"id": "other"})
	if got := d.apply(databases, []object{users[0], other.with(adopted)}); got["u-reader"] != "Done" || !strings.HasPrefix(got["other"], "Exists ") {
		t.Error(got)
	}
	d.all(removed(databases[0]), removed(users[0]), "Done removed")
	d.expect("postgres", "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'dbc%' OR rolname = 'reader'", "0")
}

func TestTheCommentOfADatabaseBelongsToItsOwner(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	databases, users := []object{owned("shop")}, []object{login("boss", "shop", "owner")}
	d.apply(databases, users)
	if got := d.as("boss", "of boss", "shop", "COMMENT ON DATABASE shop IS 'ours'"); got != "" {
		t.Fatal(got)
	}
	d.all(databases, users, "Done")
	d.expect("postgres", "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = 'shop'", "ours")
}
