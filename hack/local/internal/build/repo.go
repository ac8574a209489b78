package build

import (
	"fmt"
	"os"
	"path/filepath"
)

// findRepository returns the root of the checkout: the given folder, or the nearest parent of the working directory
// that contains hack/tools.
func findRepository(given string) (string, error) {
	if given != "" {
		if !isRepository(given) {
			return "", fmt.Errorf("--repo %q holds no hack/tools/kubernetes/go.mod: name the root of the repository", given)
		}
		return filepath.Abs(given)
	}
	folder, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working folder: %w", err)
	}
	for start := folder; ; folder = filepath.Dir(folder) {
		if isRepository(folder) {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("no repository at or above %s: run inside a checkout, or name its root with --repo", start)
		}
	}
}

func isRepository(folder string) bool {
	return exists(filepath.Join(folder, "hack", "tools", "kubernetes", "go.mod"))
}
