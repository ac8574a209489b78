package provisioner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// volumeMode lets the owner's group write, and nobody else in. The kubelet makes the pod's
// fsGroup that group; without an fsGroup only root gets in, as with most CSI drivers.
const volumeMode = 0o770

// directories keeps every volume in a folder of its own, named after the volume. All access
// goes through os.Root, which follows no symlink out of the folder that it was opened on.
type directories struct{ base string }

func (d directories) path(volume string) string {
	return filepath.Join(d.base, volume)
}

// create succeeds when the directory is there already: whoever was cut short tries again.
func (d directories) create(volume string) error {
	return d.within(func(root *os.Root) error {
		if err := root.Mkdir(volume, volumeMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make the directory of volume %s: %w", volume, err)
		}
		if err := isDirectory(root, volume); err != nil {
			return err
		}
		// The umask had its say in Mkdir.
		if err := root.Chmod(volume, volumeMode); err != nil {
			return fmt.Errorf("set the mode of the directory of volume %s: %w", volume, err)
		}
		return nil
	})
}

// remove succeeds when the directory is gone already.
func (d directories) remove(volume string) error {
	err := d.within(func(root *os.Root) error {
		if err := isDirectory(root, volume); err != nil {
			return err
		}
		if err := root.RemoveAll(volume); err != nil {
			return fmt.Errorf("remove the directory of volume %s: %w", volume, err)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (d directories) within(do func(root *os.Root) error) error {
	root, err := os.OpenRoot(d.base)
	if err != nil {
		return fmt.Errorf("open the folder of the volumes: %w", err)
	}
	defer func() { _ = root.Close() }()
	return do(root)
}

func isDirectory(root *os.Root, volume string) error {
	info, err := root.Lstat(volume)
	if err != nil {
		return fmt.Errorf("look at the directory of volume %s: %w", volume, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory but a %s: look into it and move it away",
			filepath.Join(root.Name(), volume), kind(info.Mode()))
	}
	return nil
}

func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode.IsRegular():
		return "file"
	default:
		return "special file"
	}
}
