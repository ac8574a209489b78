package images

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/build"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

// recipe builds the image of one server from Debian packages, and keeps it in the cache.
type recipe struct {
	server     string // its name for people, and the image's title
	release    string // of Debian
	pkg        string // the package whose version is the image's
	reference  string
	provision  string    // a script that installs the server in a fresh Debian
	entrypoint []byte    // accepts the arguments of the official image's entrypoint; nil: the image has none
	config     v1.Config // without what all share
}

// entrypointPath is the path in the official images, so that a command may use it.
const entrypointPath = "/usr/local/bin/docker-entrypoint.sh"

// write writes the image. It builds the image if the cache does not have it.
func (r recipe) write(ctx context.Context, opts Options) error {
	reference := cmp.Or(opts.Reference, r.reference)
	if _, err := parse(reference); err != nil { // before the minutes that an image can take
		return err
	}
	cached, err := r.cache()
	if err != nil {
		return err
	}
	if _, err := os.Stat(cached); err == nil {
		progress.Say("using %s (remove it to take newer packages)", cached)
	} else if err := r.make(ctx, cached); err != nil {
		return err
	}
	image, err := tarball.ImageFromPath(cached, nil)
	if err != nil {
		return fmt.Errorf("read %s (remove it to build it again): %w", cached, err)
	}
	return write(image, reference, opts.Dest)
}

// cache returns the path of the tarball. Its name is a hash of all inputs.
func (r recipe) cache() (string, error) {
	cache, err := build.CacheRoot()
	if err != nil {
		return "", err
	}
	config, err := json.Marshal(r.configOf(""))
	if err != nil {
		return "", fmt.Errorf("hash the image configuration: %w", err)
	}
	all := strings.Join([]string{runtime.GOARCH, r.release, r.script(), string(r.entrypoint), string(config)}, "\x00")
	folder := fmt.Sprintf("%s-%.10x", r.pkg, sha256.Sum256([]byte(all)))
	return filepath.Join(cache, folder, "image.tar"), nil
}

func (r recipe) configOf(version string) v1.Config {
	config := r.config
	config.User, config.Labels = "999:999", maps.Clone(config.Labels)
	if r.entrypoint != nil {
		config.Entrypoint = []string{entrypointPath}
	}
	config.Labels[labelTitle], config.Labels[labelVersion] = r.server, version
	return config
}

func (r recipe) make(ctx context.Context, dest string) error {
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return fmt.Errorf("create a folder in the cache: %w", err)
	}
	folder, err := os.MkdirTemp(filepath.Dir(dest), "making-")
	if err != nil {
		return fmt.Errorf("create a folder to install %s: %w", r.server, err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	root := filepath.Join(folder, "root")
	if err := r.install(ctx, root); err != nil {
		return err
	}
	version, err := packagedVersion(ctx, root, r.pkg)
	if err != nil {
		return err
	}
	return progress.Step("packing "+r.server+" "+version, func() error { return r.pack(ctx, root, version, dest) })
}

func (r recipe) pack(ctx context.Context, root, version, dest string) error {
	system, err := layerOfTree(ctx, root)
	if err != nil {
		return err
	}
	layers := []v1.Layer{system}
	if r.entrypoint != nil {
		script, err := layerOf(file{path: strings.TrimPrefix(entrypointPath, "/"), mode: 0o755, body: r.entrypoint})
		if err != nil {
			return err
		}
		layers = append(layers, script)
	}
	image, err := assemble(runtime.GOARCH, r.configOf(version), layers...)
	if err != nil {
		return err
	}
	return write(image, r.reference, dest)
}

func packagedVersion(ctx context.Context, root, pkg string) (string, error) {
	output, err := exec.CommandContext(ctx, "chroot", root, "dpkg-query", "--show", "--showformat=${Version}", pkg).Output()
	if err != nil {
		return "", fmt.Errorf("ask for the installed version of %s: %w", pkg, err)
	}
	return string(output), nil
}
