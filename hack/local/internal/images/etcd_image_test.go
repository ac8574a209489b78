//go:build image && linux

package images

import (
	"strings"
	"syscall"
	"testing"
)

func TestEtcdKeepsItsKeysInTheVolumeAcrossAStopAsAnyUser(t *testing.T) {
	for _, user := range []string{"999", "1000700000"} {
		data := volume(t)
		options := start{server: etcdServer, user: user, args: []string{
			"etcd", "--data-dir=/var/lib/database/etcd", "--listen-client-urls=http://127.0.0.1:2379", "--advertise-client-urls=http://127.0.0.1:2379",
			"--listen-peer-urls=http://127.0.0.1:2380", "--initial-advertise-peer-urls=http://127.0.0.1:2380", "--initial-cluster=default=http://127.0.0.1:2380",
		}}
		first := options.on(t, data).ready()
		if output, err := first.exec("etcdctl", "put", "kept", "42"); err != nil {
			t.Fatalf("user %s: %v, %s", user, err, output)
		}
		first.stop(syscall.SIGTERM)
		second := options.on(t, data).ready()
		if output, err := second.exec("etcdctl", "get", "kept", "--print-value-only"); err != nil || output != "42" {
			t.Errorf("user %s: %v, the value is %q, want 42", user, err, output)
		}
		second.stop(syscall.SIGTERM)
		assertHolds(t, data, "etcd")
	}
}

func TestProgramsThatScriptsOfEtcdUseAreOnThePath(t *testing.T) {
	for _, c := range [][]string{
		{"3.5.16", "etcd", "--version"}, {"3.5.16", "etcdctl", "version"}, {"3.5.16", "etcdutl", "version"},
		{"8 ok", "perl", "-MPOSIX", "-MSocket", "-e", "print length(pack 'q', 0), ' ok'"}, {"", "timeout", "5", "date", "+%s%3N"},
		{"root:x:0:0", "getent", "passwd", "0"}, {"a,b", "sh", "-c", "printf 'x\\na 1\\nb 2\\n' | sed 1d | awk '{print $1}' | paste -sd, -"},
	} {
		if output := inside(t, etcdServer, c[1:]...); !strings.Contains(output, c[0]) {
			t.Errorf("%q prints %q, want %q", c[1:], output, c[0])
		}
	}
}
