/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
)

// start runs the script start of an engine with a Secret and a program of the image, and returns what it prints.
func start(t *testing.T, name string, secret, image map[string]string, environment ...string) string {
	t.Helper()
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	write(t, in("scripts"), scripts(t, name, in("scripts")))
	write(t, in("secrets"), secret)
	write(t, in("bin"), image)
	command := exec.CommandContext(t.Context(), in("scripts/start"))
	command.Env = append([]string{
		"PATH=" + in("bin") + ":" + os.Getenv("PATH"), "DBC_SECRETS_DIR=" + in("secrets"), "DBC_DATA_DIR=" + folder, "PGDATA=" + in("data"),
	}, environment...)
	output, _ := command.CombinedOutput()
	return string(output)
}

// scripts returns the scripts of an engine for this folder.
func scripts(t *testing.T, name, folder string) map[string]string {
	t.Helper()
	declared, all := &dbv1.DatabaseEngine{}, map[string]string{}
	text, err := os.ReadFile(name + ".yaml")
	if err := errors.Join(err, yaml.Unmarshal(text, declared)); err != nil {
		t.Fatal(err)
	}
	for script, text := range declared.Spec.Scripts {
		all[script] = strings.ReplaceAll(string(text), "/dbc/scripts", folder)
	}
	return all
}

func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	err := os.Mkdir(folder, 0o700)
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o700)) //nolint:gosec // programs
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestRedisAcceptsThePasswordsOfARotationAndNoOtherKeys(t *testing.T) {
	secret := map[string]string{
		"password": `a "quoted" \ one` + "\n\n", "password.0a1b2c3d": "next", "password.0a1b2c3d.previous": "last",
		"password-of-grafana": "x", "password.old": "x", "password.previous": "x", "password.0a1b2c3d4": "x", "password.0A1B2C3D": "x",
		"password.0a1b2c3d.former": "x", "password.0a1b2c3d.previous.1": "x",
	}
	server := map[string]string{"redis-server": "#!/bin/sh\ngrep -q '^aclfile .*/users.acl' && cat users.acl\n"}
	got := start(t, "redis-single-v1", secret, server, "DBC_PORT=6379", "DBC_PARAM_APPENDONLY=yes", "DBC_PARAM_APPENDFSYNC=always",
		"DBC_PARAM_MAXMEMORY=0", "DBC_PARAM_MAXMEMORY_POLICY=noeviction", "DBC_PARAM_SAVE=")
	want := "user default reset on ~* &* +@all"
	for _, password := range []string{`a "quoted" \ one`, "next", "last"} {
		want += fmt.Sprintf(" #%x", sha256.Sum256([]byte(password)))
	}
	want += "\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestPostgreSQLRefusesAnOwnerThatItReserves(t *testing.T) {
	secret := map[string]string{"password": "x", "owner-password": "y", "pooler-password": "z"}
	image := map[string]string{"docker-entrypoint.sh": "#!/bin/sh\necho the image starts\n"}
	for owner, want := range map[string]string{
		"app": "the image starts\n", "Public": "the image starts\n",
		"postgres": "the superuser", "pg_app": "reserves", "public": "reserves", "none": "reserves", "dbc_pooler": "reserves",
	} {
		got := start(t, "postgresql-single-v1", secret, image, "DBC_OWNER="+owner)
		if !strings.Contains(got, want) || strings.Contains(got, "starts") != strings.Contains(want, "starts") {
			t.Errorf("owner %s: %s", owner, got)
		}
	}
}

// A server reports for a moment after its start that it votes. A learner refuses the question, and only its promotion ends that.
func TestALearnerOfEtcdIsPromotedBeforeItsPasswordIsChecked(t *testing.T) {
	script := scripts(t, "etcd-v1", "/dbc/scripts")["member"]
	_, rest, found := strings.Cut(script, "\nset_password() {\n")
	body, _, ended := strings.Cut(rest, "\n}\n")
	if !found || !ended {
		t.Fatal("the script member has no function set_password")
	}
	for listed, want := range map[string]string{"/nonexistent": "returned", "/dev/null": "asked again"} {
		program := `loopback=http://127.0.0.1:2382 listed=` + listed + `
ask() { echo 'Error: etcdserver: rpc not supported for learner' >&2; return 1; }
sleep() { echo 'asked again'; exit; }
set_password() {
` + body + `
}
set_password
echo returned`
		output, err := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", program).CombinedOutput()
		if got := strings.TrimSpace(string(output)); got != want {
			t.Errorf("with %s it %s (%v), want %s", listed, got, err, want)
		}
	}
}

func TestTheQuotaOfEtcdIsAtMostHalfOfTheVolume(t *testing.T) {
	_, rest, found := strings.Cut(scripts(t, "etcd-v1", "/dbc/scripts")["common"], "\nquota_bytes() {\n")
	body, _, ended := strings.Cut(rest, "\n}\n")
	if !found || !ended {
		t.Fatal("the script common has no function quota_bytes")
	}
	for _, c := range []struct{ kilobytes, parameter, want string }{
		{"204800", "", "104857600"}, {"1048576", "", "536870912"}, {"4194304", "", "2147483648"}, {"104857600", "", "2147483648"}, {"1048576", "100000000", "100000000"},
	} {
		program := `df() { echo Filesystem; echo "disk ` + c.kilobytes + ` 1 1 1% /data"; }
DBC_DATA_DIR=/data DBC_PARAM_QUOTA_BACKEND_BYTES=` + c.parameter + `
quota_bytes() {
` + body + `
}
quota_bytes`
		output, err := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", program).CombinedOutput()
		if got := strings.TrimSpace(string(output)); got != c.want {
			t.Errorf("a volume of %s KiB with the parameter %q has the quota %s (%v), want %s", c.kilobytes, c.parameter, got, err, c.want)
		}
	}
}

// A server that hangs accepts connections and does not answer. The kubelet kills the probe, and some container runtimes then wait
// for its children.
func TestProbesEndByThemselvesIfTheServerHangs(t *testing.T) {
	server, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	_, port, _ := net.SplitHostPort(server.Addr().String())
	for name, probe := range map[string][]string{"redis-single-v1": {"ready"}, "etcd-v1": {"health", "live"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			in := func(name string) string { return filepath.Join(folder, name) }
			all := scripts(t, name, in("scripts"))
			for script, text := range all {
				all[script] = strings.ReplaceAll(text, "/dev/tcp/127.0.0.1/2381", "/dev/tcp/127.0.0.1/"+port)
			}
			write(t, in("scripts"), all)
			write(t, in("secrets"), map[string]string{"password": "secret"})
			write(t, in("bin"), map[string]string{"redis-cli": "#!/bin/sh\nsleep 60"})
			command := exec.CommandContext(t.Context(), in("scripts/"+probe[0]), probe[1:]...)
			command.Env = append(environment(t, name), "PATH="+in("bin")+":"+os.Getenv("PATH"), "DBC_SECRETS_DIR="+in("secrets"), "DBC_DATA_DIR="+folder, "DBC_PORT="+port)
			start := time.Now()
			output, err := command.CombinedOutput()
			if took := time.Since(start); err == nil || took > 30*time.Second || took < time.Second {
				t.Errorf("it ends after %v: %v %s", took, err, output)
			}
		})
	}
}

// environment are the parameters of an engine as variables.
func environment(t *testing.T, name string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(name + ".yaml")
	declared := &dbv1.DatabaseEngine{}
	if err := errors.Join(err, yaml.Unmarshal(text, declared)); err != nil {
		t.Fatal(err)
	}
	for _, p := range declared.Spec.Parameters {
		all = append(all, engine.Variable(p.Name)+"="+p.Default)
	}
	return all
}
