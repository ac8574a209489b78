//go:build objects && metrics

/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheExporterOfRedisReadsStatisticsAndNoKeys(t *testing.T) {
	folder, environment := image(t, "redis-single-v1", nil)
	for name, text := range map[string]string{"metrics-password": "of the exporter", "password": "secret"} {
		if err := os.WriteFile(filepath.Join(folder, "secrets", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(folder, "secrets", "password.previous")); err != nil {
		t.Fatal(err)
	}
	o := &observed{database: &database{t: t, folder: folder}, exporter: freePort(t)}
	port := freePort(t)
	environment = append(environment, "DBC_PORT="+port, "DBC_METRICS_PORT="+o.exporter, "DBC_MEMBERS=127.0.0.1")
	run := func(script string) {
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(folder, "scripts", script)) //nolint:gosec // of the engine
		cmd.Env = environment
		o.run(cmd)
	}
	run("start")
	run("exporter")
	ask := func(user, password string, words ...string) string {
		cmd := exec.CommandContext(t.Context(), "redis-cli", append([]string{"-p", port, "--user", user, "--no-auth-warning"}, words...)...) //nolint:gosec // these words
		cmd.Env = append(os.Environ(), "REDISCLI_AUTH="+password)
		said, _ := cmd.CombinedOutput() // a test compares the error
		return strings.TrimSpace(string(said))
	}
	load := func() {
		ask("default", "secret", "set", "orders", "one")
		ask("default", "secret", "incr", "orders") // fails
	}
	o.until("statistics", load, func() bool {
		page := o.page()
		return strings.Contains(page, "\nredis_up 1\n") && strings.Contains(page, `redis_commands_failed_calls_total{cmd="incr"}`) &&
			strings.Contains(page, "\nredis_max_clients ") && strings.Contains(page, `redis_commands_duration_seconds_total{cmd="set"}`)
	})
	for _, words := range [][]string{{"get", "orders"}, {"keys", "*"}, {"config", "get", "*"}, {"acl", "list"}, {"set", "orders", "two"}, {"monitor"}} {
		if got := ask("dbc-metrics", "of the exporter", words...); !strings.HasPrefix(got, "NOPERM") {
			t.Errorf("%v: %s", words, got)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "secrets", "metrics-password"), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	credentials := exec.CommandContext(t.Context(), filepath.Join(folder, "scripts", "credentials")) //nolint:gosec // of the engine
	credentials.Env = environment
	if said, err := credentials.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if first, second := ask("dbc-metrics", "of the exporter", "ping"), ask("dbc-metrics", "another", "ping"); second != "PONG" || first == "PONG" {
		t.Errorf("after a rotation: the previous password %s, the next %s", first, second)
	}
	if got := ask("default", "secret", "get", "orders"); got != "one" {
		t.Errorf("the user default: %s", got)
	}
}
