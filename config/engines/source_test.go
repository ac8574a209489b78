/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"os/exec"
	"slices"
	"testing"
)

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
	const file = `{"archiveFile":"3139906555365543620-0000000000000004",`
	for name, c := range map[string]struct{ when, before, want string }{
		"before the backup":        {"before", "", file + facts[1:] + "}"},
		"after it":                 {"after", file + facts[1:] + "}", facts + `,"hash":3658645045}`},
		"after it, without a file": {"after", facts + "}", facts + `,"hash":3658645045}`},
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

// At the beginning of a file, that file may not exist yet. Then the recovery begins in the one before it.
func TestACheckOfPostgreSQLNamesTheFileInWhichTheBackupBegins(t *testing.T) {
	for name, c := range map[string]struct{ when, state, want string }{
		"before the backup":          {"before", "7123|50331649|7:7:|0|0000000A", `{"systemIdentifier":"7123","position":50331649,"snapshot":"7:7:","archiveFile":"7123-0000000A0000000000000003"}`},
		"at the beginning of a file": {"before", "7123|4345298944|7:7:|0|00000001", `{"systemIdentifier":"7123","position":4345298944,"snapshot":"7:7:","archiveFile":"7123-000000010000000100000003"}`},
		"of a replica":               {"before", "7123|50331649|7:7:|0|", `{"systemIdentifier":"7123","position":50331649,"snapshot":"7:7:"}`},
		"after the backup":           {"after", "7123|50331649|7:7:|0|00000001", `{"systemIdentifier":"7123","position":50331649,"snapshot":"7:7:"}`},
	} {
		folder, variables := image(t, "postgresql-single-v1", map[string]string{"psql": "#!/bin/sh\necho '" + c.state + "'\n"})
		command := exec.CommandContext(t.Context(), folder+"/scripts/check")
		command.Env = slices.Concat(variables, []string{"DBC_CHECK=" + c.when})
		if got, err := command.CombinedOutput(); err != nil || string(got) != c.want+"\n" {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
}
