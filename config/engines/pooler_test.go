//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// pooler is PgBouncer before a server with TLS, run by the script of the engines.
type pooler struct {
	certified
	folder, port, probe string
	mode                string
	logs                *safe
	command             *exec.Cmd
}

// safe is a buffer of two goroutines.
type safe struct {
	sync.Mutex
	bytes.Buffer
}

func (s *safe) Write(text []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	return s.Buffer.Write(text)
}

func (s *safe) String() string {
	s.Lock()
	defer s.Unlock()
	return s.Buffer.String()
}

// newPooler starts a server with an owner and other accounts, and a pooler. The pairs replace text in its script.
func newPooler(t *testing.T, mode string, replace ...string) *pooler {
	t.Helper()
	program := program(t)
	c := newCertified(t, "postgresql-v1")
	c.again()
	c.accounts("postgres")
	c.ask("postgres", `ALTER ROLE dbc_pooler PASSWORD 'of "poolers"'; CREATE ROLE app LOGIN PASSWORD 'first'; CREATE DATABASE app OWNER app;
		CREATE ROLE boss LOGIN SUPERUSER PASSWORD 'x'; CREATE ROLE deputy LOGIN PASSWORD 'x' IN ROLE boss; CREATE ROLE copies LOGIN REPLICATION PASSWORD 'x'`)
	c.ask("app", "CREATE TABLE public.orders (n int); ALTER TABLE public.orders OWNER TO app")
	p := &pooler{certified: c, folder: filepath.Join(c.folder, "pooler"), port: freePort(t), probe: freePort(t), mode: mode, logs: &safe{}}
	p.prepare(program, replace)
	p.run()
	return p
}

// again starts the server again, so that PgBouncer reaches it by each address of localhost.
func (c certified) again() {
	c.t.Helper()
	c.do("", "pg_ctl", "-D", "data", "-w", "-m", "fast", "-l", "log-data", "restart", "-o", "-c port="+c.port+" -c listen_addresses=127.0.0.1,::1"+
		" -c unix_socket_directories= -c fsync=off")
}

// accounts runs the script that creates the role of poolers.
func (d *database) accounts(name string) {
	d.t.Helper()
	text, err := os.ReadFile("postgresql-v1/scripts/pooler.sql")
	if err != nil {
		d.t.Fatal(err)
	}
	d.expect(name, string(text), "")
}

// program is PgBouncer of the version in the image. Older ones have no state to show.
func program(t *testing.T) string {
	t.Helper()
	name := cmp.Or(os.Getenv("DBC_PGBOUNCER"), "pgbouncer")
	output, err := exec.CommandContext(t.Context(), name, "--version").Output() //nolint:gosec // of the person who runs the tests
	major, minor := 0, 0
	if _, scanned := fmt.Sscanf(string(output), "PgBouncer %d.%d", &major, &minor); errors.Join(err, scanned) != nil || major == 1 && minor < 23 {
		t.Skipf("needs PgBouncer 1.23 or newer: set DBC_PGBOUNCER to its path. %s has %q", name, output)
	}
	if name, err = exec.LookPath(name); err != nil {
		t.Fatal(err)
	}
	return name
}

// prepare writes the files of the pod.
func (p *pooler) prepare(program string, replace []string) {
	p.t.Helper()
	in := func(name string) string { return filepath.Join(p.folder, name) }
	write(p.t, p.folder, nil)
	write(p.t, in("bin"), map[string]string{"pgbouncer": "#!/bin/sh\nexec " + program + " \"$1\"\n"})
	all := scripts(p.t, "postgresql-v1", in("scripts"))
	all["pgbouncer"] = strings.NewReplacer(append(replace, "/tmp/pgbouncer", in("run"), "/dbc/tls", in("tls"), "8009", p.probe)...).Replace(all["pgbouncer"])
	write(p.t, in("scripts"), all)
	write(p.t, in("secrets"), map[string]string{"pooler-password": "of \"poolers\"\n", "password": superuserPassword})
	files, err := p.authority.Issue([]string{"localhost"}, time.Now())
	if err != nil {
		p.t.Fatal(err)
	}
	tls := map[string]string{}
	for name, text := range files {
		tls[name] = string(text)
	}
	write(p.t, in("tls"), tls)
	p.own()
}

// own gives all files of the pod to the user that is not root.
func (p *pooler) own() {
	p.t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	if output, err := exec.CommandContext(p.t.Context(), "chown", "-R", "65534:65534", p.folder).CombinedOutput(); err != nil { //nolint:gosec // of this test
		p.t.Fatal(err, string(output))
	}
}

func (p *pooler) environment() []string {
	all := append(os.Environ(), "HOME="+p.folder, "PATH="+filepath.Join(p.folder, "bin")+":"+p.programs+":"+os.Getenv("PATH"), "DBC_HOST=localhost", "DBC_REPLICAS_HOST=", "DBC_PORT="+p.certified.port,
		"DBC_LISTEN_PORT="+p.port, "DBC_TLS=Require", "DBC_SECRETS_DIR="+filepath.Join(p.folder, "secrets"))
	for name, value := range map[string]string{
		"POOL_MODE": p.mode, "TARGET": "primary", "DEFAULT_POOL_SIZE": "5", "RESERVE_POOL_SIZE": "0", "MAX_DB_CONNECTIONS": "0", "MAX_CLIENT_CONN": "100", "MAX_PREPARED_STATEMENTS": "200",
		"QUERY_WAIT_TIMEOUT": "120", "IDLE_TRANSACTION_TIMEOUT": "0", "SERVER_IDLE_TIMEOUT": "600", "SERVER_LIFETIME": "3600", "IGNORE_STARTUP_PARAMETERS": "extra_float_digits",
	} {
		all = append(all, "DBC_PARAM_"+name+"="+value)
	}
	return all
}

// python runs a script with Debian's Python, which has psycopg2, as a user that is not root.
func (p *pooler) python(arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.t.Context(), "/usr/bin/python3", append([]string{"-B"}, arguments...)...) //nolint:gosec // a script of an engine
	cmd.Env, cmd.Dir, cmd.SysProcAttr = p.environment(), p.folder, &syscall.SysProcAttr{}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	return cmd
}

// run starts the pooler, and waits until it is ready.
func (p *pooler) run() {
	p.t.Helper()
	p.command = p.python(filepath.Join(p.folder, "scripts", "pgbouncer"))
	p.command.Stdout, p.command.Stderr = p.logs, p.logs
	p.command.SysProcAttr.Setpgid = true
	if err := p.command.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL) // with PgBouncer
		_ = p.command.Wait()
		if p.t.Failed() {
			p.t.Log(p.logs.String())
		}
	})
	p.until("it is ready", func() bool { return p.answer() == "ready" })
}

// answer is what the probes get.
func (p *pooler) answer() string {
	output, _ := exec.CommandContext(p.t.Context(), "bash", "-c", "read -rt 3 why 2> /dev/null < /dev/tcp/127.0.0.1/"+p.probe+"; echo \"$why\"").Output() //nolint:gosec // a port
	return strings.TrimSpace(string(output))
}

func (p *pooler) until(what string, holds func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("%s: not within 30 seconds; the pooler said\n%s", what, p.logs.String())
		}
	}
}

// through executes statements through the pooler. Each line of the statements is one message.
func (p *pooler) through(user, password, name string, statements ...string) string {
	p.t.Helper()
	return p.with(p.connection(user, password, name), statements...)
}

func (p *pooler) connection(user, password, name string) string {
	return fmt.Sprintf("host=localhost port=%s user=%s password='%s' dbname=%s sslmode=verify-full sslrootcert=%s/tls/ca.crt connect_timeout=30", p.port, user, password, name, p.folder)
}

func (p *pooler) with(connection string, statements ...string) string {
	p.t.Helper()
	arguments := []string{"-XqtAw", "-v", "ON_ERROR_STOP=1", connection}
	for _, statement := range statements {
		arguments = append(arguments, "-c", statement)
	}
	said, _ := exec.CommandContext(p.t.Context(), filepath.Join(p.programs, "psql"), arguments...).CombinedOutput() //nolint:gosec // a test compares the error
	return strings.TrimSpace(string(said))
}

// console executes a command on the console of PgBouncer.
func (p *pooler) console(command string) string {
	p.t.Helper()
	return p.through("dbc_pooler", `of "poolers"`, "pgbouncer", command)
}

func (p *pooler) logsIn(user, password string) {
	p.t.Helper()
	if got := p.through(user, password, "app", "SELECT current_user"); got != user {
		p.t.Errorf("%s logs in: %s", user, got)
	}
}

func (p *pooler) refuses(user, password, want string) {
	p.t.Helper()
	if got := p.through(user, password, "app", "SELECT current_user"); !strings.Contains(got, want) {
		p.t.Errorf("%s: %s, want %s", user, got, want)
	}
}

func TestAPoolerLogsUsersInWithTheirPasswordsInTheDatabase(t *testing.T) {
	t.Parallel()
	p := newPooler(t, "transaction")
	p.logsIn("app", "first")
	p.refuses("app", "second", "authentication failed")
	for _, user := range []string{"postgres", "boss", "deputy", "copies", "replicator"} {
		p.refuses(user, superuserPassword, "FATAL")
		p.refuses(user, "x", "FATAL")
	}
	if got := p.through("app", "first", "app", "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"); got != "t" {
		t.Errorf("TLS to the server: %s", got)
	}
	plain := strings.NewReplacer("sslmode=verify-full", "sslmode=disable").Replace(p.connection("app", "first", "app"))
	if got := p.with(plain, "SELECT 1"); !strings.Contains(got, "SSL required") {
		t.Errorf("without TLS: %s", got)
	}

	// New passwords are in force at once, also on new connections to the server.
	p.ask("postgres", "ALTER ROLE app PASSWORD 'second'")
	p.refuses("app", "first", "authentication failed")
	p.logsIn("app", "second")
	p.ask("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'")
	p.until("the pooler has noticed", func() bool { return p.through("app", "second", "app", "SELECT 1") == "1" })

	// The password of the pooler changes in the database first, and in its file later.
	p.ask("postgres", "ALTER ROLE dbc_pooler PASSWORD 'another'")
	p.ask("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'dbc_pooler'")
	if err := os.WriteFile(filepath.Join(p.folder, "secrets", "pooler-password"), []byte("another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.until("it has loaded its password", func() bool { return p.through("app", "second", "app", "SELECT 1") == "1" && p.answer() == "ready" })
}

func TestAPoolerLoadsARenewedCertificate(t *testing.T) {
	t.Parallel()
	p := newPooler(t, "transaction")
	serial := func() string {
		output, _ := exec.CommandContext(t.Context(), "sh", "-c", "openssl s_client -connect localhost:"+p.port+" -starttls postgres < /dev/null 2> /dev/null | openssl x509 -noout -serial").Output() //nolint:gosec // a port
		return string(output)
	}
	before := serial()
	if !strings.HasPrefix(before, "serial=") {
		t.Fatal(before)
	}
	files, err := p.authority.Issue([]string{"localhost"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(p.folder, "tls", name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.until("it serves the new certificate", func() bool { return serial() != before })
	p.logsIn("app", "first")
}

func TestTheModeDecidesHowLongAClientHasItsConnection(t *testing.T) {
	for mode, same := range map[string]bool{"transaction": false, "session": true} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := newPooler(t, mode)
			// Each client of two takes the connection that the other one has released last, unless it has its own.
			const pid = "SELECT pg_backend_pid()"
			first := exec.CommandContext(t.Context(), filepath.Join(p.programs, "psql"), "-XqtAw", p.connection("app", "first", "app")) //nolint:gosec // of this test
			first.Stdin = strings.NewReader(pid + ";\n\\! psql -XqtAw \"" + p.connection("app", "first", "app") + "\" -c '" + pid + "'\n")
			first.Env = append(os.Environ(), "PATH="+p.programs+":"+os.Getenv("PATH"))
			output, err := first.CombinedOutput()
			pids := strings.Fields(string(output))
			if err != nil || len(pids) != 2 || (pids[0] != pids[1]) != same {
				t.Errorf("the servers of two clients: %q (%v), want others: %v", pids, err, same)
			}
		})
	}
}

// paused is the context of the actions, for a pooler whose address and server are those of this test.
const paused = `
import subprocess, sys
import common, pausing
pausing.addresses = lambda: ["127.0.0.1"]
pausing.PORT = int(sys.argv[1])
pausing.negotiate = lambda host, **settings: common.negotiate("localhost", **settings)
with pausing.paused("localhost"):
    subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL)
`

// restart restarts the server, with or without a pause, while clients of the pooler write. It returns what the clients report.
func (p *pooler) restart(withPause bool) string {
	p.t.Helper()
	before := p.ask("app", "SELECT count(*) FROM public.orders")
	write := filepath.Join(p.folder, "write.sql")
	if err := os.WriteFile(write, []byte("BEGIN;\nINSERT INTO public.orders VALUES (1);\nSELECT pg_sleep(0.002);\nCOMMIT;\n"), 0o644); err != nil { //nolint:gosec // of this test
		p.t.Fatal(err)
	}
	load := exec.CommandContext(p.t.Context(), filepath.Join(p.programs, "pgbench"), "-n", "-c", "8", "-t", "1500", "-f", write, p.connection("app", "first", "app")) //nolint:gosec // of this test
	var said safe
	load.Stdout, load.Stderr = &said, &said
	if err := load.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.until("clients write", func() bool { return p.ask("app", "SELECT count(*) >= 500 + "+before+" FROM public.orders") == "t" })
	words := []string{filepath.Join(p.programs, "pg_ctl"), "-D", filepath.Join(p.certified.folder, "data"), "-w", "-m", "fast", "-l", filepath.Join(p.certified.folder, "log-data"), "restart"}
	command := p.python(append([]string{"-c", paused, p.port}, words...)...)
	command.Dir = filepath.Join(p.folder, "scripts")
	command.Env = append(command.Env, "DBC_DATA_DIR=/nonexistent", "DBC_CLUSTER=orders", "DBC_NAMESPACE=shop", "DBC_TLS_MODE=Require", "DBC_TLS_DIR="+filepath.Join(p.folder, "tls"))
	if withPause {
		output, err := command.CombinedOutput()
		p.t.Logf("%s", output)
		if err != nil || !strings.Contains(string(output), "Paused 1 of 1 poolers") || !strings.Contains(string(output), "Resumed the poolers") {
			p.t.Error(err)
		}
	} else {
		p.do("", words...)
	}
	_ = load.Wait() // clients that lose their connection make it fail
	return said.String()
}

func TestClientsOfAPoolerSeeNoErrorWhileTheServerRestarts(t *testing.T) {
	t.Parallel()
	p := newPooler(t, "transaction")
	p.restart(true)
	before := p.ask("app", "SELECT count(*) FROM public.orders")
	if got := p.restart(true); !strings.Contains(got, "number of transactions actually processed: 12000/12000") || !strings.Contains(got, "number of failed transactions: 0 ") {
		t.Error(got)
	}
	p.expect("app", "SELECT count(*) - "+before+" FROM public.orders", "12000")
	// The pause is the cause of that.
	if got := p.restart(false); !strings.Contains(got, "aborted") {
		t.Errorf("without a pause: %s", got)
	}
}

func TestAPauseEndsAlthoughItsClientHasDisappeared(t *testing.T) {
	t.Parallel()
	p := newPooler(t, "transaction", "LONGEST_PAUSE = 30", "LONGEST_PAUSE = 2")
	p.logsIn("app", "first")
	if got := p.console("PAUSE"); got != "" {
		t.Fatal(got)
	}
	p.logsIn("app", "first") // after the pause
	if !strings.Contains(p.logs.String(), "A pause ended after 2 seconds") {
		t.Error("the pause was not ended by the pooler")
	}
	if got := p.answer(); got != "ready" {
		t.Errorf("after the pause it is %s", got)
	}
}

func TestAPoolerThatStopsLetsTransactionsEnd(t *testing.T) {
	t.Parallel()
	p := newPooler(t, "transaction", "LEAVING, GOING, ENDING = 4, 25, 25", "LEAVING, GOING, ENDING = 0.5, 0.5, 25")
	ended := make(chan string, 1)
	go func() {
		ended <- p.through("app", "first", "app", "BEGIN; SELECT pg_sleep(4); INSERT INTO public.orders VALUES (7); COMMIT; SELECT 'committed'")
	}()
	p.until("the transaction runs", func() bool {
		return p.ask("postgres", "SELECT count(*) FROM pg_stat_activity WHERE usename = 'app' AND wait_event = 'PgSleep'") == "1"
	})
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := <-ended; !strings.Contains(got, "committed") {
		t.Errorf("the transaction ended with %s", got)
	}
	if err := p.command.Wait(); err != nil {
		t.Errorf("%v: %s", err, p.logs.String())
	}
}

func TestTheRoleOfPoolersIsPutRightAndARunThatFindsItRightWritesNothing(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "postgresql-v1")
	d.accounts("postgres")
	d.ask("postgres", "CREATE ROLE app LOGIN PASSWORD 'x'; CREATE ROLE boss SUPERUSER LOGIN PASSWORD 'x'")
	const facts = `SELECT rolsuper, rolcanlogin, rolinherit, rolconnlimit, (SELECT count(*) FROM pg_auth_members WHERE r.oid IN (roleid, member)),
		(SELECT proacl FROM pg_proc WHERE proname = 'login' AND pronamespace = 'dbc_pooler'::regnamespace),
		(SELECT string_agg(name, ' ') FROM pg_roles, dbc_pooler.login(rolname))
		FROM pg_roles r WHERE rolname = 'dbc_pooler'`
	const right = "f|t|f|300|0|{postgres=X/postgres,dbc_pooler=X/postgres}|app"
	d.expect("postgres", facts, right)
	for _, change := range []string{
		"ALTER ROLE dbc_pooler SUPERUSER NOLOGIN INHERIT CONNECTION LIMIT 1", "GRANT boss TO dbc_pooler", "GRANT dbc_pooler TO app", "GRANT EXECUTE ON FUNCTION dbc_pooler.login(name) TO app WITH GRANT OPTION",
		"CREATE OR REPLACE FUNCTION dbc_pooler.login(wanted name, OUT name text, OUT password text) RETURNS SETOF record LANGUAGE sql AS 'SELECT rolname::text, rolpassword FROM pg_authid WHERE rolpassword IS NOT NULL'",
		"DROP FUNCTION dbc_pooler.login(name)", "DROP SCHEMA dbc_pooler CASCADE", "ALTER SCHEMA dbc_pooler OWNER TO app",
		"ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO app; DROP SCHEMA dbc_pooler CASCADE", "DROP SCHEMA dbc_pooler CASCADE; REVOKE ALL ON DATABASE postgres FROM dbc_pooler; DROP ROLE dbc_pooler",
	} {
		d.ask("postgres", change)
		d.accounts("postgres")
		d.expect("postgres", facts, right)
	}
	before := d.ask("postgres", "SELECT pg_snapshot_xmax(pg_current_snapshot())")
	d.accounts("postgres")
	d.expect("postgres", "SELECT pg_snapshot_xmax(pg_current_snapshot())", before)
	for user, statement := range map[string]string{"app": "SELECT * FROM dbc_pooler.login('app')", "dbc_pooler": "SELECT rolpassword FROM pg_authid"} {
		if got := d.ask("postgres", "SET ROLE "+user+"; "+statement); !strings.Contains(got, "permission denied") {
			t.Errorf("%s: %s", user, got)
		}
	}
	if got := d.apply(nil, []object{login("dbc_pooler")})["u-dbc_pooler"]; got != "Refused name: dbc_pooler is reserved; choose another name" {
		t.Errorf("a user of this name: %s", got)
	}
}
