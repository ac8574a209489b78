//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package objects

import "testing"

// A role without its user is left when a run is killed. Then an administrator may create a user of that name.
func TestAUserOfEtcdWithOtherRolesIsNotOfTheObjectWhoseRoleIsLeft(t *testing.T) {
	t.Parallel()
	e := startEtcd(t)
	for _, c := range []struct{ name, role, want string }{{"app", "by-hand", "Exists"}, {"chief", "root", "Refused"}} {
		e.create(c.name, "by-hand")
		e.admin("user", "revoke-role", c.name, "by-hand")
		e.admin("user", "grant-role", c.name, c.role)
		e.admin("role", "add", "database.dbcluster.io/id=a-"+c.name)
		apply(t, e, c.want, user("a-"+c.name, c.name, e.area("app:", "readOnly")))
		may(t, e, object{name: c.name, password: "by-hand"}, true, "login", "")
		apply(t, e, "Done", user("a-"+c.name, c.name).in("Remove"))
		may(t, e, object{name: c.name, password: "by-hand"}, true, "login", "")
	}
	e.admin("role", "add", "database.dbcluster.io/id=a-bare")
	e.admin("user", "add", "bare", "--new-user-password=of-a-killed-run")
	bare := user("a-bare", "bare", e.area("app:", "readOnly"))
	apply(t, e, "Done", bare)
	may(t, e, bare, true, "read", "app:1")
}
