//go:build linux

package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/moby/sys/mountinfo"
	"github.com/opencontainers/cgroups"
)

// cgroupDirs returns the folders of our cgroup: one per hierarchy in version 1, or the one of version 2.
func cgroupDirs() ([]string, error) {
	mounts, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("cgroup", "cgroup2"))
	if err != nil {
		return nil, fmt.Errorf("list the mounts: %w", err)
	}
	var dirs []string
	for _, mount := range mounts {
		dirs = append(dirs, filepath.Join(mount.Mountpoint, cgroupRoot))
	}
	return dirs, nil
}

// makeCgroup creates all of them: the kubelet does not start below a missing cgroup.
func makeCgroup() error {
	dirs, err := cgroupDirs()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		delegateControllers(filepath.Dir(dir))
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("create the cgroup of the pods: %w", err)
		}
	}
	return nil
}

// delegateControllers allows children of a version 2 cgroup to use its controllers. Version 1 has no such file. If a
// controller cannot be delegated, the kubelet reports it.
func delegateControllers(parent string) {
	available, err := os.ReadFile(filepath.Join(parent, "cgroup.controllers"))
	if err != nil {
		return
	}
	for controller := range strings.FieldsSeq(string(available)) {
		_ = os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+"+controller), 0)
	}
}

// removeCgroup kills every process in our cgroup, which is every process of a pod, and removes it.
func removeCgroup() (ended int, err error) {
	dirs, err := cgroupDirs()
	if err != nil {
		return 0, err
	}
	seen := map[int]bool{}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := removeTrees(dirs, seen)
		if left == nil {
			return len(seen), nil
		}
		if time.Now().After(deadline) {
			return len(seen), fmt.Errorf("remove the cgroup of the pods: %w", left)
		}
	}
}

func removeTrees(dirs []string, seen map[int]bool) error {
	var problems []error
	for _, dir := range dirs {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		pids, err := cgroups.GetAllPids(dir)
		for _, pid := range pids {
			if pid > 1 {
				seen[pid] = true
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		problems = append(problems, err, cgroups.RemovePath(dir))
	}
	return errors.Join(problems...)
}
