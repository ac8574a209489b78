/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"archive/tar"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// backupOf is a tar with these files.
func backupOf(t *testing.T, files map[string]string) *bytes.Buffer {
	t.Helper()
	var output bytes.Buffer
	writer := tar.NewWriter(&output)
	for name, text := range files {
		if err := writer.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return &output
}

// A backup of a cluster with TLS names certificates that the Job of a restore does not have.
func TestARestoreUsesNoConfigurationOfTheSource(t *testing.T) {
	const postgres = `#!/bin/sh
case "$*" in
--version) echo 'postgres (PostgreSQL) 17.1' ;;
*shared_memory_size) cat "$2/postgresql.conf" > "$DBC_DATA_DIR/checked" ;;
*) exit 1 ;;
esac
`
	for name, files := range map[string]map[string]string{
		"of Patroni":      {"PG_VERSION": "17\n", "postgresql.conf": "ssl = 'on'\n", "postgresql.base.conf": "original"},
		"without Patroni": {"PG_VERSION": "17\n", "postgresql.conf": "original"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, environment := image(t, "postgresql-v1", map[string]string{"postgres": postgres, "pg_verifybackup": "#!/bin/sh\n"})
			command := exec.CommandContext(t.Context(), folder+"/scripts/restore")
			command.Env, command.Stdin = environment, backupOf(t, files)
			output, _ := command.CombinedOutput() // no server starts here
			checked, err := os.ReadFile(filepath.Join(folder, "data", "checked"))
			if err != nil || string(checked) != "original" {
				t.Errorf("the parameters are checked with %q (%v)\n%s", checked, err, output)
			}
		})
	}
}

// The files are synced while they are verified.
func TestARestoreFailsIfTheFilesAreWrongOrNotOnTheDisk(t *testing.T) {
	for name, test := range map[string]struct {
		verify, sync string
		code         int
	}{
		"complete":           {"test -s $1/PG_VERSION", "test -s $2/PG_VERSION", 0},
		"wrong":              {"exit 1", "exit 0", 30},
		"wrong, a slow disk": {"exit 1", "exec sleep 0.1", 30},
		"not on the disk":    {"exit 0", "exit 5", 5},
		"not on a slow disk": {"exit 0", "sleep 0.1; exit 5", 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, environment := image(t, "postgresql-single-v1", map[string]string{
				"postgres": "#!/bin/sh\n", "pg_verifybackup": "#!/bin/sh\n" + test.verify + "\n", "sync": "#!/bin/sh\n" + test.sync + "\n",
			})
			data := filepath.Join(folder, "data", "pgdata")
			command := exec.CommandContext(t.Context(), folder+"/scripts/restore")
			command.Env, command.Stdin = slices.Concat(environment, []string{"PGDATA=" + data, "DBC_COPY=true"}), backupOf(t, map[string]string{"PG_VERSION": "17\n"})
			output, _ := command.CombinedOutput() // the exit code is checked below
			if code := command.ProcessState.ExitCode(); code != test.code {
				t.Errorf("exit code %d, not %d\n%s", code, test.code, output)
			}
			if found, err := os.Stat(data); err != nil || found.Mode().Perm() != 0o700 {
				t.Errorf("%v, %v", found, err)
			}
		})
	}
}
