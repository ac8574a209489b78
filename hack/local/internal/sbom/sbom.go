// Package sbom lists the modules of a binary in CycloneDX format.
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

// Options are the binary, the destination and the version of a bill of materials.
type Options struct {
	Tool    string // cyclonedx-gomod
	Binary  string
	Version string // of the main module, with a leading v
	Folder  string
}

// Write writes the bill of one binary to FOLDER/NAME-OS-ARCHITECTURE.cdx.json and returns its path. The bill is
// reproducible: it has no time and no serial number.
func Write(ctx context.Context, opts Options) (string, error) {
	built, err := buildinfo.ReadFile(opts.Binary)
	if err != nil {
		return "", fmt.Errorf("read the build information of %s: %w", opts.Binary, err)
	}
	system, architecture := setting(built, "GOOS"), setting(built, "GOARCH")
	dest := filepath.Join(opts.Folder, fmt.Sprintf("%s-%s-%s.cdx.json", filepath.Base(opts.Binary), system, architecture))
	return dest, files.Whole(dest, func(partial string) error {
		command := exec.CommandContext(ctx, opts.Tool, "bin", "-json", "-noserial", "-notimestamp", "-std", "-licenses",
			"-version", opts.Version, "-output", partial, opts.Binary)
		// Read licenses from the modules of the build. Use no proxy: it does not have the module version that is being
		// released, and the bill must not depend on it.
		command.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOOS="+system, "GOARCH="+architecture)
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("list the modules of %s: %w\n%s", opts.Binary, err, output)
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
