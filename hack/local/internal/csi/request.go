package csi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// accessModes are the modes of a filesystem on one node.
var accessModes = []csi.VolumeCapability_AccessMode_Mode{
	csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER,
	csi.VolumeCapability_AccessMode_SINGLE_NODE_READER_ONLY,
}

// parameterKind is the parameter of a StorageClass that selects directories.
const parameterKind, kindDirectory = "kind", "directory"

// diskFor returns the disk for a request.
func diskFor(request *csi.CreateVolumeRequest) (disk, error) {
	if request.GetParameters()[parameterKind] == kindDirectory {
		return disk{directory: true}, nil
	}
	size, err := sizeFor(request.GetCapacityRange())
	return disk{size: size}, err
}

// sizeFor returns the file size for a request.
func sizeFor(wanted *csi.CapacityRange) (int64, error) {
	required, limit := wanted.GetRequiredBytes(), wanted.GetLimitBytes()
	size := (max(required, smallest) + mebibyte - 1) / mebibyte * mebibyte
	switch {
	case required < 0 || limit < 0:
		return 0, status.Errorf(codes.InvalidArgument, "a size is negative: %v", wanted)
	case required > largest:
		return 0, status.Errorf(codes.OutOfRange, "%d bytes are required: a volume has at most %d", required, int64(largest))
	case limit > 0 && size > limit:
		return 0, status.Errorf(codes.OutOfRange, "%d bytes are the limit: the smallest volume for this request has %d", limit, size)
	}
	return size, nil
}

// suits reports whether the size of an existing disk fits a request.
func suits(now disk, wanted *csi.CapacityRange) bool {
	return now.directory || now.size >= wanted.GetRequiredBytes() && (wanted.GetLimitBytes() == 0 || now.size <= wanted.GetLimitBytes())
}

// refuse rejects requests that a disk on one node cannot fulfill. Accepting them would cause data loss later.
func refuse(request *csi.CreateVolumeRequest) error {
	if request.GetName() == "" {
		return status.Error(codes.InvalidArgument, "the volume has no name")
	}
	if request.GetVolumeContentSource() != nil {
		return status.Error(codes.InvalidArgument, "only empty volumes are supported, no clones and no snapshots")
	}
	for parameter, value := range request.GetParameters() {
		known := parameter == parameterKind && value == kindDirectory
		if !known && !strings.HasPrefix(parameter, "csi.storage.k8s.io/") {
			return status.Errorf(codes.InvalidArgument, "parameter %s=%s: this driver takes only %s=%s, re-create the StorageClass", parameter,
				value, parameterKind, kindDirectory)
		}
	}
	return refuseCapabilities(request.GetVolumeCapabilities()...)
}

func refuseCapabilities(capabilities ...*csi.VolumeCapability) error {
	if len(capabilities) == 0 || capabilities[0] == nil {
		return status.Error(codes.InvalidArgument, "no volume capability is set")
	}
	for _, capability := range capabilities {
		if problem := problemOf(capability); problem != "" {
			return status.Error(codes.InvalidArgument, problem)
		}
	}
	return nil
}

func problemOf(capability *csi.VolumeCapability) string {
	mode := capability.GetAccessMode().GetMode()
	switch {
	case capability.GetMount() == nil:
		return "only filesystems are supported, no block volumes"
	case !slices.Contains([]string{"", filesystem}, capability.GetMount().GetFsType()):
		return fmt.Sprintf("filesystem %s: only %s is supported", capability.GetMount().GetFsType(), filesystem)
	case !slices.Contains(accessModes, mode):
		return fmt.Sprintf("access mode %s: the disk is on one node", mode)
	}
	return ""
}
