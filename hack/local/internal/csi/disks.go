package csi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	mebibyte = 1 << 20
	// smallest is what mkfs.xfs makes a filesystem on.
	smallest = 300 * mebibyte
	// largest is an arbitrary bound, the same on every machine, so that a request that can
	// never be met is known beforehand.
	largest = 100 * 1024 * mebibyte

	// directoryMode lets the owner's group write, and nobody else in. The kubelet makes the pod's fsGroup that group.
	directoryMode = 0o770
)

// disks are sparse files and directories in one folder, named after their volumes. All access goes through os.Root,
// which lets no name lead out of the folder.
type disks struct{ base string }

func (d disks) path(volume string) string { return filepath.Join(d.base, volume) }

// disk is what a volume lies on. Nothing enforces the size of a directory, so it has none.
type disk struct {
	directory bool
	size      int64
}

// look is fs.ErrNotExist for a volume that is not there.
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
			return fmt.Errorf("%s is no disk but %s: look into it and move it away", d.path(volume), info.Mode())
		}
		return nil
	})
	return found, err
}

// create makes a disk that is not there yet.
func (d disks) create(volume string, wanted disk) error {
	if !wanted.directory {
		return d.resize(volume, wanted.size, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	}
	return d.within(func(root *os.Root) error {
		err := root.Mkdir(volume, directoryMode)
		if err == nil {
			err = root.Chmod(volume, directoryMode) // the umask has its say in Mkdir
		}
		if err != nil {
			return fmt.Errorf("create the directory of volume %q: %w", volume, err)
		}
		return nil
	})
}

// grow only ever makes a disk larger: a shorter file would cut the filesystem off.
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
			return fmt.Errorf("make the disk of volume %q %d bytes large: %w", volume, size, err)
		}
		return nil
	})
}

// remove succeeds when the disk is gone already.
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
