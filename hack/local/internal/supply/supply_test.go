//go:build supply

package supply

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// root is the checkout.
func root(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// run returns the output of a command.
func run(t *testing.T, folder string, environment []string, name string, arguments ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), "MAKEFLAGS=", "MFLAGS=", "MAKEOVERRIDES=")
	command.Env = append(command.Env, environment...)
	output, err := command.CombinedOutput()
	return string(output), err
}

func mustRun(t *testing.T, folder string, name string, arguments ...string) string {
	t.Helper()
	output, err := run(t, folder, nil, name, arguments...)
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, arguments, err, output)
	}
	return output
}
