//go:build linux

package node

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

type mount struct{ path, filesystem string }

func readMounts() ([]mount, error) {
	content, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("list the mounts: %w", err)
	}
	return parseMounts(string(content)), nil
}

// parseMounts reads mountinfo, in which spaces and the like are written as octal numbers.
func parseMounts(mountinfo string) []mount {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	var mounts []mount
	for line := range strings.Lines(mountinfo) {
		before, after, _ := strings.Cut(line, " - ")
		place, source := strings.Fields(before), strings.Fields(after)
		if len(place) > 4 && len(source) > 0 {
			mounts = append(mounts, mount{unescape.Replace(place[4]), source[0]})
		}
	}
	return mounts
}

// below returns the paths at or below one of the folders, the latest mount first.
func below(mounts []mount, folders ...string) []string {
	var paths []string
	for _, mount := range mounts {
		if slices.ContainsFunc(folders, func(folder string) bool {
			return mount.path == folder || strings.HasPrefix(mount.path, folder+"/")
		}) {
			paths = append(paths, mount.path)
		}
	}
	slices.Reverse(paths)
	return paths
}

// unmountAll unmounts everything below our folders, and fails unless nothing is left: a folder
// is only removed once there is certainly nothing of somebody else's below it.
func unmountAll() (unmounted int, err error) {
	mounts, err := readMounts()
	if err != nil {
		return 0, err
	}
	for _, path := range below(mounts, stateDir, runtimeDir) {
		if syscall.Unmount(path, 0) == nil || syscall.Unmount(path, syscall.MNT_DETACH) == nil {
			unmounted++
		}
	}
	mounts, err = readMounts()
	if err != nil {
		return unmounted, err
	}
	if left := below(mounts, stateDir, runtimeDir); len(left) > 0 {
		return unmounted, fmt.Errorf("still mounted: %s", strings.Join(left, ", "))
	}
	return unmounted, nil
}
