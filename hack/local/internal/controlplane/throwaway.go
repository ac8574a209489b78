package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/process"
)

const throwaway = "dbc-control-plane-"

// Throwaway creates a folder for one run. A kernel lock marks it as in use. So this function can find and remove the
// folders of killed runs.
func Throwaway() (dir string, done func(), err error) {
	removeAbandoned()
	dir, err = os.MkdirTemp("", throwaway)
	if err != nil {
		return "", nil, fmt.Errorf("create a folder for the control plane: %w", err)
	}
	lock, err := tryLock(dir, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return "", nil, err
	}
	return dir, func() { _ = os.RemoveAll(dir); lock.Close() }, nil
}

func removeAbandoned() {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), throwaway+"*"))
	for _, dir := range folders {
		// A folder without a lock file may be new.
		if lock, err := tryLock(dir, os.O_RDWR); err == nil {
			_ = Discard(context.Background(), dir)
			lock.Close()
		}
	}
}

func tryLock(dir string, flags int) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of %s: %w", dir, err)
	}
	if err := process.TryLock(file); err != nil {
		file.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return file, nil
}
