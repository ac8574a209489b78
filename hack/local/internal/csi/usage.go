package csi

import (
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
)

// usage is what df shows.
func usage(path string) (*csi.NodeGetVolumeStatsResponse, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return nil, fmt.Errorf("ask how full %s is: %w", path, err)
	}
	block := uint64(stat.Bsize)
	return &csi.NodeGetVolumeStatsResponse{Usage: []*csi.VolumeUsage{
		amount(csi.VolumeUsage_BYTES, stat.Blocks*block, stat.Bfree*block, stat.Bavail*block),
		amount(csi.VolumeUsage_INODES, stat.Files, stat.Ffree, stat.Ffree),
	}}, nil
}

func amount(unit csi.VolumeUsage_Unit, total, free, available uint64) *csi.VolumeUsage {
	return &csi.VolumeUsage{Unit: unit, Total: int64(total), Used: int64(total - free), Available: int64(available)}
}
