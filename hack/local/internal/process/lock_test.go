package process

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestALockIsHeldByOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(path, "nobody")
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := TryLock(other); !errors.Is(err, ErrLocked) {
		t.Errorf("locked twice: %v", err)
	}
	unlock()
	if err := TryLock(other); err != nil {
		t.Errorf("still locked: %v", err)
	}
}

func TestALockOnAFileThatWasRemovedIsNoLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if !isStill(path, file) {
		t.Error("the file was not known")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if isStill(path, file) {
		t.Error("another file was taken for it")
	}
}
