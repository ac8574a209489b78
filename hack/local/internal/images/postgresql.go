package images

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
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

// PostgreSQLReference is the name of the PostgreSQL image unless another is asked for.
const PostgreSQLReference = "localhost/postgresql:15"

//go:embed postgresql/entrypoint.sh
var entrypoint []byte

// PostgreSQLOptions say where the image goes and what it is called there.
type PostgreSQLOptions struct {
	Dest      string
	Reference string
}

// PostgreSQL writes an image of PostgreSQL 15, made from Debian's packages and kept in the
// cache from then on. It takes the environment variables of docker.io/library/postgres.
func PostgreSQL(ctx context.Context, opts PostgreSQLOptions) error {
	reference := cmp.Or(opts.Reference, PostgreSQLReference)
	if _, err := parse(reference); err != nil { // before the minutes that an image can take
		return err
	}
	cached, err := postgreSQLCache()
	if err != nil {
		return err
	}
	if _, err := os.Stat(cached); err == nil {
		progress.Say("using %s (remove it to take newer packages)", cached)
	} else if err := makePostgreSQL(ctx, cached); err != nil {
		return err
	}
	image, err := tarball.ImageFromPath(cached, nil)
	if err != nil {
		return fmt.Errorf("read %s (remove it to make it anew): %w", cached, err)
	}
	return write(image, reference, opts.Dest)
}

// postgreSQLCache names the tarball after everything in this program that decides what it holds.
func postgreSQLCache() (string, error) {
	cache, err := build.CacheRoot()
	if err != nil {
		return "", err
	}
	config, err := json.Marshal(postgreSQLConfig(""))
	if err != nil {
		return "", fmt.Errorf("hash the image configuration: %w", err)
	}
	recipe := strings.Join([]string{runtime.GOARCH, suite, provision, string(entrypoint), string(config)}, "\x00")
	folder := fmt.Sprintf("postgresql-15-%.10x", sha256.Sum256([]byte(recipe)))
	return filepath.Join(cache, folder, "image.tar"), nil
}

func makePostgreSQL(ctx context.Context, dest string) error {
	if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
		return fmt.Errorf("make a folder in the cache: %w", err)
	}
	folder, err := os.MkdirTemp(filepath.Dir(dest), "making-")
	if err != nil {
		return fmt.Errorf("make a folder to install PostgreSQL in: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	root := filepath.Join(folder, "root")
	if err := makeDebian(ctx, root); err != nil {
		return err
	}
	version, err := packagedVersion(ctx, root)
	if err != nil {
		return err
	}
	return progress.Step("packing PostgreSQL "+version, func() error { return packPostgreSQL(root, version, dest) })
}

func packPostgreSQL(root, version, dest string) error {
	system, err := layerOfTree(root)
	if err != nil {
		return err
	}
	script, err := layerOf(file{path: "usr/local/bin/entrypoint", mode: 0o755, body: entrypoint})
	if err != nil {
		return err
	}
	image, err := assemble(postgreSQLConfig(version), system, script)
	if err != nil {
		return err
	}
	return write(image, PostgreSQLReference, dest)
}

func postgreSQLConfig(version string) v1.Config {
	return v1.Config{
		Entrypoint:   []string{"/usr/local/bin/entrypoint"},
		Cmd:          []string{"postgres"},
		User:         "999:999",
		ExposedPorts: map[string]struct{}{"5432/tcp": {}},
		// A fast shutdown. On SIGTERM PostgreSQL would wait for its clients to go.
		StopSignal: "SIGINT",
		Env: []string{
			"PATH=/usr/lib/postgresql/15/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			"LANG=C.UTF-8",
			"PGDATA=/var/lib/database/pgdata",
		},
		Labels: map[string]string{
			labelTitle:       "PostgreSQL",
			labelDescription: "PostgreSQL 15 from Debian's packages",
			labelVersion:     version,
			labelLicenses:    "PostgreSQL",
		},
	}
}

func packagedVersion(ctx context.Context, root string) (string, error) {
	output, err := exec.CommandContext(ctx, "chroot", root, "dpkg-query", "--show", "--showformat=${Version}", "postgresql-15").Output()
	if err != nil {
		return "", fmt.Errorf("ask for the installed version of PostgreSQL: %w", err)
	}
	return string(output), nil
}
