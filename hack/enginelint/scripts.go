/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// parsePython is a program in Python that parses the files in its arguments.
const parsePython = "import ast, sys; [ast.parse(open(f).read(), f) for f in sys.argv[1:]]"

// checker is an installed program that reads scripts of a language.
type checker struct {
	program   string
	arguments []string
	reads     func(name, firstLine string) bool
	warning   bool
}

// mounted is where members and Jobs find the scripts.
const mounted = "/dbc/scripts/"

// checkScripts lets Python and ShellCheck read the scripts, where they are installed. ShellCheck reads a script without an
// interpreter line with those that source it.
func checkScripts(ctx context.Context, scripts map[string]dbv1.EngineScript) []finding {
	folder, err := os.MkdirTemp("", "engine-")
	if err != nil {
		return []finding{errorf("%v", err)}
	}
	defer func() { _ = os.RemoveAll(folder) }()
	folder += string(filepath.Separator)
	for name, text := range scripts {
		if err := os.WriteFile(folder+name, []byte(strings.ReplaceAll(string(text), mounted, folder)), 0o600); err != nil {
			return []finding{errorf("%v", err)}
		}
	}
	for _, c := range []checker{
		{"python3", []string{"-c", parsePython}, isPython, false},
		{"shellcheck", []string{"--external-sources", "--format=gcc", "--severity=error", "--source-path=" + folder}, isShell, false},
		{"shellcheck", []string{"--external-sources", "--format=gcc", "--source-path=" + folder}, isShell, true},
	} {
		// ShellCheck repeats its errors in the list of warnings, so the first checker with findings is the last one.
		if text := c.check(ctx, folder, scripts); text != "" {
			return []finding{{c.warning, text}}
		}
	}
	return nil
}

// check returns what the program prints about the scripts that it reads; "" if it accepts them, or is not installed.
func (c checker) check(ctx context.Context, folder string, scripts map[string]dbv1.EngineScript) string {
	arguments := slices.Clone(c.arguments)
	for _, name := range slices.Sorted(maps.Keys(scripts)) {
		first, _, _ := strings.Cut(string(scripts[name]), "\n")
		if c.reads(name, first) {
			arguments = append(arguments, folder+name)
		}
	}
	program, err := exec.LookPath(c.program)
	if err != nil || len(arguments) == len(c.arguments) {
		return ""
	}
	output, err := exec.CommandContext(ctx, program, arguments...).CombinedOutput()
	if err == nil {
		return ""
	}
	return c.program + " reports:\n" + strings.TrimSpace(strings.ReplaceAll(string(output), folder, mounted))
}

func isPython(name, first string) bool {
	return strings.HasSuffix(name, ".py") || strings.HasPrefix(first, "#!") && strings.Contains(first, "python3")
}

func isShell(_, first string) bool {
	return strings.HasPrefix(first, "#!") && (strings.HasSuffix(first, "sh") || strings.Contains(first, "sh "))
}
