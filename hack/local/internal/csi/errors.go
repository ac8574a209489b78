package csi

import (
	"errors"
	"io/fs"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// known returns the disk of a volume, or the CSI error for a missing volume.
func (d disks) known(volume string) (disk, error) {
	found, err := d.look(volume)
	if errors.Is(err, fs.ErrNotExist) {
		return disk{}, status.Errorf(codes.NotFound, "volume %s does not exist", volume)
	}
	return found, err
}

// growing returns the disk of a volume that can grow.
func (d disks) growing(volume string) (disk, error) {
	found, err := d.known(volume)
	if err == nil && found.directory {
		err = status.Errorf(codes.InvalidArgument, "volume %s is a directory and cannot grow", volume)
	}
	return found, err
}

// needs rejects a request of the node service without a path.
func needs(path string) error {
	if path == "" {
		return status.Error(codes.InvalidArgument, "a path is required")
	}
	return nil
}
