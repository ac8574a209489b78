package csi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	mebibyte = 1 << 20
	// smallest is the minimum size for mkfs.xfs.
	smallest = 300 * mebibyte
	// largest is an arbitrary limit, the same on every machine, so that impossible requests fail early.
	largest = 100 * 1024 * mebibyte

	// directoryMode allows the group of the owner to write, and no one else. The kubelet sets the group to the pod's
	// fsGroup.
	directoryMode = 0o770
)

// disks are sparse files and directories in one folder, named after their volumes. All access uses os.Root, so that no
// name leads out of the folder.
type disks struct{ base string }

func (d disks) path(volume string) string { return filepath.Join(d.base, volume) }

// disk is the storage of a volume. A directory has no enforced size.
type disk struct {
	directory bool
	size      int64
}

// look returns fs.ErrNotExist for a missing volume.
func (d disks) look(volume string) (found disk, err error) {
	err = d.within(func(root *os.Root) error {
		info, err := root.Lstat(volume)
		if err != nil {
			return fmt.Errorf("look at the disk of volume %q: %w", volume, err)
		}
		switch {
		case info.IsDir():
			found.directory = true
		case info.Mode().IsRegular():
			found.size = info.Size()
		default:
			return fmt.Errorf("%s is not a disk but %s: check it and move it away", d.path(volume), info.Mode())
		}
		return nil
	})
	return found, err
}

// create creates a missing disk.
func (d disks) create(volume string, wanted disk) error {
	if !wanted.directory {
		return d.resize(volume, wanted.size, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	}
	return d.within(func(root *os.Root) error {
		err := root.Mkdir(volume, directoryMode)
		if err == nil {
			err = root.Chmod(volume, directoryMode) // the umask affects Mkdir
		}
		if err != nil {
			return fmt.Errorf("create the directory of volume %q: %w", volume, err)
		}
		return nil
	})
}

// grow only increases a disk: a shorter file would truncate the filesystem.
func (d disks) grow(volume string, size int64) error {
	now, err := d.look(volume)
	if err != nil || now.size >= size {
		return err
	}
	return d.resize(volume, size, os.O_WRONLY)
}

func (d disks) resize(volume string, size int64, flags int) error {
	return d.within(func(root *os.Root) error {
		file, err := root.OpenFile(volume, flags, 0o600)
		if err != nil {
			return fmt.Errorf("open the disk of volume %q: %w", volume, err)
		}
		if err := errors.Join(file.Truncate(size), file.Close()); err != nil {
			return fmt.Errorf("grow the disk of volume %q to %d bytes: %w", volume, size, err)
		}
		return nil
	})
}

// remove succeeds if the disk no longer exists.
func (d disks) remove(volume string) error {
	return d.within(func(root *os.Root) error {
		if err := root.RemoveAll(volume); err != nil {
			return fmt.Errorf("remove the disk of volume %q: %w", volume, err)
		}
		return nil
	})
}

func (d disks) within(do func(root *os.Root) error) error {
	root, err := os.OpenRoot(d.base)
	if err != nil {
		return fmt.Errorf("open the folder of the disks: %w", err)
	}
	defer func() { _ = root.Close() }()
	return do(root)
}
