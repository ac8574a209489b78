//go:build image && linux

package images

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var withPassword = start{env: []string{"POSTGRES_PASSWORD=secret"}}

func TestTheFirstStartMakesADatabaseThatAsksForThePassword(t *testing.T) {
	server := withPassword.on(t, volume(t)).ready()
	if _, err := server.exec("env", "PGPASSWORD=wrong", "psql", "-h", "127.0.0.1", "-U", "postgres", "-c", "select 1"); err == nil {
		t.Error("a wrong password was taken")
	}
	output, err := server.exec("env", "PGPASSWORD=secret", "psql", "-h", "127.0.0.1", "-U", "postgres", "-Atc", "show server_encoding")
	if err != nil || output != "UTF8" {
		t.Errorf("with the password: %v, %q, want UTF8", err, output)
	}
	if got := server.query("show listen_addresses", "-U", "postgres"); got != "*" {
		t.Errorf("listen_addresses is %q, want *", got)
	}
}

func TestASecondStartKeepsTheData(t *testing.T) {
	data := volume(t)
	first := withPassword.on(t, data).ready()
	first.query("create table kept as select 42 as answer", "-U", "postgres")
	first.stop(syscall.SIGINT)

	second := start{}.on(t, data).ready()
	if got := second.query("select answer from kept", "-U", "postgres"); got != "42" {
		t.Errorf("the answer is %q, want 42", got)
	}
	if strings.Contains(second.logs.String(), "not properly shut down") {
		t.Errorf("the first stop was no clean one:\n%s", second.logs)
	}
	assertHolds(t, data, "pgdata")
}

func TestThePasswordMayComeFromAFile(t *testing.T) {
	data := volume(t)
	if err := os.WriteFile(filepath.Join(data, "password"), []byte("from $file\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	server := start{env: []string{"POSTGRES_PASSWORD_FILE=/var/lib/database/password"}}.on(t, data).ready()
	if output, err := server.exec("env", "PGPASSWORD=from $file", "psql", "-h", "::1", "-U", "postgres", "-c", "select 1"); err != nil {
		t.Errorf("the password of the file is not taken: %s", output)
	}
}

func TestTrustNeedsNoPassword(t *testing.T) {
	server := start{env: []string{"POSTGRES_HOST_AUTH_METHOD=trust"}}.on(t, volume(t)).ready()
	if output, err := server.exec("psql", "-h", "127.0.0.1", "-U", "postgres", "-c", "select 1"); err != nil {
		t.Errorf("a connection without a password was refused: %s", output)
	}
}

func TestUserAndDatabaseMayHaveUnusualNames(t *testing.T) {
	const user, database = "Order Clerk-1", `we "quote" it; drop`
	server := start{env: []string{"POSTGRES_PASSWORD=secret", "POSTGRES_USER=" + user, "POSTGRES_DB=" + database}}.on(t, volume(t)).ready()
	got := server.query("select current_user || '|' || current_database()", "-U", user, "-d", database)
	if want := user + "|" + database; got != want {
		t.Errorf("connected as %q, want %q", got, want)
	}
}

func TestTheDatabaseIsNamedAfterTheUserByDefault(t *testing.T) {
	server := start{env: []string{"POSTGRES_PASSWORD=secret", "POSTGRES_USER=orders"}}.on(t, volume(t)).ready()
	if got := server.query("select current_database()", "-U", "orders"); got != "orders" {
		t.Errorf("the database is %q, want orders", got)
	}
}

func TestPortArgumentsAndInitdbArgumentsReachPostgreSQL(t *testing.T) {
	options := start{
		env:  []string{"POSTGRES_PASSWORD=secret", "PGPORT=9000", "POSTGRES_INITDB_ARGS=--data-checksums --wal-segsize=1"},
		args: []string{"-c", "max_connections=17"},
	}
	server := options.on(t, volume(t)).ready()
	for setting, want := range map[string]string{"port": "9000", "data_checksums": "on", "wal_segment_size": "1MB", "max_connections": "17"} {
		if got := server.query("show "+setting, "-U", "postgres"); got != want {
			t.Errorf("%s is %q, want %q", setting, got, want)
		}
	}
}

func TestAnUnknownUserNumberWorks(t *testing.T) {
	data := volume(t)
	options := start{user: "1000700000", env: []string{"POSTGRES_PASSWORD=secret", "POSTGRES_DB=orders"}}
	server := options.on(t, data).ready()
	if got := server.query("select current_database()", "-U", "postgres", "-d", "orders"); got != "orders" {
		t.Errorf("the database is %q, want orders", got)
	}
	server.stop(syscall.SIGINT)
	options.on(t, data).ready()
	assertHolds(t, data, "pgdata")
}

func TestGroupRightsThatAVolumeAddsAreTakenAway(t *testing.T) {
	data := volume(t)
	withPassword.on(t, data).ready().stop(syscall.SIGINT)
	if err := os.Chmod(filepath.Join(data, "pgdata"), os.ModeSetgid|0o770); err != nil {
		t.Fatal(err)
	}
	withPassword.on(t, data).ready()
}

func TestAStopIsCleanWhateverTheSignalAndWhoeverIsConnected(t *testing.T) {
	data := volume(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		server := withPassword.on(t, data).ready()
		if signal == syscall.SIGINT {
			go func() { _, _ = server.exec("psql", "-U", "postgres", "-c", "select pg_sleep(600)") }()
			waitFor(t, func() bool {
				return server.query("select count(*) from pg_stat_activity where query like '%sleep(600)'", "-U", "postgres") != "0"
			})
		}
		if code := server.stop(signal); code != 0 {
			t.Errorf("%s: exit code %d, want 0", signal, code)
		}
		if said := server.logs.String(); !strings.Contains(said, "database system is shut down") || strings.Contains(said, "not properly") {
			t.Errorf("%s: no clean shutdown:\n%s", signal, said)
		}
	}
}

// A kill can hit any moment of a first start: each must leave nothing or a whole database.
func TestAFirstStartThatIsKilledIsRepeated(t *testing.T) {
	cut := 0
	for delay := 20 * time.Millisecond; delay < 3*time.Second; delay = delay * 3 / 2 {
		data := volume(t)
		options := start{env: []string{"POSTGRES_PASSWORD=secret", "POSTGRES_DB=orders"}}
		first := options.on(t, data)
		time.Sleep(delay)
		first.kill()
		if _, err := os.Stat(filepath.Join(data, "pgdata.tmp")); err == nil {
			cut++
		}
		second := options.on(t, data).ready()
		if got := second.query("select current_database()", "-U", "postgres", "-d", "orders"); got != "orders" {
			t.Errorf("killed after %s: the database is %q, want orders", delay, got)
		}
		second.kill()
		assertHolds(t, data, "pgdata")
	}
	if cut < 3 {
		t.Errorf("only %d kills hit a first start in its middle: the delays need a change", cut)
	}
}

func TestAStopDuringTheFirstStartIsObeyed(t *testing.T) {
	data := volume(t)
	first := withPassword.on(t, data)
	waitFor(t, func() bool { _, err := os.Stat(filepath.Join(data, "pgdata.tmp", "data", "base")); return err == nil })
	if code := first.stop(syscall.SIGINT); code == 0 {
		t.Errorf("exit code 0 says that a server ended well; it said:\n%s", first.logs)
	}
	withPassword.on(t, data).ready()
}

func TestAFailedFirstStartLeavesNoDatabase(t *testing.T) {
	for _, env := range []string{"POSTGRES_INITDB_ARGS=--no-such-option", "POSTGRES_DB=template1"} {
		data := volume(t)
		failing := start{env: []string{"POSTGRES_PASSWORD=secret", env}}.on(t, data)
		if code := failing.exitCode(); code == 0 {
			t.Errorf("%s: exit code 0, want a failure; it said:\n%s", env, failing.logs)
		}
		if _, err := os.Stat(filepath.Join(data, "pgdata")); err == nil {
			t.Errorf("%s: a database was made all the same", env)
		}
	}
}

func TestTheVolumeItselfIsRefusedAsDataFolder(t *testing.T) {
	data := volume(t)
	server := start{env: []string{"POSTGRES_PASSWORD=secret", "PGDATA=/var/lib/database"}}.on(t, data)
	if code := server.exitCode(); code != 1 || !strings.Contains(server.logs.String(), "name a folder inside it") {
		t.Errorf("exit code %d, and it says %q", code, server.logs)
	}
	assertHolds(t, data)
}

func TestToolsAreOnThePath(t *testing.T) {
	server := withPassword.on(t, volume(t)).ready()
	for _, tool := range []string{"psql", "pg_isready", "pg_basebackup", "pg_dump", "pg_restore", "pg_ctl", "pg_controldata", "pg_rewind", "pg_verifybackup"} {
		if output, err := server.exec(tool, "--version"); err != nil || !strings.Contains(output, "15.") {
			t.Errorf("%s --version: %v, %q", tool, err, output)
		}
	}
	if output, err := server.exec("sh", "-c", "pg_dump -U postgres | zstd | zstd -d | grep -c dump"); err != nil || output == "0" {
		t.Errorf("a dump through zstd: %v, %q", err, output)
	}
}

func TestTheSameImageUnderAnotherNameHasTheSameDigest(t *testing.T) {
	digests := map[string]bool{}
	for _, reference := range []string{"localhost/postgresql:15", "example.org/other:name"} {
		dest := filepath.Join(t.TempDir(), "image.tar")
		if err := postgreSQL.write(t.Context(), Options{Dest: dest, Reference: reference}); err != nil {
			t.Fatal(err)
		}
		digests[digestOf(t, load(t, dest))] = true
	}
	if len(digests) != 1 {
		t.Errorf("digests are %v, want one", digests)
	}
}

func TestNothingOfTheBuildingMachineIsInAnImage(t *testing.T) {
	for _, server := range servers {
		server.unpack(t)
		for _, path := range []string{"etc/resolv.conf", "etc/hostname", "etc/machine-id", "etc/apt/sources.list", "etc/ssl/private"} {
			if _, err := os.Lstat(filepath.Join(server.root, path)); err == nil {
				t.Errorf("the image holds /%s", path)
			}
		}
	}
}

func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("what the test waits for did not come in 30 s")
		}
	}
}
