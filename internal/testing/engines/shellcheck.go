/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Shellcheck checks the scripts of an engine. A script without a shebang is checked with those that source it.
func Shellcheck(t *testing.T, e *dbv1.DatabaseEngine) {
	t.Helper()
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed: apt-get install shellcheck")
	}
	folder := t.TempDir()
	arguments := []string{"--external-sources", "--source-path=" + folder}
	for name, text := range e.Spec.Scripts {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(text), "#!") {
			arguments = append(arguments, file)
		}
	}
	if output, err := exec.CommandContext(t.Context(), shellcheck, arguments...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
