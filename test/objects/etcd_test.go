//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package objects

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// etcd is a member of the engine etcd-v1, alone like a copy. Its address is its own, because the scripts have fixed ports.
type etcd struct {
	*home
	variables []string
}

func startEtcd(t *testing.T) *etcd {
	t.Helper()
	address := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(250), 2+rand.IntN(250)) //nolint:gosec // any of them
	e := &etcd{home: newHome(t, "etcd-v1", address, map[string]string{"etcd": "DBC_ETCD", "etcdctl": "DBC_ETCDCTL"})}
	e.variables = e.environment("etcd-v1", "2379")
	if said, err := e.action("initialize").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	e.start()
	return e
}

func (e *etcd) action(name string) *exec.Cmd {
	command := exec.CommandContext(e.Context(), e.in("scripts/"+name)) //nolint:gosec // of the engine
	command.Env = slices.Concat(e.variables, []string{"ETCDCTL_ENDPOINTS=http://" + e.address + ":2382"})
	return command
}

func (e *etcd) start() {
	e.Helper()
	command := exec.Command(e.in("scripts/member")) //nolint:gosec // it ends with the test
	command.Env = slices.Concat(e.variables, []string{"DBC_COPY=true"})
	e.serve(command)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if _, err := e.ctl("root", "secret", "get", "/"); err == nil {
			return
		} else if time.Now().After(deadline) {
			e.Fatalf("%v\n%s", err, e.log())
		}
	}
}

func (e *etcd) restart() {
	e.Helper()
	e.kill()
	e.start()
}

// ctl runs etcdctl as a user.
func (e *etcd) ctl(user, password string, words ...string) (string, error) {
	command := exec.CommandContext(e.Context(), e.in("bin/etcdctl"), append([]string{"--command-timeout=10s"}, words...)...) //nolint:gosec // of this test
	command.Env = append(os.Environ(), "ETCDCTL_USER="+user, "ETCDCTL_PASSWORD="+password, "ETCDCTL_ENDPOINTS=http://"+e.address+":2379")
	text, err := command.CombinedOutput()
	if err != nil {
		return "", errors.New(string(text))
	}
	return string(text), nil
}

// admin runs etcdctl as an administrator.
func (e *etcd) admin(words ...string) string {
	e.Helper()
	said, err := e.ctl("root", "secret", words...)
	if err != nil {
		e.Fatalf("%v: %v", words, err)
	}
	return said
}

func (e *etcd) try(user, password, what, key string) error {
	words := map[string][]string{"login": {"get", "/"}, "read": {"get", "--", key}, "write": {"put", "--", key, "1"}}[what]
	_, err := e.ctl(user, password, words...)
	if what == "login" && err != nil && strings.Contains(err.Error(), "permission denied") {
		return nil // it could log in
	}
	return err
}

func (e *etcd) area(beginning, privileges string) grant { return grant{beginning, privileges} }

// state is the number of changes of users and roles.
func (e *etcd) state() string {
	e.Helper()
	return e.admin("auth", "status")
}

func (e *etcd) create(name, password string) {
	e.Helper()
	e.admin("user", "add", name, "--new-user-password="+password)
	if _, err := e.ctl("root", "secret", "role", "add", "by-hand"); err == nil {
		e.admin("role", "grant-permission", "by-hand", "read", "--prefix", "by-hand:")
	}
	e.admin("user", "grant-role", name, "by-hand")
}

func (e *etcd) change(name, password string) {
	e.Helper()
	command := exec.CommandContext(e.Context(), e.in("bin/etcdctl"), "user", "passwd", "--interactive=false", "--", name) //nolint:gosec // of this test
	command.Env = append(os.Environ(), "ETCDCTL_USER=root", "ETCDCTL_PASSWORD=secret", "ETCDCTL_ENDPOINTS=http://"+e.address+":2379")
	command.Stdin = strings.NewReader(password)
	if text, err := command.CombinedOutput(); err != nil {
		e.Fatalf("%v\n%s", err, text)
	}
}
