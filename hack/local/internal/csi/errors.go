package csi

import (
	"errors"
	"io/fs"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var (
	errNoVolume = status.Error(codes.InvalidArgument, "no volume is named")
	errNoPath   = status.Error(codes.InvalidArgument, "no path is named")
)

// known is the size of a volume's disk, with the error that CSI names when there is none.
func (d disks) known(volume string) (int64, error) {
	size, err := d.size(volume)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, status.Errorf(codes.NotFound, "there is no volume %s", volume)
	}
	return size, err
}

// needs refuses a request of the node's part without a volume or a path.
func needs(volume, path string) error {
	switch {
	case volume == "":
		return errNoVolume
	case path == "":
		return errNoPath
	}
	return nil
}
