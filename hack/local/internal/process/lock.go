package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

// ErrLocked means that another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// Lock waits for a lock on a file. The kernel releases it when its holder exits. If the holder removes the file,
// waiting processes start again.
func Lock(path, waitingFor string) (unlock func(), err error) {
	for {
		file, err := lockOnce(path, waitingFor)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if isStill(path, file) {
			return func() { file.Close() }, nil
		}
		file.Close()
	}
}

func lockOnce(path, waitingFor string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = TryLock(file)
	if errors.Is(err, ErrLocked) {
		err = progress.Step("waiting for "+waitingFor, func() error { return flock(file, 0) })
	}
	if err != nil {
		file.Close()
	}
	return file, err
}

func isStill(path string, file *os.File) bool {
	named, err := os.Stat(path)
	if err != nil {
		return false
	}
	opened, err := file.Stat()
	return err == nil && os.SameFile(named, opened)
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
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|flags)
}
