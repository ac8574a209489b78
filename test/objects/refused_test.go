//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package objects

import (
	"fmt"
	"strings"
	"testing"
)

func TestWhatAnEngineDoesNotKnowIsRefusedWithASentence(t *testing.T) {
	everyEngine(t, func(t *testing.T, d database) {
		reserved := map[bool][]string{true: {"default", "dbc-unsaved"}, false: {"root"}}
		_, isRedis := d.(*redis)
		var users []object
		want := map[string]string{}
		add := func(sentence string, change func(o *object)) {
			o := user(fmt.Sprintf("a-%d", len(users)), fmt.Sprintf("user-%d", len(users)), d.area("app:", "readOnly")).adopting()
			change(&o)
			users, want[o.id] = append(users, o), sentence
		}
		for _, name := range reserved[isRedis] {
			add("name: "+name+" is reserved", func(o *object) { o.name = name })
		}
		add("attributes.color: unknown", func(o *object) { o.attributes = map[string]string{"color": "blue"} })
		add(`'admin"\' is unknown`, func(o *object) { o.grants[0].privileges = "readOnly\nadmin\"\\" })
		add("is empty. For all keys, set *", func(o *object) { o.grants[0].on = "" })
		add("password", func(o *object) { o.password = "" })
		unchanged(t, d, func() {
			got := run(t, d, folder(t, users, "app", "two\nlines"))
			for id, sentence := range want {
				message := strings.ReplaceAll(got[id].Message, `"admin"\"`, `'admin"\'`)
				if got[id].Result != "Refused" || !strings.Contains(message, sentence) {
					t.Errorf("%s: %v, want %s", id, got[id], sentence)
				}
			}
			for _, id := range []string{"database-0", "database-1"} {
				if got[id].Result != "Refused" || !strings.Contains(got[id].Message, "no databases") {
					t.Errorf("%s: %v", id, got[id])
				}
			}
			for n := range users {
				users[n].mode = "Remove"
			}
			apply(t, d, "Done", users...)
		})
	})
}

// odd are names that a shell, a client or a server could take for something else.
var odd = []string{
	`a"b`, `it's`, `-x`, `--help`, `--user`, `$(touch /tmp/dbc-odd)`, "`touch /tmp/dbc-odd`", `${IFS}`, `a;b`, `a|b&c`, `*`, `?`, `[a-z]*`, `~`, `~*`, `>x`, `#x`, `&*`, `(x`, `x)`, `(x)`,
	`+@all`, `-@all`, `on`, `off`, `nopass`, `reset`, `allkeys`, `a\nb`, `a\`, `\\`, `a/b`, `../x`, `%s%n`, `!`, `!!`, `=`, `a=b`, `]`, `a]b[`, `{}`, `x,y`, `1`, `1.0`, `1e0`, `true`, `null`, `DROP TABLE`,
	"grüße", "用户", "👩‍👩‍👧", "a b", " a", "a ", "a\nb", "\n", "a\n", "a\tb", "a\rb", "a:b", "\u2028", "\u00a0", strings.Repeat("é", 253), strings.Repeat("\\\"", 126), "user", "root ", "Default", "a\x01b",
}

// The engine accepts a name or refuses it with a sentence. A user that it accepts has its password and its privileges.
func TestNamesPasswordsAndPrivilegesAreData(t *testing.T) {
	everyEngine(t, func(t *testing.T, d database) {
		var users []object
		for n, name := range odd {
			o := user(fmt.Sprintf("a-%d", n), name, d.area(name, "readWrite"))
			o.password = fmt.Sprintf("%d$(x)'\"\\*-é", n)
			users = append(users, o)
		}
		got := run(t, d, folder(t, users))
		accepted := 0
		for _, o := range users {
			l := got[o.id]
			if l.Result == "Refused" && strings.Contains(l.Message, "name: ") {
				t.Logf("%q: %s", o.name, l.Message)
				continue
			}
			if accepted++; l.Result != "Created" || l.Message != "created" {
				t.Errorf("%q: %v", o.name, l)
			}
			may(t, d, o, true, "write", o.name+"1")
			if o.name != "*" {
				may(t, d, o, false, "write", "other")
			}
		}
		if len(got) != len(users) || accepted < len(users)-12 {
			t.Errorf("%d answers, and %d of %d names are accepted", len(got), accepted, len(users))
		}
		unchanged(t, d, func() {
			for id, l := range run(t, d, folder(t, users)) {
				was := strings.Replace(got[id].Result, "Created", "Done", 1)
				if l.Result != was || l.Result == "Done" && l.Message != "" {
					t.Errorf("%s: %v, and then %v", id, got[id], l)
				}
			}
		})
		for n := range users {
			users[n].mode = "Remove"
		}
		apply(t, d, "Done", users...)
	})
}
