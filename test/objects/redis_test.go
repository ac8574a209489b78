//go:build objects

/*
SPDX-License-Identifier: Apache-2.0
*/

package objects

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

const redisPort = "6379"

// redis is a server of the engine redis-single-v1.
type redis struct {
	*home
	variables, arguments []string
}

// startRedis starts a server on an address of its own, with these arguments of spec.container.args.
func startRedis(t *testing.T, tls bool, arguments ...string) *redis {
	t.Helper()
	address := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(250), 2+rand.IntN(250)) //nolint:gosec // any of them
	programs := map[string]string{"redis-server": "DBC_REDIS_SERVER", "redis-cli": "DBC_REDIS_CLI"}
	r := &redis{home: newHome(t, "redis-single-v1", address, programs), arguments: arguments}
	r.must("sed", "-i", "s|bind [*] -::[*]|bind "+address+"|; s|/tmp/users.acl|"+r.in("users.acl")+"|", r.in("scripts/start"))
	r.variables = r.environment("redis-single-v1", redisPort)
	if tls {
		r.certify()
	}
	r.start()
	return r
}

// certify gives the server a certificate. The server is on loopback, where clients do not verify it.
func (r *redis) certify() {
	r.Helper()
	if err := os.Mkdir(r.in("tls"), 0o700); err != nil {
		r.Fatal(err)
	}
	r.must("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=orders", "-addext", "subjectAltName=IP:"+r.address,
		"-keyout", r.in("tls/tls.key"), "-out", r.in("tls/tls.crt"))
	r.must("cp", r.in("tls/tls.crt"), r.in("tls/ca.crt"))
	r.variables = append(r.variables, "DBC_TLS_MODE=Require", "DBC_TLS_DIR="+r.in("tls"))
}

func (r *redis) action(name string) *exec.Cmd {
	command := exec.CommandContext(r.Context(), r.in("scripts/"+name)) //nolint:gosec // of the engine
	command.Env = slices.Clone(r.variables)
	return command
}

func (r *redis) start() {
	r.Helper()
	command := exec.Command(r.in("scripts/start"), r.arguments...) //nolint:gosec // it ends with the test
	command.Env = r.variables
	r.serve(command)
	for deadline := time.Now().Add(30 * time.Second); r.said("default", "secret", "PING") != "PONG"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.Fatalf("the server does not answer\n%s", r.log())
		}
	}
}

func (r *redis) restart() {
	r.Helper()
	r.kill()
	r.start()
}

// said is the answer to a command.
func (r *redis) said(user, password string, words ...string) string {
	arguments := []string{"-h", r.address, "-p", redisPort, "--user", user}
	if slices.Contains(r.variables, "DBC_TLS_MODE=Require") {
		arguments = append(arguments, "--tls", "--cacert", r.in("tls/ca.crt"))
	}
	command := exec.CommandContext(r.Context(), r.in("bin/redis-cli"), append(arguments, words...)...) //nolint:gosec // of this test
	command.Env = append(os.Environ(), "REDISCLI_AUTH="+password)
	text, err := command.CombinedOutput()
	if err != nil {
		return "ERR " + err.Error() + string(text)
	}
	return strings.TrimSpace(string(text))
}

// admin runs a command as an administrator.
func (r *redis) admin(words ...string) string {
	r.Helper()
	said := r.said("default", "secret", words...)
	if strings.HasPrefix(said, "ERR") || strings.HasPrefix(said, "NO") {
		r.Fatalf("%v: %s", words, said)
	}
	return said
}

func (r *redis) try(user, password, what, key string) error {
	words := map[string][]string{"login": {"PING"}, "read": {"GET", key}, "write": {"SET", key, "1"}}[what]
	said := r.said(user, password, words...)
	for _, refusal := range []string{"AUTH failed", "NOPERM", "NOAUTH", "ERR"} {
		if strings.Contains(said, refusal) {
			return fmt.Errorf("%s", said)
		}
	}
	return nil
}

// glob escapes what has a meaning in a pattern, and replaces what a pattern cannot have.
var glob = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, `"`, "?", "'", "?")

func (r *redis) area(beginning, privileges string) grant {
	return grant{glob.Replace(beginning) + "*", privileges}
}

func (r *redis) state() string {
	r.Helper()
	about, err := os.Stat(r.in("data/users.acl"))
	if err != nil {
		r.Fatal(err)
	}
	return r.admin("ACL", "LIST") + about.ModTime().String()
}

func (r *redis) create(name, password string) {
	r.Helper()
	r.admin("ACL", "SETUSER", name, "on", ">"+password, "+info", "~by-hand:*", "+get")
}

func (r *redis) change(name, password string) {
	r.Helper()
	r.admin("ACL", "SETUSER", name, "resetpass", ">"+password)
}
