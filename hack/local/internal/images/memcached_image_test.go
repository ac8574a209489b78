//go:build image && linux

package images

import (
	"syscall"
	"testing"
)

// ask is a probe: it sends one command to memcached, and prints the first line of the answer.
const ask = `exec 3<>/dev/tcp/127.0.0.1/11211 && printf '%b\r\n' "$1" >&3 && read -r -t 5 answer <&3 && printf '%s' "${answer%$'\r'}"`

func TestMemcachedAnswersAProbeWithoutAnotherToolAsAnyUser(t *testing.T) {
	for _, user := range []string{"999", "1000700000"} {
		server := start{server: memcachedServer, user: user}.on(t, volume(t)).ready()
		for command, want := range map[string]string{"version": "VERSION 1.6.38", `set note 0 0 2\r\n42`: "STORED"} {
			if got, err := server.exec("bash", "-c", ask, "probe", command); err != nil || got != want {
				t.Errorf("user %s: %q gets %q (%v), want %q", user, command, got, err, want)
			}
		}
		if code := server.stop(syscall.SIGTERM); code != 0 {
			t.Errorf("user %s: exit code %d, want 0; it said:\n%s", user, code, server.logs)
		}
	}
}
