/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const engines = "../../config/engines"

func TestEachEngineIsAssembledFromItsFolder(t *testing.T) {
	files, err := filepath.Glob(engines + "/*.yaml")
	folders, _ := filepath.Glob(engines + "/*/engine.yaml")
	if err != nil || len(files) < 5 || len(files) != len(folders) {
		t.Fatalf("%d engines and %d folders with an engine.yaml: %v", len(files), len(folders), err)
	}
	for _, file := range files {
		got, err := os.ReadFile(file) //nolint:gosec // of the repository
		if err != nil {
			t.Fatal(err)
		}
		want, err := assemble(strings.TrimSuffix(file, ".yaml"))
		if err != nil || string(got) != want {
			t.Errorf("%s is not current (%v): run make engines", file, err)
		}
	}
}

func TestEachFileIsAScriptInTheOrderOfTheList(t *testing.T) {
	folder := engine(t, "  scripts:\n    - start\n    - backup\n", map[string]string{"start": "#!/bin/sh\n\nexec mydb\n", "backup": "#!/bin/sh\n"})
	const want = "spec:\n  scripts:\n    start: |\n      #!/bin/sh\n\n      exec mydb\n\n    backup: |\n      #!/bin/sh\n"
	if got, err := assemble(folder); err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestAMistakeInAFolderNamesTheFile(t *testing.T) {
	const start, good = "  scripts:\n    - start\n", "#!/bin/sh\n"
	for want, c := range map[string]struct {
		list    string
		scripts map[string]string
	}{
		"engine.yaml has no spec.scripts":               {"  scripts: {}\n", map[string]string{"start": good}},
		"scripts/stray is not in spec.scripts":          {start, map[string]string{"start": good, "stray": good}},
		"scripts/start does not exist":                  {start, map[string]string{}},
		"the script start cannot be a block of YAML":    {start, map[string]string{"start": "#!/bin/sh"}},
		"script start cannot be a block of YAML: end":   {start, map[string]string{"start": good + "\n\n"}},
		"start cannot be a block of YAML: end it with ": {start, map[string]string{"start": good + "  \ntrue\n"}},
	} {
		if _, err := assemble(engine(t, c.list, c.scripts)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// engine is a folder with this list of scripts and these files.
func engine(t *testing.T, list string, scripts map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	files := map[string]string{"engine.yaml": "spec:\n" + list}
	for name, text := range scripts {
		files["scripts/"+name] = text
	}
	if err := os.Mkdir(filepath.Join(folder, "scripts"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
