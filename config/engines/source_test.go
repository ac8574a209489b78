/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"os/exec"
	"slices"
	"testing"
)

func TestABackupHasEverythingThatThePrimaryHadBefore(t *testing.T) {
	const program = `
import types, common
common.psycopg2.Error = type("Error", (Exception,), {})
now = 0

def sleep(seconds):
    global now
    now += seconds

def server(host):
    return types.SimpleNamespace(info=types.SimpleNamespace(host=host))

def connect(host):
    if failure:
        raise failure
    return server(host)

def query(connection, statement, *values):
    if connection.info.host == "orders-0":
        return [("0/3000060", 2)]
    if now >= until:
        return [()]
    return []

common.time = types.SimpleNamespace(sleep=sleep, monotonic=lambda: now)
common.primary, common.connect, common.query = lambda: server("orders-0"), connect, query
for member, until, failure in (("orders-1", 0, None), ("orders-1", 30, None), ("orders-1", 61, None), ("orders-0", 61, None),
                               ("orders-1", 0, SystemExit(11)), ("orders-1", 0, common.psycopg2.Error("terminated")),
                               ("orders-1", 0, SystemExit(143)), ("orders-1", 0, SystemExit(20))):
    now = 0
    common.env["DBC_MEMBER"] = member
    try:
        print(common.source().info.host, now)
    except SystemExit as end:
        print("exit", end.code)`
	const want = `orders-1 0
orders-1 30.0
orders-1 does not have the latest data: reading orders-0, the primary.
orders-0 60.0
orders-0 0
orders-1 does not have the latest data: reading orders-0, the primary.
orders-0 0
orders-1: terminated
orders-1 does not have the latest data: reading orders-0, the primary.
orders-0 0
exit 143
exit 20
`
	if got := python(t, "3", nil, "import sys\nsys.stdout.reconfigure(line_buffering=True)\n"+program); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A snapshot and a hash are of the local state of a server, which may be partitioned from the majority. A linearizable read is not.
func TestABackupOfEtcdBeginsWithALinearizableRead(t *testing.T) {
	for majority, want := range map[string]string{
		"0": "--dial-timeout=2s --command-timeout=60s get / --limit=1 --keys-only\n--dial-timeout=2s snapshot save\nthe data",
		"1": "--dial-timeout=2s --command-timeout=60s get / --limit=1 --keys-only\nError: timed out\nthe server 127.0.0.1 does not reach a majority\n",
	} {
		folder, variables := image(t, "etcd-v1", map[string]string{"etcdctl": `#!/bin/sh
echo "${*% /tmp/*}" >> "$DBC_DATA_DIR/asked"
case $* in
*' get '*) [ "$MAJORITY" = 0 ] || { echo 'Error: timed out' >&2; exit 1; } ;;
*) for last; do :; done; printf 'the data' > "$last" ;;
esac
`})
		command := exec.CommandContext(t.Context(), "sh", "-c", `"$0" > "$DBC_DATA_DIR/output" 2>&1; cat "$DBC_DATA_DIR/asked" "$DBC_DATA_DIR/output"`, folder+"/scripts/backup")
		command.Env = slices.Concat(variables, []string{"MAJORITY=" + majority})
		if got, err := command.CombinedOutput(); err != nil || string(got) != want {
			t.Errorf("with the code %s: %v\n%s\nwant\n%s", majority, err, got, want)
		}
	}
}

// The cluster is another one after etcd was initialized again. A restore creates another cluster as well, so a verification does not compare it.
func TestACheckOfEtcdPrintsItsCluster(t *testing.T) {
	const facts = `{"clusterId":"3139906555365543620","compacted":0,"revision":2`
	for name, c := range map[string]struct{ when, before, want string }{
		"before the backup":        {"before", "", facts + "}"},
		"after it":                 {"after", facts + "}", facts + `,"hash":3658645045}`},
		"after a write":            {"after", `{"clusterId":"3139906555365543620","compacted":0,"revision":1}`, facts + "}"},
		"in a copy":                {"copy", "", facts + `,"hash":3658645045}`},
		"of another cluster since": {"after", `{"clusterId":"6242829782625523013","compacted":0,"revision":2}`, facts + "}"},
	} {
		folder, variables := image(t, "etcd-v1", map[string]string{"etcdctl": `#!/bin/sh
case $* in
*' hashkv '*)
    echo '[{"Endpoint":"http://127.0.0.1:2379","HashKV":{"header":{"cluster_id":3139906555365543620,"member_id":5393374414057940066,"revision":2,"raft_term":2},"hash":3658645045,"compact_revision":-1}}]'
    ;;
*' lease list') echo 'found 0 leases' ;;
esac
`})
		command := exec.CommandContext(t.Context(), folder+"/scripts/check")
		command.Env = slices.Concat(variables, []string{"DBC_CHECK=" + c.when, "DBC_FACTS=" + c.before})
		if got, err := command.CombinedOutput(); err != nil || string(got) != c.want+"\n" {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
}
