package csi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// accessModes are those that a filesystem mounted on one node can offer.
var accessModes = []csi.VolumeCapability_AccessMode_Mode{
	csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER,
	csi.VolumeCapability_AccessMode_SINGLE_NODE_READER_ONLY,
}

// sizeFor is the size of a disk that a request is content with.
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

// suits says whether a disk that is there already is what a request asks for.
func suits(size int64, wanted *csi.CapacityRange) bool {
	return size >= wanted.GetRequiredBytes() && (wanted.GetLimitBytes() == 0 || size <= wanted.GetLimitBytes())
}

// refuse says what a volume on one node's disk is not. Giving less than was asked for would show up
// much later, as lost data.
func refuse(request *csi.CreateVolumeRequest) error {
	if request.GetName() == "" {
		return status.Error(codes.InvalidArgument, "the volume has no name")
	}
	if request.GetVolumeContentSource() != nil {
		return status.Error(codes.InvalidArgument, "only empty volumes are made here, no clones and no restored snapshots")
	}
	for _, parameter := range slices.Sorted(maps.Keys(request.GetParameters())) {
		if !strings.HasPrefix(parameter, "csi.storage.k8s.io/") {
			return status.Errorf(codes.InvalidArgument, "parameter %s: this driver takes none, make the StorageClass anew without", parameter)
		}
	}
	return refuseCapabilities(request.GetVolumeCapabilities()...)
}

func refuseCapabilities(capabilities ...*csi.VolumeCapability) error {
	if len(capabilities) == 0 || capabilities[0] == nil {
		return status.Error(codes.InvalidArgument, "no volume capability is given")
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
		return "only filesystems are made here, no block volumes"
	case !slices.Contains([]string{"", filesystem}, capability.GetMount().GetFsType()):
		return fmt.Sprintf("filesystem %s: only %s is made here", capability.GetMount().GetFsType(), filesystem)
	case !slices.Contains(accessModes, mode):
		return fmt.Sprintf("access mode %s: the disk is on one node", mode)
	}
	return ""
}
