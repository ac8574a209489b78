package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/modfile"
)

// goEnv is the output of `go env` in the folder of a module.
type goEnv struct{ GOVERSION, GOCACHE, GOMODCACHE string }

func askGo(ctx context.Context, folder string) (goEnv, error) {
	command := exec.CommandContext(ctx, "go", "env", "-json", "GOVERSION", "GOCACHE", "GOMODCACHE")
	command.Dir = folder
	output, err := command.Output()
	if err != nil {
		return goEnv{}, fmt.Errorf("run `go env` in %s (is Go installed and in PATH?): %w", folder, err)
	}
	var env goEnv
	if err := json.Unmarshal(output, &env); err != nil {
		return goEnv{}, fmt.Errorf("read the answer of `go env`: %w", err)
	}
	return env, nil
}

// recipe has all inputs of a binary. It determines the folder in the cache.
type recipe struct {
	family, version string
	flags           []string
	goVersion       string
	goMod, goSum    []byte
}

func (m *module) recipe(folder string, env goEnv) (recipe, error) {
	goMod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	goSum, missing := os.ReadFile(filepath.Join(folder, "go.sum"))
	if err := errors.Join(err, missing); err != nil {
		return recipe{}, fmt.Errorf("read what pins the tools of %s: %w", m.folder, err)
	}
	version, err := requiredVersion(goMod, m.main)
	if err != nil {
		return recipe{}, err
	}
	return recipe{m.folder, version, m.flags(version), env.GOVERSION, goMod, goSum}, nil
}

// key returns the name of the folder in the cache.
func (r recipe) key() string {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	parts := [][]byte{r.goMod, r.goSum, []byte(r.goVersion), []byte(platform), []byte(strings.Join(r.flags, "\n"))}
	sum := sha256.Sum256(bytes.Join(parts, []byte{0}))
	return fmt.Sprintf("%s-%s-%s", r.family, r.version, hex.EncodeToString(sum[:])[:10])
}

func (m *module) flags(version string) []string {
	ldflags := []string{"-s", "-w"}
	parts := strings.SplitN(strings.TrimPrefix(version, "v")+"..", ".", 3)
	stamp := strings.NewReplacer("VERSION", version, "MAJOR", parts[0], "MINOR", parts[1])
	for _, variable := range m.stamp {
		ldflags = append(ldflags, "-X", stamp.Replace(variable))
	}
	flags := []string{"-trimpath", "-ldflags", strings.Join(ldflags, " ")}
	if m.tags != "" {
		flags = append(flags, "-tags", m.tags)
	}
	return flags
}

func requiredVersion(goMod []byte, path string) (string, error) {
	parsed, err := modfile.ParseLax("go.mod", goMod, nil)
	if err != nil {
		return "", fmt.Errorf("parse go.mod: %w", err)
	}
	for _, require := range parsed.Require {
		if require.Mod.Path == path {
			return require.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("go.mod of %s does not require %s", parsed.Module.Mod.Path, path)
}

// CacheRoot is the folder for everything that this project can rebuild.
func CacheRoot() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the cache (set XDG_CACHE_HOME or HOME): %w", err)
	}
	return filepath.Join(cache, "databasecluster-operator"), nil
}
