package csi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"k8s.io/mount-utils"
	"k8s.io/utils/exec"
)

const filesystem = "xfs"

// mounts calls the programs of the system: mount, losetup, mkfs.xfs and xfs_growfs.
type mounts struct{ *mount.SafeFormatAndMount }

func systemMounts() mounts {
	return mounts{mount.NewSafeFormatAndMount(mount.New(""), exec.New())}
}

// stage mounts a disk. With the option "loop" the kernel frees the device at the last unmount.
func (m mounts) stage(disk, path string, options []string) error {
	mounted, err := m.at(path)
	if err != nil || mounted {
		return err
	}
	return m.FormatAndMount(disk, path, filesystem, append([]string{"loop"}, options...))
}

func (m mounts) publish(staged, path string, readOnly bool) error {
	mounted, err := m.at(path)
	if err != nil || mounted {
		return err
	}
	options := []string{"bind"}
	if readOnly {
		options = append(options, "ro")
	}
	return m.Mount(staged, path, "", options)
}

// at reports whether something is mounted at a path, and creates a missing folder.
func (m mounts) at(path string) (bool, error) {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return false, fmt.Errorf("create a mount point: %w", err)
	}
	mounted, err := m.IsMountPoint(path)
	if err != nil {
		return false, fmt.Errorf("look whether %s is mounted: %w", path, err)
	}
	return mounted, nil
}

// release unmounts and removes the folder. It succeeds if either is already done.
func (m mounts) release(path string) error {
	const certain = true
	if err := mount.CleanupMountPoint(path, m, certain); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("unmount %s: %w", path, err)
	}
	return nil
}

// grow updates the size of the loop device, and then of its filesystem.
func (m mounts) grow(path string) error {
	device, _, err := mount.GetDeviceNameFromMount(m, path)
	if err != nil {
		return fmt.Errorf("find the device that is mounted at %s: %w", path, err)
	}
	if output, err := m.Exec.Command("losetup", "--set-capacity", device).CombinedOutput(); err != nil {
		return fmt.Errorf("make %s as large as its disk: %w: %s", device, err, output)
	}
	if _, err := mount.NewResizeFs(m.Exec).Resize(device, path); err != nil {
		return fmt.Errorf("grow the filesystem at %s: %w", path, err)
	}
	return nil
}
