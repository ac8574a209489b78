//go:build supply

package supply

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestDockerBuildsTheSameBinaries(t *testing.T) {
	checkout := clone(t, filepath.Join(t.TempDir(), "checkout"))
	for _, architecture := range []string{"amd64", "arm64"} {
		mustRun(t, checkout, "make", "bin/linux-"+architecture)
	}
	version := strings.TrimSpace(strings.TrimPrefix(firstLine(t, checkout, "Makefile", "VERSION ?= "), "VERSION ?= "))
	context, scripts := dockerContext(t, checkout), compiling(contentOf(t, checkout, "Dockerfile"))
	if len(scripts) != 2 {
		t.Fatalf("the Dockerfile runs the compiler by %q, want once for manager and once for transfer", scripts)
	}
	for _, architecture := range []string{"amd64", "arm64"} {
		environment := []string{"TARGETOS=linux", "TARGETARCH=" + architecture, "VERSION=v" + version, "GOFLAGS="}
		for _, script := range scripts {
			if output, err := run(t, context, environment, "sh", "-c", script); err != nil {
				t.Fatalf("%s: %v\n%s", script, err, output)
			}
		}
		for _, program := range []string{"manager", "transfer"} {
			if contentOf(t, context, program) != contentOf(t, checkout, "bin/linux-"+architecture+"/"+program) {
				t.Errorf("%s for %s is another where the Dockerfile's commands build it", program, architecture)
			}
		}
	}
}

// dockerContext has the files that .dockerignore allows, and their tests, which the compiler ignores.
func dockerContext(t *testing.T, checkout string) string {
	t.Helper()
	folder := t.TempDir()
	for line := range strings.Lines(contentOf(t, checkout, ".dockerignore")) {
		if part, found := strings.CutPrefix(strings.TrimSpace(line), "!"); found {
			mustRun(t, checkout, "cp", "--recursive", "--parents", part, folder)
		}
	}
	return folder
}

// compiling returns the commands of a Dockerfile that run the compiler.
func compiling(dockerfile string) []string {
	var scripts []string
	for line := range strings.SplitSeq(strings.ReplaceAll(dockerfile, "\\\n", ""), "\n") {
		if script, found := strings.CutPrefix(line, "RUN "); found && strings.Contains(script, "go build") {
			scripts = append(scripts, script)
		}
	}
	return scripts
}
