//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package objects

import (
	"strings"
	"testing"
)

func TestAUserHasItsPrivilegesAndNoOthers(t *testing.T) {
	everyEngine(t, func(t *testing.T, d database) {
		reader, writer := user("a-1", "reader", d.area("app:", "readOnly")), user("a-2", "writer", d.area("app:", "readWrite"), d.area("log:", "readOnly"))
		owner := user("a-3", "owner", d.area("app:", "owner"), d.area("app:", "readOnly"))
		everything, nothing := user("a-4", "everything", grant{"*", "readWrite"}), user("a-5", "nothing")
		for id, got := range apply(t, d, "Created", reader, writer, owner, everything, nothing) {
			if got.Message != "created" {
				t.Errorf("%s: %v", id, got)
			}
		}
		for _, c := range []struct {
			object
			want      bool
			what, key string
		}{
			{reader, true, "login", ""}, {reader, true, "read", "app:1"}, {reader, false, "write", "app:1"}, {reader, false, "read", "other:1"}, {reader, false, "read", "app"},
			{writer, true, "write", "app:1"}, {writer, true, "read", "log:1"}, {writer, false, "write", "log:1"}, {writer, false, "write", "other:1"},
			{owner, true, "read", "app:1"}, {owner, true, "write", "app:1"}, {owner, false, "write", "other:1"},
			{everything, true, "write", "app:1"}, {everything, true, "write", "\xff"}, {everything, true, "read", "other:1"},
			{nothing, true, "login", ""}, {nothing, false, "read", "app:1"}, {nothing, false, "read", "database.dbcluster.io/id=a-5"},
			{reader.with("wrong"), false, "login", ""}, {reader.with("secret-of-a-2"), false, "login", ""},
		} {
			may(t, d, c.object, c.want, c.what, c.key)
		}
	})
}

func TestASecondPassChangesNothing(t *testing.T) {
	everyEngine(t, func(t *testing.T, d database) {
		users := []object{
			user("a-1", "reader", d.area("app:", "readOnly"), grant{"*", "readOnly"}), user("a-2", "writer", d.area("app:", "readOnly\nreadWrite"), d.area("log:", "readOnly")),
			user("a-3", "owner", grant{"*", "owner"}, d.area("app:", "readOnly")), user("a-4", "none"), user("a-5", "x").in("Remove"),
		}
		apply(t, d, "Done", users...)
		for _, mode := range []string{"Apply", "Check"} {
			for n := range users[:4] {
				users[n].mode = mode
			}
			unchanged(t, d, func() {
				for id, got := range apply(t, d, "Done", users...) {
					if got.Message != "" {
						t.Errorf("%s: %v", id, got)
					}
				}
			})
		}
	})
}

func TestDriftIsReportedAndThenRepaired(t *testing.T) {
	everyEngine(t, func(t *testing.T, d database) {
		reader, missing := user("a-1", "reader", d.area("app:", "readOnly")), user("a-2", "missing", d.area("app:", "readOnly"))
		apply(t, d, "Done", reader)
		d.change("reader", "by-hand")
		unchanged(t, d, func() {
			if got := apply(t, d, "Drifted", reader.in("Check"))["a-1"].Message; !strings.Contains(got, "password") {
				t.Error(got)
			}
		})
		may(t, d, reader.with("by-hand"), true, "read", "app:1")
		unchanged(t, d, func() { apply(t, d, "Drifted", missing.in("Check")) })
		if got := apply(t, d, "Done", reader)["a-1"].Message; !strings.Contains(got, "password") {
			t.Error(got)
		}
		may(t, d, reader.with("by-hand"), false, "login", "")
		may(t, d, reader, true, "read", "app:1")
	})
}

func TestPrivilegesThatAreNoLongerDeclaredAreRevokedAndThoseByHandStay(t *testing.T) {
	everyEngine(t, func(t *testing.T, d database) {
		before := user("a-1", "app", d.area("app:", "readWrite"), d.area("log:", "readOnly"))
		apply(t, d, "Done", before)
		give(t, d, "app")
		now := user("a-1", "app", d.area("app:", "readOnly"))
		apply(t, d, "Drifted", now.in("Check"))
		may(t, d, now, true, "write", "app:1")
		apply(t, d, "Done", now)
		may(t, d, now, true, "read", "app:1")
		may(t, d, now, false, "write", "app:1")
		may(t, d, now, false, "read", "log:1")
		may(t, d, now, true, "read", "given:1")
		apply(t, d, "Done", user("a-1", "app"))
		may(t, d, now, false, "read", "app:1")
		may(t, d, now, true, "read", "given:1")
	})
}

// give gives a user the right to read given: by hand.
func give(t *testing.T, d database, name string) {
	t.Helper()
	switch d := d.(type) {
	case *redis:
		d.admin("ACL", "SETUSER", name, "(+get ~given:*)", "(+set ~set:*)")
	case *etcd:
		d.admin("role", "add", "given")
		d.admin("role", "grant-permission", "given", "read", "--prefix", "given:")
		d.admin("user", "grant-role", name, "given")
	}
}

func TestAUserOfAnAdministratorIsTakenOverOnlyIfThatIsAllowed(t *testing.T) {
	everyEngine(t, func(t *testing.T, d database) {
		app := user("a-1", "app", d.area("app:", "readOnly"))
		d.create("app", "by-hand")
		unchanged(t, d, func() {
			apply(t, d, "Exists", app)
			apply(t, d, "Exists", app.in("Check"))
			apply(t, d, "Done", app.in("Remove"))
			apply(t, d, "Drifted", app.adopting().in("Check"))
		})
		may(t, d, app.with("by-hand"), true, "read", "by-hand:1")
		apply(t, d, "Done", app.adopting())
		may(t, d, app.with("by-hand"), false, "login", "")
		may(t, d, app, true, "read", "app:1")
		may(t, d, app, true, "read", "by-hand:1")
		unchanged(t, d, func() { apply(t, d, "Done", app) })
		// As after a restore into another cluster, whose objects have other identities.
		later := user("b-1", "app", d.area("app:", "readWrite"))
		unchanged(t, d, func() { apply(t, d, "Exists", later) })
		apply(t, d, "Done", later.adopting())
		may(t, d, later, true, "write", "app:1")
		apply(t, d, "Done", app.in("Remove"))
		may(t, d, later, true, "write", "app:1")
		apply(t, d, "Done", later.in("Remove"))
		may(t, d, later, false, "login", "")
	})
}

func TestTwoObjectsDoNotTakeAUserFromEachOther(t *testing.T) {
	everyEngine(t, func(t *testing.T, d database) {
		one, two := user("a-1", "app", d.area("app:", "readOnly")).adopting(), user("a-2", "app", d.area("app:", "readWrite")).adopting()
		for _, want := range []string{"Created", "Done"} {
			got := run(t, d, folder(t, []object{one, two}))
			if got["a-1"].Result != want || got["a-2"].Result != "Exists" {
				t.Error(got)
			}
			may(t, d, one, true, "read", "app:1")
		}
		unchanged(t, d, func() { run(t, d, folder(t, []object{two, one})) })
		apply(t, d, "Done", two.in("Remove"))
		may(t, d, one, true, "read", "app:1")
	})
}

func TestARemovedUserIsDeletedWithItsPrivileges(t *testing.T) {
	everyEngine(t, func(t *testing.T, d database) {
		before := []object{user("a-1", "app", d.area("app:", "readWrite")), user("a-2", "other", d.area("app:", "readWrite"))}
		apply(t, d, "Done", before...)
		may(t, d, before[0], true, "write", "app:1")
		apply(t, d, "Done", before[0].in("Remove"), before[1])
		may(t, d, before[0], false, "login", "")
		may(t, d, before[1], true, "read", "app:1")
		unchanged(t, d, func() { apply(t, d, "Done", before[0].in("Remove")) })
		if e, is := d.(*etcd); is {
			if roles := e.admin("role", "list"); strings.Contains(roles, "a-1") {
				t.Error(roles)
			}
		}
	})
}

func TestUsersSurviveARestart(t *testing.T) {
	everyEngine(t, func(t *testing.T, d database) {
		app := user("a-1", "app", d.area("app:", "readWrite"))
		apply(t, d, "Done", app, user("a-2", "gone"))
		apply(t, d, "Done", user("a-2", "gone").in("Remove"))
		for range 2 {
			d.restart()
			may(t, d, app, true, "write", "app:1")
			may(t, d, user("a-2", "gone"), false, "login", "")
			unchanged(t, d, func() { apply(t, d, "Done", app.in("Check")) })
		}
	})
}

func TestTheActionEndsIfTheServerDoesNotAnswer(t *testing.T) {
	everyEngine(t, func(t *testing.T, d database) {
		var h *home
		switch d := d.(type) {
		case *redis:
			h = d.home
		case *etcd:
			h = d.home
		}
		h.kill()
		command := d.action("objects")
		command.Env = append(command.Env, "DBC_OBJECTS_DIR="+folder(t, []object{user("a-1", "app")}))
		output, err := command.Output()
		if command.ProcessState.ExitCode() != 11 || len(output) > 0 {
			t.Errorf("%v\n%s", err, output)
		}
	})
}
