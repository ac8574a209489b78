//go:build linux

package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cgroupDirs are the folders of our cgroup: one in each hierarchy of version 1, or the one of version 2.
func cgroupDirs() ([]string, error) {
	mounts, err := readMounts()
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, mount := range mounts {
		if mount.filesystem == "cgroup" || mount.filesystem == "cgroup2" {
			dirs = append(dirs, filepath.Join(mount.path, cgroupRoot))
		}
	}
	return dirs, nil
}

// makeCgroup makes it everywhere: the kubelet refuses to start below a cgroup that is not there.
func makeCgroup() error {
	dirs, err := cgroupDirs()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		delegateControllers(filepath.Dir(dir))
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make the cgroup of the pods: %w", err)
		}
	}
	return nil
}

// delegateControllers lets children of a version 2 cgroup use its controllers. Version 1 has no
// such file, and a controller that cannot be delegated is one the kubelet will complain about.
func delegateControllers(parent string) {
	available, err := os.ReadFile(filepath.Join(parent, "cgroup.controllers"))
	if err != nil {
		return
	}
	for controller := range strings.FieldsSeq(string(available)) {
		_ = os.WriteFile(filepath.Join(parent, "cgroup.subtree_control"), []byte("+"+controller), 0)
	}
}

// removeCgroup ends every process in our cgroup, which is every process of a pod, and removes it.
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
		for _, child := range deepestFirst(dir) {
			for _, pid := range processesIn(child) {
				seen[pid] = true
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			if err := os.Remove(child); err != nil && !errors.Is(err, fs.ErrNotExist) {
				problems = append(problems, err)
			}
		}
	}
	return errors.Join(problems...)
}

func deepestFirst(dir string) []string {
	var dirs []string
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	slices.Reverse(dirs)
	return dirs
}

func processesIn(dir string) []int {
	content, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil
	}
	var pids []int
	for line := range strings.FieldsSeq(string(content)) {
		if pid, err := strconv.Atoi(line); err == nil && pid > 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}
