//go:build linux

package node

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/moby/sys/mountinfo"
)

// below returns the mounts at or below the folders, the latest first.
func below(folders ...string) ([]string, error) {
	var paths []string
	_, err := mountinfo.GetMounts(func(mount *mountinfo.Info) (skip, stop bool) {
		if slices.ContainsFunc(folders, func(folder string) bool {
			return mount.Mountpoint == folder || strings.HasPrefix(mount.Mountpoint, folder+"/")
		}) {
			paths = append(paths, mount.Mountpoint)
		}
		return true, false
	})
	if err != nil {
		return nil, fmt.Errorf("list the mounts: %w", err)
	}
	slices.Reverse(paths)
	return paths, nil
}

// unmountAll unmounts everything below our folders, and fails if a mount remains. So no folder is removed while foreign
// data is mounted below it.
func unmountAll() (unmounted int, err error) {
	paths, err := below(stateDir, runtimeDir)
	for _, path := range paths {
		if syscall.Unmount(path, 0) == nil || syscall.Unmount(path, syscall.MNT_DETACH) == nil {
			unmounted++
		}
	}
	if err != nil {
		return unmounted, err
	}
	left, err := below(stateDir, runtimeDir)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("still mounted: %s", strings.Join(left, ", "))
	}
	return unmounted, err
}
