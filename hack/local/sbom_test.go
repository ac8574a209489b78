package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// The lister of each case is a script that prints a list of the modules of this test, changed by one command of sed.
func TestABillListsExactlyTheModulesOfTheBinary(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	built, err := buildinfo.ReadFile(binary)
	if err != nil || len(built.Deps) == 0 {
		t.Fatalf("%v: %v", built, err)
	}
	module := built.Deps[0]
	list := "{\n  \"components\": [\n"
	for _, each := range append(built.Deps, &debug.Module{Path: "std", Version: built.GoVersion}) {
		list += fmt.Sprintf("    {\n      \"name\": %q,\n      \"version\": %q,\n", each.Path, each.Version)
		if each.Path != "std" {
			list += "      \"evidence\": {\n        \"licenses\": [\n        ]\n      }\n"
		}
		list += "    },\n"
	}
	list += "  ]\n}\n"
	for name, c := range map[string]struct{ change, want string }{
		"the same":        {change: "s/x/x/"},
		"one too few":     {`\|"` + module.Path + `"|d`, "-" + module.Path + "@" + module.Version + ", licensed"},
		"no Go":           {`s|"std"|"other"|`, "-std@" + built.GoVersion},
		"another version": {`s|"` + module.Version + `"|"v9.9.9"|`, "+" + module.Path + "@v9.9.9"},
		"no license":      {`0,/"licenses"/s/"licenses"/"none"/`, "+" + module.Path + "@" + module.Version + "\n"},
	} {
		folder := t.TempDir()
		lister := filepath.Join(folder, "lister")
		script := "#!/bin/sh\nwhile [ \"$1\" != -output ]; do shift; done\nsed '" + c.change + "' >\"$2\" <<'END'\n" + list + "END\n"
		if err := os.WriteFile(lister, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		output, err := exec.CommandContext(t.Context(), "../sbom.sh", lister, "v1.0.0", folder, binary).CombinedOutput()
		if (err == nil) != (c.want == "") || !strings.Contains(string(output), c.want) {
			t.Errorf("%s: %v, want an error with %q:\n%s", name, err, c.want, output)
		}
	}
}
