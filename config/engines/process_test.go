/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stub is the module psycopg2 without a server. With the variable BUSY, a connection creates that file and waits.
var stub = map[string]string{
	"__init__.py": `import os, time
class Error(Exception): pass
class OperationalError(Error): pass
def connect(*_, **__):
    if "BUSY" in os.environ:
        open(os.environ["BUSY"], "w").close()
        time.sleep(60)
    raise OperationalError("no server")
`,
	"extensions.py": "encrypt_password = None\n",
	"sql.py":        "SQL = Identifier = Literal = None\n",
}

// image is a folder like an image, with the scripts of an engine and these programs.
func image(t *testing.T, name string, programs map[string]string, replace ...string) (folder string, environment []string) {
	t.Helper()
	folder = t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	all := scripts(t, name, in("scripts"))
	for script, text := range all {
		all[script] = strings.NewReplacer(append([]string{
			"/var/run/secrets/kubernetes.io/serviceaccount/", in("secrets") + "/", "/tmp/patroni.yml", in("patroni.yml"), "socket.gethostname()", `"localhost"`,
			"/usr/bin/python3", "/usr/bin/env python3",
		}, replace...)...).Replace(text)
	}
	write(t, in("scripts"), all)
	write(t, in("bin"), programs)
	write(t, in("psycopg2"), stub)
	write(t, in("secrets"), map[string]string{
		"namespace": "shop", "password": "secret", "password.previous": "previous", "owner-password": "secret", "replication-password": "secret", "restapi-password": "secret",
		"pooler-password": "secret",
	})
	write(t, in("data"), nil)
	return folder, append(environmentOf(t, name), "PATH="+in("bin")+":"+os.Getenv("PATH"), "PYTHONPATH="+folder, "DBC_SECRETS_DIR="+in("secrets"), "DBC_DATA_DIR="+in("data"),
		"DBC_PORT=1", "DBC_CLUSTER=orders", "DBC_ORDINAL=2", "DBC_REPLICAS=3", "DBC_OWNER=app", "DBC_MEMBER=127.0.0.1", "DBC_MEMBERS=127.0.0.1 127.0.0.1")
}

// environmentOf are the parameters of an engine as variables, and as an object.
func environmentOf(t *testing.T, name string) []string {
	t.Helper()
	all := environment(t, name)
	object := make([]string, 0, len(all))
	for _, variable := range all {
		key, value, _ := strings.Cut(strings.TrimPrefix(variable, "DBC_PARAM_"), "=")
		object = append(object, fmt.Sprintf("%q:%q", strings.ToLower(key), value))
	}
	return append(all, "DBC_PARAMETERS={"+strings.Join(object, ",")+"}")
}

// asProcess1 runs a program as process 1, which receives only signals that it handles. It skips the test where that is not possible.
func asProcess1(t *testing.T, environment []string, program string) *exec.Cmd {
	t.Helper()
	unshare := []string{"unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"}
	if os.Getuid() == 0 {
		unshare = slices.Delete(unshare, 1, 3)
	}
	if output, err := exec.CommandContext(t.Context(), unshare[0], append(slices.Clone(unshare[1:]), "true")...).CombinedOutput(); err != nil { //nolint:gosec // a constant
		t.Skipf("this machine allows no PID namespaces: %s", output)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, unshare[0], append(slices.Clone(unshare[1:]), program)...) //nolint:gosec // a script of an engine
	command.Env = environment
	return command
}

// member runs a member of PostgreSQL as process 1 with this Patroni, and returns its output and exit code.
func member(t *testing.T, patroni string) (output string, code int) {
	t.Helper()
	folder, environment := image(t, "postgresql-v1", map[string]string{"patroni": patroni}, "8009", freePort(t))
	command := asProcess1(t, environment, folder+"/scripts/member")
	text, err := command.CombinedOutput()
	if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
		t.Fatal(err, string(text))
	}
	return string(text), command.ProcessState.ExitCode()
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

func TestAMemberEndsOnSIGTERMAtAnyTime(t *testing.T) {
	for name, c := range map[string]struct {
		patroni, want string
		code          int
	}{
		"while Patroni starts, before it handles signals": {"#!/bin/sh\nkill -TERM 1\nexec sleep 600\n", "", 0},
		"while Patroni runs": {
			"#!/bin/sh\ntrap 'echo the primary is handed over; exit 0' TERM\nkill -TERM 1\nwhile :; do sleep 0.1; done\n", "the primary is handed over\n", 0,
		},
		"with the exit code of Patroni":                   {"#!/bin/sh\nexit 3\n", "", 3},
		"with Patroni that is killed":                     {"#!/bin/sh\nkill -KILL $$\n", "", 137},
		"a reload before Patroni handles it ends nothing": {"#!/bin/sh\nkill -HUP 1\nsleep 1\necho it runs\n", "it runs\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, code := member(t, c.patroni); got != c.want || code != c.code {
				t.Errorf("it ends with %d, want %d: %s", code, c.code, got)
			}
		})
	}
}

func TestProcess1OfAMemberHasTheLockAndCollectsEndedServers(t *testing.T) {
	const patroni = `#!/bin/sh
flock --nonblock "$DBC_DATA_DIR/.lock" true || echo the volume is locked
ls -l /proc/self/fd | grep -c '[.]lock'
(sh -c 'exit 0' &)
sleep 1
grep -l '^State:.Z' /proc/[0-9]*/status | wc -l
`
	got, code := member(t, patroni)
	if want := "the volume is locked\n0\n0\n"; got != want || code != 0 {
		t.Errorf("it ends with %d and prints\n%swant\n%s", code, got, want)
	}
}

// The operator deletes the Job of an action that it no longer needs. The action has to end before Kubernetes kills it after 30 seconds.
func TestTheActionsThatAreProcess1EndOnSIGTERM(t *testing.T) {
	programs := map[string]string{}
	for _, program := range []string{"psql", "pg_isready", "redis-cli", "etcdctl", "initdb"} {
		programs[program] = "#!/bin/sh\ntouch \"$BUSY\"\nexec sleep 3\n"
	}
	for engine, actions := range map[string][]string{
		"postgresql-v1": {"handOver", "configure", "credentials"}, "postgresql-single-v1": {"credentials"}, "redis-single-v1": {"credentials"}, "etcd-v1": {"memberRemove", "credentials"},
	} {
		for _, action := range actions {
			t.Run(engine+" "+action, func(t *testing.T) {
				t.Parallel()
				busy := filepath.Join(t.TempDir(), "busy")
				folder, environment := image(t, engine, programs, ":8008/", ":"+silent(t, busy)+"/")
				command := asProcess1(t, append(environment, "BUSY="+busy), folder+"/scripts/"+action)
				if err := command.Start(); err != nil {
					t.Fatal(err)
				}
				awaitFile(t, busy)
				start := time.Now()
				terminate(t, command.Process.Pid)
				if err := command.Wait(); command.ProcessState.ExitCode() != 143 || time.Since(start) > 10*time.Second {
					t.Errorf("after %v: %v", time.Since(start), err)
				}
			})
		}
	}
}

func awaitFile(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// silent is the port of a server that does not answer. It creates the file when a client has connected.
func silent(t *testing.T, busy string) string {
	t.Helper()
	server, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		if connection, err := server.Accept(); err == nil {
			_ = os.WriteFile(busy, nil, 0o600)
			<-t.Context().Done()
			_ = connection.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(server.Addr().String())
	return port
}

// terminate sends SIGTERM to process 1 in the namespace of unshare, as the kubelet does.
func terminate(t *testing.T, unshare int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", unshare, unshare))
	child, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if err := errors.Join(err, syscall.Kill(child, syscall.SIGTERM)); err != nil {
		t.Fatal(err)
	}
}
