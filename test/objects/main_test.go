//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

// Package objects runs the action objects of the engines without databases of their own on real servers. `make test-objects` runs it.
package objects

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/dbcluster/databasecluster-operator/test/conformance/contract"
)

// database is a server of an engine.
type database interface {
	// action is the command that runs an action.
	action(name string) *exec.Cmd
	// try does something as a user: login, read or write a key.
	try(user, password, what, key string) error
	// area is the privileges on the keys that begin with a text.
	area(beginning, privileges string) grant
	// state is all users with their privileges, or a number that every change raises.
	state() string
	// create creates a user, and change changes its password, as an administrator does.
	create(name, password string)
	change(name, password string)
	// restart kills the server, and starts it.
	restart()
}

// everyEngine runs a test with each engine.
func everyEngine(t *testing.T, test func(t *testing.T, d database)) {
	t.Helper()
	for name, start := range map[string]func(t *testing.T) database{
		"redis": func(t *testing.T) database { return startRedis(t, false) },
		"etcd":  func(t *testing.T) database { return startEtcd(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}

// home is the container of an engine: its scripts, Secret and volume.
type home struct {
	*testing.T
	folder, address string
	process         *exec.Cmd
}

func (h *home) in(name string) string { return filepath.Join(h.folder, name) }

// newHome copies the scripts of an engine, with another address in place of loopback, and the programs of variables into a folder.
func newHome(t *testing.T, engine, address string, programs map[string]string) *home {
	t.Helper()
	h := &home{T: t, folder: t.TempDir(), address: address}
	for _, folder := range []string{"bin", "data", "secrets"} {
		if err := os.Mkdir(h.in(folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, variable := range programs {
		path, err := exec.LookPath(name)
		if set := os.Getenv(variable); set != "" {
			path, err = set, nil
		}
		if err != nil {
			t.Skipf("there is no program %s: set %s, or run `make test-objects`", name, variable)
		}
		if err := os.Symlink(path, h.in("bin/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	h.must("cp", "-r", "../../config/engines/"+engine+"/scripts", h.in("scripts"))
	h.must("find", h.in("scripts"), "-type", "f", "-exec", "sed", "-i", "s|/dbc/scripts|"+h.in("scripts")+"|; s|127[.]0[.]0[.]1|"+address+"|; s|/tmp/dbc[.]|"+h.in("dbc.")+"|", "{}", "+")
	store(t, h.in("secrets"), map[string]string{"password": "secret"})
	return h
}

// must runs a program.
func (h *home) must(words ...string) string {
	h.Helper()
	said, err := exec.CommandContext(h.Context(), words[0], words[1:]...).CombinedOutput() //nolint:gosec // programs of this test
	if err != nil {
		h.Fatalf("%v: %v\n%s", words, err, said)
	}
	return string(said)
}

// environment are the variables of the container.
func (h *home) environment(engine, port string) []string {
	h.Helper()
	declared, err := contract.ReadEngine("../../config/engines/" + engine + ".yaml")
	if err != nil {
		h.Fatal(err)
	}
	all := append(os.Environ(), "PATH="+h.in("bin")+":"+os.Getenv("PATH"), "DBC_DATA_DIR="+h.in("data"), "DBC_SECRETS_DIR="+h.in("secrets"),
		"DBC_PORT="+port, "DBC_CLUSTER=orders", "DBC_ORDINAL=0", "DBC_MEMBER="+h.address, "DBC_MEMBERS="+h.address)
	for _, p := range declared.Spec.Parameters {
		name := strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(p.Name))
		all = append(all, "DBC_PARAM_"+name+"="+p.Default)
	}
	return all
}

// serve starts a server, which ends with the test.
func (h *home) serve(command *exec.Cmd) {
	h.Helper()
	log, err := os.OpenFile(h.in("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		h.Fatal(err)
	}
	defer log.Close()
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		h.Fatal(err)
	}
	h.process = command
	h.Cleanup(h.kill)
}

func (h *home) kill() {
	_ = h.process.Process.Kill()
	_ = h.process.Wait() // it was killed
}

// log is the end of the log of the server.
func (h *home) log() string {
	text, _ := os.ReadFile(h.in("log"))
	return string(text[max(0, len(text)-3000):])
}

// line is an answer of the action.
type line struct {
	ID, Result, Message string
}

func (l line) String() string { return l.Result + ": " + l.Message }

// run runs the action, and returns its answer for each object.
func run(t *testing.T, d database, folder string) map[string]line {
	t.Helper()
	command, errorOutput := d.action("objects"), &bytes.Buffer{}
	command.Env, command.Stderr = append(command.Env, "DBC_OBJECTS_DIR="+folder), errorOutput
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, output, errorOutput)
	}
	got, err := answers(output)
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return got
}

func answers(output []byte) (map[string]line, error) {
	got := map[string]line{}
	for text := range strings.Lines(string(output)) {
		var l line
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&l); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		if _, twice := got[l.ID]; twice || len(l.Message) > 300 || !utf8.ValidString(text) || strings.Contains(text, "secret-of") {
			return nil, errors.New("not a possible answer: " + text)
		}
		got[l.ID] = l
	}
	return got, nil
}

// apply runs the action on these users, and fails unless the result of each is as wanted.
func apply(t *testing.T, d database, want string, users ...object) map[string]line {
	t.Helper()
	got := run(t, d, folder(t, users))
	for _, o := range users {
		inForce := want == "Done" && got[o.id].Result == "Created"
		if got[o.id].Result != want && !inForce || len(got) != len(users) {
			t.Errorf("%q: %v, want %s", o.name, got[o.id], want)
		}
	}
	return got
}

// may fails unless a user can, or cannot, do this.
func may(t *testing.T, d database, o object, want bool, what, key string) {
	t.Helper()
	if err := d.try(o.name, o.password, what, key); (err == nil) != want {
		t.Errorf("%q can %s %s: %v (%v), want %v", o.name, what, key, err == nil, err, want)
	}
}

// unchanged fails if a function changes the users.
func unchanged(t *testing.T, d database, do func()) {
	t.Helper()
	before := d.state()
	do()
	if after := d.state(); after != before {
		t.Errorf("the users were changed from\n%s\nto\n%s", before, after)
	}
}
