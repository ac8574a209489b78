package csi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// node mounts disks: once per node at the staging path, and from there into each pod.
type node struct {
	csi.UnimplementedNodeServer
	name   string
	disks  disks
	mounts mounts
}

// NodeGetInfo returns the name of the node.
func (n *node) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: n.name}, nil
}

// NodeGetCapabilities returns the capabilities of the node service.
func (n *node) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	response := &csi.NodeGetCapabilitiesResponse{}
	for _, kind := range []csi.NodeServiceCapability_RPC_Type{
		csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME,
		csi.NodeServiceCapability_RPC_EXPAND_VOLUME,
		csi.NodeServiceCapability_RPC_GET_VOLUME_STATS,
	} {
		response.Capabilities = append(response.Capabilities, &csi.NodeServiceCapability{
			Type: &csi.NodeServiceCapability_Rpc{Rpc: &csi.NodeServiceCapability_RPC{Type: kind}},
		})
	}
	return response, nil
}

// NodeStageVolume creates the filesystem if needed, and mounts it.
func (n *node) NodeStageVolume(_ context.Context, request *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
	volume, path := request.GetVolumeId(), request.GetStagingTargetPath()
	if err := needs(path); err != nil {
		return nil, err
	}
	if err := refuseCapabilities(request.GetVolumeCapability()); err != nil {
		return nil, err
	}
	if found, err := n.disks.known(volume); err != nil || found.directory {
		return &csi.NodeStageVolumeResponse{}, err // a directory needs no staging
	}
	options := request.GetVolumeCapability().GetMount().GetMountFlags()
	return &csi.NodeStageVolumeResponse{}, n.mounts.stage(n.disks.path(volume), path, options)
}

// NodeUnstageVolume unmounts, and the kernel frees the loop device.
func (n *node) NodeUnstageVolume(_ context.Context, request *csi.NodeUnstageVolumeRequest) (*csi.NodeUnstageVolumeResponse, error) {
	if err := needs(request.GetStagingTargetPath()); err != nil {
		return nil, err
	}
	return &csi.NodeUnstageVolumeResponse{}, n.mounts.release(request.GetStagingTargetPath())
}

// NodePublishVolume mounts a staged volume into a pod.
func (n *node) NodePublishVolume(_ context.Context, request *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	volume, staged, path := request.GetVolumeId(), request.GetStagingTargetPath(), request.GetTargetPath()
	if err := needs(path); err != nil {
		return nil, err
	}
	if err := refuseCapabilities(request.GetVolumeCapability()); err != nil {
		return nil, err
	}
	found, err := n.disks.known(volume)
	if err != nil {
		return nil, err
	}
	if staged == "" {
		return nil, status.Errorf(codes.FailedPrecondition, "volume %s is not staged", volume)
	}
	if found.directory {
		staged = n.disks.path(volume)
	}
	return &csi.NodePublishVolumeResponse{}, n.mounts.publish(staged, path, request.GetReadonly())
}

// NodeUnpublishVolume unmounts the volume from the pod.
func (n *node) NodeUnpublishVolume(_ context.Context, request *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	if err := needs(request.GetTargetPath()); err != nil {
		return nil, err
	}
	return &csi.NodeUnpublishVolumeResponse{}, n.mounts.release(request.GetTargetPath())
}

// NodeExpandVolume grows a mounted filesystem to the size of its disk.
func (n *node) NodeExpandVolume(_ context.Context, request *csi.NodeExpandVolumeRequest) (*csi.NodeExpandVolumeResponse, error) {
	volume, path := request.GetVolumeId(), request.GetVolumePath()
	if err := needs(path); err != nil {
		return nil, err
	}
	found, err := n.disks.growing(volume)
	if err != nil {
		return nil, err
	}
	if err := n.mounted(volume, path); err != nil {
		return nil, err
	}
	return &csi.NodeExpandVolumeResponse{CapacityBytes: found.size}, n.mounts.grow(path)
}

// NodeGetVolumeStats returns the usage of a mounted volume.
func (n *node) NodeGetVolumeStats(_ context.Context, request *csi.NodeGetVolumeStatsRequest) (*csi.NodeGetVolumeStatsResponse, error) {
	volume, path := request.GetVolumeId(), request.GetVolumePath()
	if err := needs(path); err != nil {
		return nil, err
	}
	if _, err := n.disks.known(volume); err != nil {
		return nil, err
	}
	if err := n.mounted(volume, path); err != nil {
		return nil, err
	}
	return usage(path)
}

// mounted rejects a path that is not a mount point.
func (n *node) mounted(volume, path string) error {
	isMount, err := n.mounts.IsMountPoint(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !isMount:
		return status.Errorf(codes.NotFound, "volume %s is not mounted at %s", volume, path)
	case err != nil:
		return fmt.Errorf("look whether %s is mounted: %w", path, err)
	}
	return nil
}
