// Package files writes files that others read at the same time.
package files

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// Write replaces the content of a file atomically. It does not touch a file with the same content, because kube-proxy
// exits when its configuration is rewritten.
func Write(path string, content []byte, mode os.FileMode) error {
	if before, err := os.ReadFile(path); err == nil && bytes.Equal(before, content) {
		return nil
	}
	return Whole(path, func(partial string) error { return os.WriteFile(partial, content, mode) })
}

// Whole writes a temporary file next to the path and renames it when it is complete.
func Whole(path string, write func(partial string) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("create the folder of %s: %w", path, err)
	}
	partial := path + ".partial"
	defer func() { _ = os.Remove(partial) }()
	if err := write(partial); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(partial, path)
}
