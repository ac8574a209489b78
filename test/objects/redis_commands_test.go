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

func TestNoPrivilegeOfRedisAllowsDangerousCommands(t *testing.T) {
	t.Parallel()
	r := startRedis(t, false)
	users := []object{
		user("a-1", "reader", r.area("app:", "readOnly")), user("a-2", "writer", r.area("app:", "readWrite")), user("a-3", "owner", r.area("app:", "owner")),
		user("a-4", "everything", grant{"*", "owner"}), user("a-5", "mixed", r.area("app:", "readWrite"), r.area("log:", "readOnly")), user("a-6", "sees", grant{"*", "readOnly"}),
	}
	apply(t, r, "Done", users...)
	for command, allowed := range map[string]string{
		"FLUSHALL": "", "FLUSHDB": "", "KEYS *": "", "CONFIG GET *": "", "ACL LIST": "", "ACL SETUSER reader +@all": "", "SHUTDOWN": "", "SAVE": "", "BGSAVE": "",
		"REPLICAOF NO ONE": "", "MONITOR": "", "CLIENT LIST": "", "CLIENT KILL ID 1": "", "SLOWLOG GET": "", "FUNCTION LIST": "", "FUNCTION FLUSH": "", "SCRIPT FLUSH": "", "SWAPDB 0 1": "", "INFO": "",
		"MODULE LIST": "", "SORT app:1": "", "MIGRATE h 1 app:1 0 1": "", "CLIENT TRACKING ON BCAST": "everything sees", "SCAN 0": "everything sees", "RANDOMKEY": "everything sees", "DBSIZE": "everything sees",
		"SET app:1 1": "writer owner everything mixed", "GET app:1": "reader writer owner everything mixed sees", "GET other": "everything sees", "SET other 1": "everything", "DEL log:1": "everything",
		"EVAL return(1) 0": "writer owner everything mixed", "PUBLISH app:1 x": "owner everything", "PUBLISH other x": "everything", "PUBSUB CHANNELS": "", "COPY log:1 app:2": "everything mixed",
		"COPY app:1 log:2": "everything", "RENAME app:none log:1": "everything", "XREADGROUP GROUP g c STREAMS log:stream >": "everything", "PFCOUNT app:none": "reader writer owner everything mixed sees",
		"MULTI": "reader writer owner everything mixed sees", "SELECT 1": "reader writer owner everything mixed sees", "GETDEL app:none": "writer owner everything mixed", "EXPIRE app:1 9": "writer owner everything mixed",
	} {
		for _, o := range users {
			said := r.said(o.name, o.password, strings.Fields(command)...)
			refused := strings.Contains(said, "NOPERM")
			if want := !strings.Contains(" "+allowed+" ", " "+o.name+" "); refused != want {
				t.Errorf("%s: refused to %s: %v, want %v: %s", command, o.name, refused, want, said)
			}
		}
	}
}

func TestPatternsWithWhatEndsTheRulesOfAUserAreRefused(t *testing.T) {
	t.Parallel()
	r := startRedis(t, false)
	var users []object
	for n, pattern := range []string{"app)", "a b", "a\nb", `a"`, `a"\x20~*"`, "a'"} {
		users = append(users, user(fmt.Sprintf("a-%d", n), fmt.Sprintf("app-%d", n), grant{pattern, "readOnly"}))
	}
	unchanged(t, r, func() {
		for id, l := range apply(t, r, "Refused", users...) {
			if !strings.HasPrefix(l.Message, "databases.name: ") {
				t.Errorf("%s: %v", id, l)
			}
		}
	})
}
