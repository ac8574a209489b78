package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

// ErrLocked says that somebody else holds the lock.
var ErrLocked = errors.New("locked by another process")

// Lock waits for a lock on a file. The kernel lets go of it when its holder ends, however it ends.
func Lock(path, waitingFor string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock %s: %w", path, err)
	}
	err = TryLock(file)
	if errors.Is(err, ErrLocked) {
		err = progress.Step("waiting for "+waitingFor, func() error { return flock(file, 0) })
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { file.Close() }, nil
}

// TryLock locks an open file until it is closed.
func TryLock(file *os.File) error {
	err := flock(file, syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

func flock(file *os.File, flags int) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|flags) //nolint:gosec // descriptors are small
}
