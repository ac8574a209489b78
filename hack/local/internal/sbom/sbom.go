// Package sbom lists what a binary is made of, in the format of CycloneDX.
package sbom

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/files"
)

// Options say whose bill of materials is written and where.
type Options struct {
	Tool    string // cyclonedx-gomod
	Binary  string
	Version string // of the main module, with a leading v
	Folder  string
}

// Write makes the bill of one binary as FOLDER/NAME-OS-ARCHITECTURE.cdx.json and returns its path. The same binary gives the
// same bytes: it says neither when it was made nor a serial number.
func Write(ctx context.Context, opts Options) (string, error) {
	built, err := buildinfo.ReadFile(opts.Binary)
	if err != nil {
		return "", fmt.Errorf("read what Go noted in %s: %w", opts.Binary, err)
	}
	system, architecture := setting(built, "GOOS"), setting(built, "GOARCH")
	dest := filepath.Join(opts.Folder, fmt.Sprintf("%s-%s-%s.cdx.json", filepath.Base(opts.Binary), system, architecture))
	return dest, files.Whole(dest, func(partial string) error {
		command := exec.CommandContext(ctx, opts.Tool, "bin", "-json", "-noserial", "-notimestamp", "-std", "-licenses",
			"-version", opts.Version, "-output", partial, opts.Binary)
		// Licenses are read in the modules that the binary was just compiled from. No proxy is asked: there is no
		// module of the version that is being released, and a bill does not depend on who answers.
		command.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOOS="+system, "GOARCH="+architecture)
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("list what %s is made of: %w\n%s", opts.Binary, err, output)
		}
		return checkFile(partial, built)
	})
}

func setting(built *debug.BuildInfo, key string) string {
	for _, each := range built.Settings {
		if each.Key == key {
			return each.Value
		}
	}
	return "unknown"
}

func checkFile(path string, built *debug.BuildInfo) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var listed bill
	if err := json.Unmarshal(content, &listed); err != nil {
		return err
	}
	return listed.check(built)
}
