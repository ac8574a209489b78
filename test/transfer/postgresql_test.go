//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// postgresUser is the user of the servers: PostgreSQL refuses to run as root.
const postgresUser = 65534

// single is the engine without replicas. Its members are one server.
const single = "postgresql-single-v1"

// postgresql is an engine, a folder with servers, and the folder of the programs of PostgreSQL.
type postgresql struct {
	t                        *testing.T
	engine, folder, programs string
}

// member is a server: its folder and its port.
type member struct{ name, port string }

func newPostgreSQL(t *testing.T, engine string) postgresql {
	t.Helper()
	initdb, err := exec.LookPath("initdb")
	if err != nil {
		t.Skip("this machine has no PostgreSQL")
	}
	if initdb, err = filepath.EvalSymlinks(initdb); err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "databasecluster-operator-postgresql-") //nolint:usetesting // another user cannot enter t.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.Chown(folder, postgresUser, postgresUser); os.Geteuid() == 0 && err != nil {
		t.Fatal(err)
	}
	return postgresql{t, engine, folder, filepath.Dir(initdb)}
}

// install copies the programs and the keys into the folder, where the user of the servers can read them. The driver of the scripts in Python
// is a stub, because an archive does not use it. With it, no cluster adopts the recovered data.
func (p postgresql) install(w *world) {
	p.t.Helper()
	scripts := filepath.Join(p.folder, "scripts")
	copies := [][]string{
		{"mkdir", "-p", scripts + "/psycopg2", filepath.Join(p.folder, "keys")},
		{"cp", program, filepath.Join(p.folder, "transfer")},
		{"cp", "-r", w.keys + "/.", filepath.Join(p.folder, "keys")},
		{"cp", "-r", "../../config/engines/" + p.engine + "/scripts/.", scripts},
		{"find", scripts, "-type", "f", "-exec", "sed", "-i", "s|/dbc/scripts/|" + scripts + "/|", "{}", "+"},
		{"chmod", "-R", "a+rX", p.folder},
	}
	for _, words := range copies {
		if said, err := exec.CommandContext(p.t.Context(), words[0], words[1:]...).CombinedOutput(); err != nil { //nolint:gosec // these programs
			p.t.Fatalf("%v: %v\n%s", words, err, said)
		}
	}
	for name, text := range map[string]string{
		"psycopg2/__init__.py":   "class Error(Exception): pass\nclass OperationalError(Error): pass\n",
		"psycopg2/extensions.py": "encrypt_password = None\n", "psycopg2/sql.py": "SQL = Identifier = Literal = None\n",
		"restored.py":   "def complete(): pass\n",
		"parameters.py": "def check(_): pass\ndef dynamic(): return {'postgresql': {'parameters': {}}}\n",
	} {
		if err := os.WriteFile(filepath.Join(scripts, name), []byte(text), 0o644); err != nil { //nolint:gosec // another user reads it
			p.t.Fatal(err)
		}
	}
}

// do runs a program of PostgreSQL.
func (p postgresql) do(words ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(p.t.Context()), words[0], words[1:]...) // also at the end of the test
	cmd.Dir, cmd.Env = p.folder, append(os.Environ(), "PATH="+p.programs+":"+os.Getenv("PATH"))
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: postgresUser, Gid: postgresUser}}
	}
	said, err := cmd.CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(p.folder, "log"))
		p.t.Fatalf("%v: %v\n%s\n%s", words, err, said, log[max(0, len(log)-4000):])
	}
	return strings.TrimSpace(string(said))
}

// configure adds settings to a server.
func (p postgresql) configure(name string, settings map[string]string) {
	p.t.Helper()
	file, err := os.OpenFile(filepath.Join(p.folder, name, "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	defer file.Close()
	for key, value := range settings {
		fmt.Fprintf(file, "%s = '%s'\n", key, value)
	}
}

func (p postgresql) start(name string) {
	p.t.Helper()
	p.do("pg_ctl", "-D", name, "-w", "-l", "log", "start")
	p.t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(p.folder, name, "postmaster.pid")); err == nil {
			p.do("pg_ctl", "-D", name, "-m", "immediate", "stop")
		}
	})
}

func (p postgresql) ask(port, statement string) string {
	p.t.Helper()
	return p.do("psql", "-XqtA", "-h", "127.0.0.1", "-p", port, "-U", "postgres", "-c", statement)
}

// port is a port that no server has.
func (p postgresql) port() string {
	p.t.Helper()
	address, err := freeAddress()
	if err != nil {
		p.t.Fatal(err)
	}
	_, port, _ := strings.Cut(address, ":")
	return port
}

// first starts a server.
func (p postgresql) first() member {
	p.t.Helper()
	first := member{"first", p.port()}
	p.do("initdb", "-D", first.name, "-U", "postgres", "-A", "trust", "--no-sync")
	p.configure(first.name, map[string]string{"port": first.port, "unix_socket_directories": "", "track_commit_timestamp": "on", "fsync": "off", "wal_keep_size": "256MB"})
	p.start(first.name)
	p.ask(first.port, "CREATE ROLE replicator LOGIN REPLICATION; CREATE TABLE row (n bigserial, text text DEFAULT repeat(md5(random()::text), 30))")
	return first
}

// copy creates a base backup.
func (p postgresql) copy(of member, to string) {
	p.t.Helper()
	p.do("pg_basebackup", "-h", "127.0.0.1", "-p", of.port, "-U", "replicator", "-D", to, "-c", "fast", "--no-sync")
}

// second starts a replica, where the engine has one; otherwise it is the first server. Both have the slot, as the members of the engine.
func (p postgresql) second(first member) member {
	p.t.Helper()
	if p.engine == single {
		return first
	}
	const slot = "SELECT pg_create_physical_replication_slot('dbc_archive', true)"
	p.copy(first, "base")
	p.ask(first.port, slot)
	second := member{"second", p.port()}
	p.do("cp", "-a", "base", second.name)
	p.configure(second.name, map[string]string{"port": second.port, "primary_conninfo": "host=127.0.0.1 user=replicator port=" + first.port})
	p.do("touch", "second/standby.signal")
	p.start(second.name)
	p.ask(second.port, slot)
	return second
}

// writer inserts rows, one in each transaction, and records which the server has acknowledged.
type writer struct {
	sync.Mutex
	acknowledged []int
}

func (w *writer) write(p postgresql, ports string, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
			w.session(p, ports, done)
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// session writes until the connection ends.
func (w *writer) session(p postgresql, ports string, done <-chan struct{}) {
	cmd := exec.CommandContext(p.t.Context(), "psql", "-XqtA", "-v", "ON_ERROR_STOP=1",
		"host=127.0.0.1,127.0.0.1 user=postgres dbname=postgres target_session_attrs=primary port="+ports)
	stdin, errIn := cmd.StdinPipe()
	stdout, errOut := cmd.StdoutPipe()
	if errIn != nil || errOut != nil || cmd.Start() != nil {
		return
	}
	defer cmd.Wait() //nolint:errcheck // the server may have ended
	defer stdin.Close()
	lines := bufio.NewScanner(stdout)
	for {
		select {
		case <-done:
			return
		default:
		}
		fmt.Fprintln(stdin, "INSERT INTO row DEFAULT VALUES RETURNING n;")
		if !lines.Scan() {
			return
		}
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			w.Lock()
			w.acknowledged = append(w.acknowledged, n)
			w.Unlock()
		}
	}
}

// restored returns the rows of a server that is recovered from a base backup and the archive, until a time, or to the end.
func (w *world) restored(p postgresql, base, name, until string) (rows []int) {
	w.t.Helper()
	return w.restoredTo(p, base, name, protocol.Recover{Until: until})
}

// restoredTo returns the rows of a server that is recovered to a target.
func (w *world) restoredTo(p postgresql, base, name string, target protocol.Recover) (rows []int) {
	w.t.Helper()
	port := p.port()
	p.do("mkdir", "-p", name)
	p.do("cp", "-a", base, name+"/pgdata")
	p.configure(name+"/pgdata", map[string]string{"port": port})
	lastCommit := w.recover(p, base, member{name, port}, target)
	p.start(name + "/pgdata")
	newest := moment(w, p.ask(port, `SELECT to_char(max(pg_xact_commit_timestamp(xmin)) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') FROM row`))
	if lastCommit.Before(newest) || target.Until != "" && lastCommit.After(moment(w, target.Until)) {
		w.t.Errorf("to %+v, the last commit is reported of %s, and the newest row of the data is of %s", target, lastCommit, newest)
	}
	for line := range strings.FieldsSeq(p.ask(port, "SELECT n FROM row ORDER BY n")) {
		n, _ := strconv.Atoi(line)
		rows = append(rows, n)
	}
	p.do("pg_ctl", "-D", name+"/pgdata", "-m", "immediate", "stop")
	return rows
}

// begins is the file of the archive in which a base backup begins.
func (p postgresql) begins(base string) string {
	p.t.Helper()
	label, err := os.ReadFile(filepath.Join(p.folder, base, "backup_label"))
	if err != nil {
		p.t.Fatal(err)
	}
	_, system, _ := strings.Cut(p.do("env", "LC_ALL=C", "pg_controldata", "-D", base), "system identifier:")
	_, start, _ := strings.Cut(string(label), "(file ")
	start, _, _ = strings.Cut(start, ")")
	return strings.Fields(system)[0] + "-" + start
}

func moment(w *world, text string) time.Time {
	w.t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		w.t.Fatal(err)
	}
	return at
}

// recover runs the action of the engine under transfer, as the user of the server. It returns the time of the last commit.
func (w *world) recover(p postgresql, base string, m member, call protocol.Recover) time.Time {
	w.t.Helper()
	call.From, call.Start, call.Store = w.location, p.begins(base), w.store()
	call.Credentials, call.Result = filepath.Join(p.folder, "keys"), filepath.Join(p.folder, m.name, "result")
	call.Command = []string{filepath.Join(p.folder, "scripts", "recover")}
	data := filepath.Join(p.folder, m.name)
	p.do(slices.Concat([]string{"env", "DBC_DATA_DIR=" + data, "PGDATA=" + data + "/pgdata", "PGPORT=" + m.port, "DBC_SECRETS_DIR=/none",
		"DBC_DATABASE=postgres", "DBC_OWNER=app", filepath.Join(p.folder, "transfer")}, protocol.Args(&call))...)
	written, err := os.ReadFile(call.Result)
	if err != nil {
		w.t.Fatal(err)
	}
	result, err := protocol.DecodeResult(string(written))
	if err != nil {
		w.t.Fatal(err)
	}
	return result.LastCommit
}
