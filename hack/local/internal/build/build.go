package build

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/files"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/process"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

// Binary is a built tool.
type Binary struct{ Name, Path, Version string }

// All returns the tools of these names. It builds those that are not in the cache. An empty root means: search for the
// root of the repository.
func All(ctx context.Context, repo string, names ...string) (map[string]Binary, error) {
	binaries := make(map[string]Binary, len(names))
	var missing []*job
	for _, name := range inOrder(names) {
		job, err := plan(ctx, repo, name)
		if err != nil {
			return nil, err
		}
		binaries[name] = job.binary
		if !exists(job.binary.Path) {
			missing = append(missing, job)
		}
	}
	for i, job := range missing {
		if err := job.build(ctx, i+1, len(missing)); err != nil {
			return nil, err
		}
	}
	return binaries, nil
}

// inOrder returns the names in the order of Tools: the first build of a module takes most of the time, and the messages say how long it
// takes.
func inOrder(names []string) []string {
	place := func(name string) int { return slices.IndexFunc(Tools, func(t Tool) bool { return t.Name == name }) }
	return slices.SortedFunc(slices.Values(names), func(a, b string) int { return place(a) - place(b) })
}

// job is the build of one tool from its module.
type job struct {
	tool   Tool
	binary Binary
	folder string
	flags  []string
	env    goEnv
}

func plan(ctx context.Context, repo, name string) (*job, error) {
	tool, err := Find(name)
	if err != nil {
		return nil, err
	}
	root, err := findRepository(repo)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(root, "hack", "tools", tool.module.folder)
	env, err := askGo(ctx, folder)
	if err != nil {
		return nil, err
	}
	recipe, err := tool.module.recipe(folder, env)
	if err != nil {
		return nil, err
	}
	cache, err := CacheRoot()
	if err != nil {
		return nil, err
	}
	binary := Binary{Name: name, Path: filepath.Join(cache, recipe.key(), name), Version: recipe.version}
	if tool.versioned != "" {
		binary.Version, err = requiredVersion(recipe.goMod, tool.versioned)
	}
	return &job{tool, binary, folder, recipe.flags, env}, err
}

// build locks the folder, so that concurrent builds do the work once.
func (j *job) build(ctx context.Context, number, total int) error {
	if err := os.MkdirAll(filepath.Dir(j.binary.Path), 0o755); err != nil {
		return fmt.Errorf("create the folder for %s: %w", j.tool.Name, err)
	}
	unlock, err := process.Lock(filepath.Join(filepath.Dir(j.binary.Path), ".lock"), "another build of the same tools")
	if err != nil {
		return err
	}
	defer unlock()
	if exists(j.binary.Path) {
		return nil
	}
	if err := j.tool.module.disk.check(filepath.Dir(j.binary.Path), j.env.GOCACHE, j.env.GOMODCACHE); err != nil {
		return fmt.Errorf("build %s: %w", j.tool.Name, err)
	}
	what := fmt.Sprintf("building %s (%d of %d, about %s with an empty Go cache)", j.tool.Name, number, total, j.tool.Cold)
	return progress.Step(what, func() error { return j.compile(ctx) })
}

// compile builds a binary and moves it into the cache atomically.
func (j *job) compile(ctx context.Context) error {
	return files.Whole(j.binary.Path, func(partial string) error {
		arguments := append([]string{"build", "-o", partial}, j.flags...)
		command := exec.CommandContext(ctx, "go", append(arguments, j.tool.Package)...)
		command.Dir = j.folder
		command.Env = append(os.Environ(), j.tool.module.compiler(), "GOFLAGS=", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", j.tool.Name, err, output)
		}
		return nil
	})
}

// compiler returns the setting that enables or disables cgo.
func (m *module) compiler() string {
	if m.cgo {
		return "CGO_ENABLED=1"
	}
	return "CGO_ENABLED=0"
}

// Version returns the version of a tool, and whether the tool is in the cache.
func Version(ctx context.Context, repo, name string) (version string, cached bool, err error) {
	job, err := plan(ctx, repo, name)
	if err != nil {
		return "", false, err
	}
	return job.binary.Version, exists(job.binary.Path), nil
}
