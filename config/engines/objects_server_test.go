//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// superuserPassword is that of the servers in these tests.
const superuserPassword = "of the superuser"

// database is a server of PostgreSQL that logs all statements, with the scripts of an engine.
type database struct {
	t                      *testing.T
	folder, programs, port string
	members                string
}

// newDatabase starts a server. PostgreSQL refuses to run as root.
func newDatabase(t *testing.T, engine string) *database {
	t.Helper()
	initdb, err := exec.LookPath("initdb")
	if err != nil {
		t.Fatal("initdb is not in the PATH: apt-get install postgresql, and add /usr/lib/postgresql/*/bin")
	}
	if initdb, err = filepath.EvalSymlinks(initdb); err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "databasecluster-operator-objects-") //nolint:usetesting // another user cannot enter t.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	d := &database{t, folder, filepath.Dir(initdb), freePort(t), "127.0.0.1"}
	d.install(engine)
	d.do("", "initdb", "-D", "data", "-U", "postgres", "-A", "scram-sha-256", "--pwfile=secrets/password", "--no-sync")
	d.start("data", "127.0.0.1")
	return d
}

// install writes the scripts and the Secret.
func (d *database) install(engine string) {
	d.t.Helper()
	write(d.t, filepath.Join(d.folder, "secrets"), map[string]string{"password": superuserPassword})
	write(d.t, filepath.Join(d.folder, "objects"), nil)
	found, err := filepath.Glob(engine + "/scripts/objects*")
	if err != nil || len(found) == 0 {
		d.t.Fatal(engine, err)
	}
	all := map[string]string{}
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			d.t.Fatal(err)
		}
		all[filepath.Base(file)] = strings.ReplaceAll(string(text), "/dbc/scripts", filepath.Join(d.folder, "scripts"))
	}
	write(d.t, filepath.Join(d.folder, "scripts"), all)
	for _, name := range []string{".", "secrets", "secrets/password"} {
		if err := os.Chown(filepath.Join(d.folder, name), 65534, 65534); os.Geteuid() == 0 && err != nil {
			d.t.Fatal(err)
		}
	}
}

// start starts a server, which stops at the end of the test.
func (d *database) start(folder, address string) {
	d.t.Helper()
	d.do("", "pg_ctl", "-D", folder, "-w", "-l", "log-"+folder, "-o", "-c port="+d.port+" -c listen_addresses="+address+
		" -c unix_socket_directories= -c fsync=off -c log_statement=all -c log_min_duration_statement=0", "start")
	d.t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(d.folder, folder, "postmaster.pid")); err == nil {
			d.do("", "pg_ctl", "-D", folder, "-m", "immediate", "stop")
		}
	})
}

// do runs a program of PostgreSQL as a user that is not root.
func (d *database) do(input string, words ...string) string {
	d.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(d.t.Context()), words[0], words[1:]...) //nolint:gosec // these programs
	cmd.Dir, cmd.Env, cmd.Stdin = d.folder, append(os.Environ(), "PATH="+d.programs+":"+os.Getenv("PATH")), strings.NewReader(input)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	said, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%v: %v\n%s", words, err, said)
	}
	return string(said)
}

// as executes statements as a user, and returns the rows, or the error of the server.
func (d *database) as(user, password, name, statements string) string {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), filepath.Join(d.programs, "psql"), "-XqtA", "-v", "ON_ERROR_STOP=1")
	cmd.Env = append(os.Environ(), "PGHOST=127.0.0.1", "PGPORT="+d.port, "PGUSER="+user, "PGPASSWORD="+password, "PGDATABASE="+name)
	cmd.Stdin = strings.NewReader(statements)
	said, _ := cmd.CombinedOutput() // a test compares the error
	return strings.TrimSpace(string(said))
}

// ask executes statements as the superuser.
func (d *database) ask(name, statements string) string {
	d.t.Helper()
	return d.as("postgres", superuserPassword, name, statements)
}

// expect compares what the superuser reads with what a test wants.
func (d *database) expect(name, statements, want string) {
	d.t.Helper()
	if got := d.ask(name, statements); got != want {
		d.t.Errorf("%s: %s\nis   %s\nwant %s", name, statements, got, want)
	}
}

// object is a database or a user in the document of the action.
type object map[string]any

// with returns an object with more fields.
func (o object) with(more object) object {
	all := maps.Clone(o)
	maps.Copy(all, more)
	return all
}

// owned returns a database, and login a user with access to others. The ID and the name are equal.
func owned(name string) object { return object{"id": "d-" + name, "name": name, "mode": "Apply"} }
func login(name string, access ...string) object {
	var all []object
	for i := 0; i < len(access); i += 2 {
		all = append(all, object{"name": access[i], "privileges": []string{access[i+1]}})
	}
	return object{"id": "u-" + name, "name": name, "mode": "Apply", "databases": all, "password": "of " + name}
}

// document returns the standard input of the action, and writes the files of the passwords.
func (d *database) document(databases, users []object) string {
	d.t.Helper()
	listed := make([]object, 0, len(users))
	for _, user := range users {
		user = maps.Clone(user)
		if password, found := user["password"].(string); found && user["mode"] != "Remove" {
			file := filepath.Join(d.folder, "objects", user["id"].(string))
			if err := os.WriteFile(file, []byte(password), 0o600); err != nil {
				d.t.Fatal(err)
			}
			user["passwordFile"] = file
		}
		delete(user, "password")
		listed = append(listed, user)
	}
	text, err := json.Marshal(object{"databases": databases, "users": listed})
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// action is the command of the action with a document.
func (d *database) action(document string) *exec.Cmd {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), filepath.Join(d.folder, "scripts", "objects"))
	cmd.Env = append(os.Environ(), "TMPDIR="+d.folder, "PATH="+d.programs+":"+os.Getenv("PATH"), "DBC_MEMBERS="+d.members, "DBC_PORT="+d.port, "DBC_SECRETS_DIR="+d.folder+"/secrets", "DBC_OWNER=app", "DBC_DATABASE=app")
	cmd.Stdin = strings.NewReader(document)
	return cmd
}

// apply runs the action, and returns "RESULT MESSAGE" of each object.
func (d *database) apply(databases, users []object) map[string]string {
	d.t.Helper()
	cmd := d.action(d.document(databases, users))
	var problems strings.Builder
	cmd.Stderr = &problems
	output, err := cmd.Output()
	if err != nil {
		d.t.Fatalf("%v\n%s", err, problems.String())
	}
	if problems.Len() > 0 {
		d.t.Logf("standard error: %s", problems.String())
	}
	results := map[string]string{}
	for line := range strings.Lines(string(output)) {
		var result struct{ ID, Result, Message string }
		if err := json.Unmarshal([]byte(line), &result); err != nil || results[result.ID] != "" || len([]rune(result.Message)) > 300 {
			d.t.Fatalf("%v: %s", err, output)
		}
		results[result.ID] = strings.TrimSpace(result.Result + " " + result.Message)
	}
	if len(results) != len(databases)+len(users) {
		d.t.Fatalf("%d results of %d objects:\n%s%s", len(results), len(databases)+len(users), output, problems.String())
	}
	return results
}

// all runs the action, and compares every result with one.
func (d *database) all(databases, users []object, want string) {
	d.t.Helper()
	for id, got := range d.apply(databases, users) {
		if got != want {
			d.t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

// hasNoPassword fails if the log of the server has one of these.
func (d *database) hasNoPassword(passwords ...string) {
	d.t.Helper()
	log, err := os.ReadFile(filepath.Join(d.folder, "log-data"))
	if err != nil || len(log) == 0 {
		d.t.Fatal(err)
	}
	for _, password := range passwords {
		if strings.Contains(string(log), password) {
			d.t.Errorf("the log of the server has the password %q", password)
		}
	}
}

// position is the end of the write-ahead log, and the next transaction.
func (d *database) position() string {
	d.t.Helper()
	return d.ask("postgres", "SELECT pg_current_wal_insert_lsn(), pg_snapshot_xmax(pg_current_snapshot())")
}
