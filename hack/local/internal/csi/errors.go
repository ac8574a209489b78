package csi

import (
	"errors"
	"io/fs"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// known is a volume's disk, with the error that CSI names when there is none.
func (d disks) known(volume string) (disk, error) {
	found, err := d.look(volume)
	if errors.Is(err, fs.ErrNotExist) {
		return disk{}, status.Errorf(codes.NotFound, "there is no volume %s", volume)
	}
	return found, err
}

// growing is a volume's disk that can grow.
func (d disks) growing(volume string) (disk, error) {
	found, err := d.known(volume)
	if err == nil && found.directory {
		err = status.Errorf(codes.InvalidArgument, "volume %s is a directory and cannot grow", volume)
	}
	return found, err
}

// needs refuses a request of the node's part without a path.
func needs(path string) error {
	if path == "" {
		return status.Error(codes.InvalidArgument, "no path is named")
	}
	return nil
}
