//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package objects

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// kills is how often an action is killed in a test.
const kills = 12

// killed runs the action, and kills it with its children after some time. Returns whether it was still running.
func killed(t *testing.T, d database, folder string, after time.Duration) bool {
	t.Helper()
	command := d.action("objects")
	command.Env = append(command.Env, "DBC_OBJECTS_DIR="+folder)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // it may have ended
	return command.Wait() != nil
}

// The action is killed at any moment while it creates, changes, takes over and deletes users. The next run completes it.
func TestARunCompletesWhatAKilledOneHasBegun(t *testing.T) {
	everyEngine(t, func(t *testing.T, d database) {
		var length time.Duration
		interrupted := 0
		for round := range kills {
			users := round4(t, d, round)
			here := folder(t, users)
			if round > 0 && killed(t, d, here, time.Duration(rand.Int64N(int64(length)))) { //nolint:gosec // any moment
				interrupted++
			}
			start := time.Now()
			apply(t, d, "Done", users...)
			length = max(length, time.Since(start))
			d.restart()
			for _, o := range users {
				may(t, d, o, o.mode == "Apply", "login", "")
				may(t, d, o, o.mode == "Apply" && len(o.grants) > 0, "write", "app:1")
			}
			unchanged(t, d, func() { apply(t, d, "Done", users...) })
		}
		t.Logf("%d of %d runs were killed before their end; the longest took %v", interrupted, kills-1, length)
		if interrupted == 0 {
			t.Error("no run was interrupted")
		}
	})
}

// round4 are users that the action has to create, to change, to take over and to delete.
func round4(t *testing.T, d database, round int) []object {
	t.Helper()
	name := func(what string, round int) string { return fmt.Sprintf("%s-%d", what, round) }
	d.create(name("taken", round), "by-hand")
	users := []object{
		user(name("a", round), name("created", round), d.area("app:", "readWrite"), d.area("log:", "readOnly")),
		user(name("b", round), name("taken", round), d.area("app:", "owner")).adopting(),
	}
	if round > 0 {
		before := user(name("a", round-1), name("created", round-1), d.area("app:", "readWrite"), d.area("log:", "readOnly"))
		changed := user(name("b", round-1), name("taken", round-1)).with(name("another", round))
		users = append(users, before.in("Remove"), changed)
	}
	return users
}

// The seconds are those of this machine.
func TestTwoHundredUsers(t *testing.T) {
	everyEngine(t, func(t *testing.T, d database) {
		var users []object
		for n := range 200 {
			users = append(users, user(fmt.Sprintf("id-%d", n), fmt.Sprintf("user-%d", n), d.area(fmt.Sprintf("app-%d:", n), "readWrite"), d.area("all:", "readOnly")))
		}
		took := func(what string) {
			t.Helper()
			start := time.Now()
			apply(t, d, "Done", users...)
			t.Logf("200 users, %s: %.1f s", what, time.Since(start).Seconds())
		}
		took("created")
		unchanged(t, d, func() { took("again") })
		for n := range users {
			users[n].mode = "Check"
		}
		unchanged(t, d, func() { took("checked") })
		may(t, d, users[199], true, "write", "app-199:1")
		may(t, d, users[199], false, "write", "app-198:1")
		for n := range users {
			users[n].mode = "Remove"
		}
		took("removed")
		may(t, d, users[199], false, "login", "")
	})
}
