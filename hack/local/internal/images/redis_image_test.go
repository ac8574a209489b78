//go:build image && linux

package images

import (
	"strings"
	"syscall"
	"testing"
)

func TestRedisKeepsItsDataInTheVolumeAcrossAStop(t *testing.T) {
	data := volume(t)
	options := start{
		server: redisServer,
		env:    []string{"REDISCLI_AUTH=secret"},
		args:   []string{"--requirepass", "secret", "--appendonly", "yes"},
	}
	first := options.on(t, data).ready()
	first.redis("set", "kept", "42")
	if code := first.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d, want 0; it said:\n%s", code, first.logs)
	}
	if got := options.on(t, data).ready().redis("get", "kept"); got != "42" {
		t.Errorf("the answer is %q, want 42", got)
	}
	assertHolds(t, data, "appendonlydir", "dump.rdb")
}

func TestRedisWithoutArgumentsTakesAnybodyAndWritesSnapshotsOnAStop(t *testing.T) {
	data := volume(t)
	first := start{server: redisServer}.on(t, data).ready()
	if got := first.redis("config", "get", "protected-mode"); got != "protected-mode\nno" {
		t.Errorf("it says %q, want that protected mode is off", got)
	}
	first.redis("set", "kept", "42")
	first.stop(syscall.SIGTERM)
	assertHolds(t, data, "dump.rdb")
}

func TestRedisRunsAsAnUnknownUserNumber(t *testing.T) {
	data := volume(t)
	options := start{server: redisServer, user: "1000700000"}
	first := options.on(t, data).ready()
	first.redis("set", "kept", "42")
	first.stop(syscall.SIGTERM)
	if got := options.on(t, data).ready().redis("get", "kept"); got != "42" {
		t.Errorf("the answer is %q, want 42", got)
	}
}

func TestASnapshotOfRedisCanBeStreamedAndChecked(t *testing.T) {
	server := start{server: redisServer}.on(t, volume(t)).ready()
	server.redis("set", "kept", "42")
	output, err := server.exec("sh", "-c", "redis-cli --rdb - > /data/copy.rdb && redis-check-rdb /data/copy.rdb")
	if err != nil || !strings.Contains(output, "RDB looks OK") {
		t.Errorf("%v: %s", err, output)
	}
}

// redis runs a command of redis-cli, which finds the password in the container's environment.
func (p *pod) redis(arguments ...string) string {
	p.t.Helper()
	output, err := p.exec(append([]string{"redis-cli", "-e"}, arguments...)...)
	if err != nil {
		p.t.Fatalf("%q: %v: %s\nthe server said:\n%s", arguments, err, output, p.logs)
	}
	return output
}
