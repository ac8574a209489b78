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

// compile is a program in Python that compiles the files in its arguments.
const compile = "import ast, sys; [ast.parse(open(f).read(), f) for f in sys.argv[1:]]"

// Shellcheck checks the scripts of an engine. A shell script without a shebang is checked with those that source it. Python
// compiles the scripts in Python.
func Shellcheck(t *testing.T, e *dbv1.DatabaseEngine) {
	t.Helper()
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed: apt-get install shellcheck")
	}
	folder := t.TempDir()
	arguments, python := []string{"--external-sources", "--source-path=" + folder}, []string{"-c", compile}
	for name, text := range e.Spec.Scripts {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		shebang, _, _ := strings.Cut(string(text), "\n")
		switch {
		case strings.HasSuffix(name, ".py"), strings.HasPrefix(shebang, "#!/usr/bin/python3"):
			python = append(python, file)
		case strings.HasPrefix(shebang, "#!"):
			arguments = append(arguments, file)
		}
	}
	if output, err := exec.CommandContext(t.Context(), "python3", python...).CombinedOutput(); err != nil && len(python) > 2 {
		t.Errorf("%v\n%s", err, output)
	}
	if output, err := exec.CommandContext(t.Context(), shellcheck, arguments...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
