/*
SPDX-License-Identifier: Apache-2.0
*/

package bundle

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// previousRelease runs hack/previous.sh with a cache of its own.
func previousRelease(cache, what string) (string, error) {
	command := exec.Command(root+"/hack/previous.sh", what)
	command.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache)
	said, err := command.CombinedOutput()
	return strings.TrimSpace(string(said)), err
}

// needsHistory skips a test if the clone has no history.
func needsHistory(t *testing.T) {
	t.Helper()
	if said, err := previousRelease(t.TempDir(), "version"); err != nil {
		t.Skip(said)
	}
}

func TestThePreviousReleaseMatchesItsCommit(t *testing.T) {
	needsHistory(t)
	cache := t.TempDir()
	for _, what := range []string{"crds", "bundle"} {
		folder, err := previousRelease(cache, what)
		if err != nil {
			t.Fatal(folder, err)
		}
		file := filepath.Join(folder, map[string]string{"crds": "", "bundle": "manifests"}[what], "database.dbcluster.io_databaseclusters.yaml")
		if err := os.WriteFile(file, []byte("kind: CustomResourceDefinition\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := previousRelease(cache, what); err == nil || !strings.Contains(said, "so remove it") {
			t.Errorf("changed files were accepted as the %s of the previous release: %v\n%s", what, err, said)
		}
	}
}

func TestConcurrentProcessesGetThePreviousRelease(t *testing.T) {
	needsHistory(t)
	cache := t.TempDir()
	said, failed := make([]string, 4), make([]error, 4)
	var all sync.WaitGroup
	for i := range said {
		all.Go(func() { said[i], failed[i] = previousRelease(cache, "bundle") })
	}
	all.Wait()
	for i := range said {
		if failed[i] != nil || said[i] != said[0] {
			t.Errorf("one printed %q (%v), another %q", said[i], failed[i], said[0])
		}
	}
	if left, err := filepath.Glob(filepath.Join(cache, "*", "*", "*")); err != nil || len(left) != 1 {
		t.Errorf("it left %q (%v), want the bundle alone", left, err)
	}
}
