package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func checkout(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(root, "hack", "tools", "kubernetes")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "go.mod"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestTheRepositoryIsFoundFromAFolderInsideIt(t *testing.T) {
	root := checkout(t)
	t.Chdir(filepath.Join(root, "hack", "tools"))
	if found, err := findRepository(""); err != nil || found != root {
		t.Errorf("got %q, %v; want %q", found, err, root)
	}
}

func TestOutsideARepositoryTheFlagIsNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := findRepository(""); err == nil || !strings.Contains(err.Error(), "--repo") {
		t.Errorf("got %v", err)
	}
}

func TestAGivenFolderThatIsNoRepositoryIsRefused(t *testing.T) {
	folder := t.TempDir()
	if _, err := findRepository(folder); err == nil || !strings.Contains(err.Error(), folder) {
		t.Errorf("got %v", err)
	}
}
