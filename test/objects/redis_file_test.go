//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package objects

import (
	"os"
	"strings"
	"testing"
)

func TestAUserThatIsSwitchedOffOrNeedsNoPasswordIsRepaired(t *testing.T) {
	t.Parallel()
	r := startRedis(t, false)
	app := user("a-1", "app", r.area("app:", "readOnly"))
	apply(t, r, "Done", app)
	for rule, want := range map[string]string{"off": "it is switched off", "nopass": "it needs no password", ">another": "the password differs"} {
		r.admin("ACL", "SETUSER", "app", rule)
		if got := apply(t, r, "Drifted", app.in("Check"))["a-1"].Message; !strings.Contains(got, want) {
			t.Errorf("%s: %s", rule, got)
		}
		apply(t, r, "Done", app)
		may(t, r, app, true, "read", "app:1")
		may(t, r, app.with("another"), false, "login", "")
	}
}

// A server that was not restarted since the engine was changed has no file. Then users would not survive a restart.
func TestUsersThatTheServerCannotStoreAreNotDone(t *testing.T) {
	t.Parallel()
	r := startRedis(t, false)
	apply(t, r, "Done", user("a-1", "app"))
	if err := os.Chmod(r.in("data"), 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // no permission stops root, but a folder in place of the temporary file does
		r.must("sh", "-c", `rm "$0" && mkdir -p "$0/x"`, r.in("data/users.acl"))
	}
	for range 2 {
		if got := apply(t, r, "Failed", user("a-1", "app", r.area("app:", "readOnly"))); !strings.Contains(got["a-1"].Message, "cannot store") {
			t.Error(got)
		}
	}
	if os.Getuid() == 0 {
		r.must("rm", "-r", r.in("data/users.acl"))
	}
	if err := os.Chmod(r.in("data"), 0o700); err != nil { //nolint:gosec // a folder
		t.Fatal(err)
	}
	apply(t, r, "Done", user("a-1", "app", r.area("app:", "readOnly")))
	r.restart()
	may(t, r, user("a-1", "app"), true, "read", "app:1")
}

func TestUsersAreCreatedThroughTLS(t *testing.T) {
	t.Parallel()
	r := startRedis(t, true)
	app := user("a-1", "app", r.area("app:", "readWrite"))
	apply(t, r, "Done", app)
	may(t, r, app, true, "write", "app:1")
	r.restart()
	may(t, r, app, true, "write", "app:1")
}

// The file has the password of the user default as a hash, and a rotation changes only that of the server.
func TestTheUserDefaultHasThePasswordOfTheSecretAfterARestart(t *testing.T) {
	t.Parallel()
	r := startRedis(t, false)
	apply(t, r, "Done", user("a-1", "app"))
	store(t, r.in("secrets"), map[string]string{"password.0a1b2c3d": "next"})
	r.restart()
	for password, want := range map[string]bool{"next": true, "secret": true, "other": false} {
		may(t, r, object{name: "default", password: password}, want, "login", "")
	}
	may(t, r, user("a-1", "app"), true, "login", "")
	if text, err := os.ReadFile(r.in("data/users.acl")); err != nil || strings.Contains(string(text), "secret") || strings.Contains(string(text), "next") {
		t.Errorf("%v\n%s", err, text)
	}
}

// Redis does not start with a file for users and with users in its arguments.
func TestUsersInTheArgumentsOfRedisStay(t *testing.T) {
	t.Parallel()
	r := startRedis(t, false, "--user", "app", "on", ">by-hand", "~app:*", "+get", "+ping")
	if got := apply(t, r, "Failed", user("a-1", "reader")); !strings.Contains(got["a-1"].Message, "remove --user") {
		t.Error(got)
	}
	may(t, r, object{name: "app", password: "by-hand"}, true, "read", "app:1")
}

func TestRedisStartsWithItsUsersIfItsVolumeIsFull(t *testing.T) {
	t.Parallel()
	r := startRedis(t, false)
	app := user("a-1", "app", r.area("app:", "readOnly"))
	apply(t, r, "Done", app)
	r.must("mkdir", r.in("data/users.acl.new")) // no file can be written there
	r.restart()
	may(t, r, app, true, "read", "app:1")
	apply(t, r, "Done", app)
	if got := apply(t, r, "Failed", app.with("another")); !strings.Contains(got["a-1"].Message, "make room") {
		t.Error("the next start forgets the password:", got)
	}
}

// Selectors of the operator take nothing away that other rules give.
func TestAUserWhoMayAdministerRedisIsNotTakenOver(t *testing.T) {
	t.Parallel()
	r := startRedis(t, false)
	for name, rules := range map[string][]string{"all": {"+@all"}, "acl": {"+acl"}, "selector": {"(+config|set)"}, "most": {"+@all", "-acl", "-config"}} {
		r.admin(append([]string{"ACL", "SETUSER", name, "on", ">by-hand", "~*", "+ping"}, rules...)...)
		apply(t, r, "Refused", user("a-"+name, name, r.area("app:", "readOnly")).adopting())
		may(t, r, object{name: name, password: "by-hand"}, true, "login", "")
	}
}
