//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// odd are names that a script could take for something else.
var odd = []string{
	`"`, `'`, `a"b'c`, "two\nlines", "ends with a line\n", `back\slash`, `\`, `'; DROP TABLE orders; --`, " leading", "trailing ", "100%", "%I%s", ":name", ":'name'", "$1", "$$", "$do$",
	"Größe", "日本語", "🐘", "SELECT", "user", "a=b", "postgresql://x", "dbname=postgres", "a,b", "-c", "a b", "`id`", "$(id)", "\t", "\\x41", "{}", "null", "A", "a",
	strings.Repeat("x", 63), strings.Repeat("é", 31),
}

func TestPostgreSQLTakesAnyNameLiterally(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	databases, users := make([]object, 0, len(odd)), make([]object, 0, len(odd))
	for i, name := range odd {
		databases = append(databases, object{"id": fmt.Sprintf("d%d", i), "name": name, "owner": name, "attributes": object{"schemas": strings.ReplaceAll(name, ",", ";")}})
		users = append(users, object{"id": fmt.Sprintf("u%d", i), "name": name, "password": "of " + name})
		if i > 0 { // the user before it owns this database, too
			users[i-1]["databases"] = []object{{"name": name, "privileges": []string{"readOnly", "owner"}}}
		}
	}
	last := len(odd) - 1
	for id, got := range d.apply(databases, users) {
		if !strings.HasPrefix(got, "Created created") {
			t.Errorf("%s: %s", id, got)
		}
	}
	d.all(databases, users, "Done")
	for i, name := range odd[:last] {
		const create = "CREATE TABLE public.orders (n int); SELECT tableowner FROM pg_tables WHERE tablename = 'orders'"
		if got, want := d.as(name, "of "+name, odd[i+1], create), strings.TrimSpace(odd[i+1]); got != want {
			t.Errorf("user %q of database %q: %s", name, want, got)
		}
	}
	for i := range odd {
		databases[i], users[i] = databases[i].with(object{"mode": "Remove"}), users[i].with(object{"mode": "Remove"})
	}
	d.all(databases[:last], users[:last], "Done removed")
	d.expect("postgres", "SELECT count(*) FROM pg_database WHERE NOT datistemplate", "2")
}

func TestPostgreSQLRefusesWhatItReservesOrDoesNotKnow(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	d.ask("postgres", "CREATE ROLE app LOGIN; CREATE ROLE admin SUPERUSER; CREATE ROLE copier REPLICATION; CREATE ROLE free")
	d.ask("postgres", "CREATE DATABASE model TEMPLATE template0 IS_TEMPLATE true")
	d.ask("postgres", "CREATE DATABASE old TEMPLATE template0")
	long := strings.Repeat("é", 32)
	attributes := func(one object, key, value string) object { return one.with(object{"attributes": object{key: value}}) }
	users := map[string]object{
		"name: " + long + " has": login(long), "name: postgres is reserved": login("postgres"), "name: app is reserved": login("app"), "name: replicator is reserved": login("replicator"),
		"name: pg_monitor is reserved": login("pg_monitor"), "name: admin has rights of a superuser": login("admin"), "name: copier has rights of a superuser": login("copier"), "name: public is": login("public"),
		"attributes.color: unknown; known are connectionLimit, inherit, memberOf, validUntil": attributes(login("a"), "color", "red"),
		"attributes.connectionLimit: many is not a number":                                    attributes(login("b"), "connectionLimit", "many"),
		"attributes.validUntil: 2030-02-30 is not a time":                                     attributes(login("c"), "validUntil", "2030-02-30"),
		"attributes.inherit: yes is neither":                                                  attributes(login("e"), "inherit", "yes"),
		"attributes.memberOf: pg_execute_server_program is not allowed":                       attributes(login("f"), "memberOf", "pg_monitor,pg_execute_server_program"),
		"attributes.memberOf: pg_read_all_data is not allowed":                                attributes(login("g"), "memberOf", "pg_read_all_data"),
		"databases.privileges: write is unknown; known are connect, readOnly, readWrite":      login("h", "old", "write"),
		"databases.name: postgres is reserved":                                                login("i", "postgres", "readOnly"),
		"databases.name: model is reserved":                                                   login("j", "model", "connect"),
		"databases.privileges: owner of old would be postgres":                                login("k", "old", "owner"),
		"passwordFile: has the form of a hash":                                                login("m").with(object{"password": "md5" + strings.Repeat("0", 32)}),
		"passwordFile: is not UTF-8":                                                          login("n").with(object{"password": "\xff\xfe"}),
	}
	databases := map[string]object{
		"name: postgres is reserved": owned("postgres"), "name: template1 is reserved": owned("template1"), "name: model is reserved": owned("model"),
		"name: " + long + " has": owned(long), "owner: admin is reserved": owned("a").with(object{"owner": "admin"}), "owner: postgres is reserved": owned("b").with(object{"owner": "postgres"}),
		"owner: copier is reserved": owned("c").with(object{"owner": "copier"}), "owner: the database of spec.bootstrap belongs to app": owned("app").with(object{"owner": "free"}),
		"attributes.color: unknown; known are connectionLimit, encoding, extensions, locale, schemas": attributes(owned("e"), "color", "red"),
		"attributes.extensions: nosuch is not installed":                                              attributes(owned("f"), "extensions", "plpgsql,nosuch"),
		"attributes.schemas: pg_x is reserved":                                                        attributes(owned("g"), "schemas", "a,pg_x"),
		"attributes.encoding: PostgreSQL has no encoding UTF-9":                                       attributes(owned("h"), "encoding", "UTF-9"),
		"attributes.locale: the database has ":                                                        attributes(owned("old").with(object{"adopt": true}), "locale", "xx_YY"),
	}
	// An ID has only some characters, so these are numbers.
	var listedDatabases, listedUsers []object
	wanted := map[string]string{}
	for reason, one := range databases {
		one = one.with(object{"id": fmt.Sprintf("d%d", len(wanted))})
		listedDatabases, wanted[one["id"].(string)] = append(listedDatabases, one), reason
	}
	for reason, one := range users {
		one = one.with(object{"id": fmt.Sprintf("u%d", len(wanted)), "adopt": true})
		listedUsers, wanted[one["id"].(string)] = append(listedUsers, one), reason
	}
	before := d.position()
	for id, got := range d.apply(listedDatabases, listedUsers) {
		if want := strings.TrimSuffix(wanted[id], long+" has"); !strings.HasPrefix(got, "Refused "+want) {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if after := d.position(); strings.Split(after, "|")[1] != strings.Split(before, "|")[1] {
		t.Errorf("something was written: %s, %s", before, after)
	}
}

func TestOneObjectThatFailsOnPostgreSQLStopsNoOther(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-single-v1")
	databases := []object{
		owned("shop"), owned("wrong").with(object{"attributes": object{"locale": "no such locale"}}), owned("orphan").with(object{"owner": "absent"}),
	}
	users := []object{login("reader", "shop", "readOnly"), login("lost", "nowhere", "readOnly"), login("late", "wrong", "readOnly"), login("unread").with(object{"password": nil})}
	users[3]["passwordFile"] = filepath.Join(d.folder, "absent")
	results := d.apply(databases, users)
	for id, want := range map[string]string{
		"d-shop": "Created created", "u-reader": "Created created; granted readOnly on shop", "d-wrong": "Refused attributes.locale: invalid",
		"d-orphan": "Failed owner: absent does not exist; declare", "u-lost": "Failed databases.name: nowhere does not exist; declare", "u-late": "Failed databases.name: wrong does not exist",
		"u-unread": "Failed passwordFile: is empty or cannot be read",
	} {
		if !strings.HasPrefix(results[id], want) {
			t.Errorf("%s: %s, want %s", id, results[id], want)
		}
	}
}
