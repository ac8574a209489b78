package csi

import (
	"context"
	"errors"
	"io/fs"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// controller creates, grows and removes disks. The ID of a volume is its name.
type controller struct {
	csi.UnimplementedControllerServer
	disks disks
}

// ControllerGetCapabilities returns the capabilities of the controller service.
func (c *controller) ControllerGetCapabilities(context.Context,
	*csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse, error) {
	response := &csi.ControllerGetCapabilitiesResponse{}
	for _, kind := range []csi.ControllerServiceCapability_RPC_Type{
		csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME,
		csi.ControllerServiceCapability_RPC_EXPAND_VOLUME,
	} {
		response.Capabilities = append(response.Capabilities, &csi.ControllerServiceCapability{
			Type: &csi.ControllerServiceCapability_Rpc{Rpc: &csi.ControllerServiceCapability_RPC{Type: kind}},
		})
	}
	return response, nil
}

// CreateVolume accepts an existing disk of the same name, because clients retry after an interruption.
func (c *controller) CreateVolume(_ context.Context, request *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	if err := refuse(request); err != nil {
		return nil, err
	}
	name := request.GetName()
	wanted, err := diskFor(request)
	if err != nil {
		return nil, err
	}
	switch now, err := c.disks.look(name); {
	case errors.Is(err, fs.ErrNotExist):
		if err := c.disks.create(name, wanted); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case now.directory != wanted.directory || !suits(now, request.GetCapacityRange()):
		return nil, status.Errorf(codes.AlreadyExists, "volume %s already exists and differs: %+v", name, now)
	default:
		wanted = now
	}
	// For a directory, record the requested size.
	size := max(wanted.size, request.GetCapacityRange().GetRequiredBytes())
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: name, CapacityBytes: size}}, nil
}

// DeleteVolume succeeds if the volume no longer exists.
func (c *controller) DeleteVolume(_ context.Context, request *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	return &csi.DeleteVolumeResponse{}, c.disks.remove(request.GetVolumeId())
}

// ControllerExpandVolume grows the disk. The node service does the rest.
func (c *controller) ControllerExpandVolume(_ context.Context,
	request *csi.ControllerExpandVolumeRequest) (*csi.ControllerExpandVolumeResponse, error) {
	volume := request.GetVolumeId()
	if request.GetCapacityRange() == nil {
		return nil, status.Error(codes.InvalidArgument, "an expansion needs a size")
	}
	now, err := c.disks.growing(volume)
	if err != nil {
		return nil, err
	}
	size, err := sizeFor(request.GetCapacityRange())
	if err != nil {
		return nil, err
	}
	if err := c.disks.grow(volume, size); err != nil {
		return nil, err
	}
	return &csi.ControllerExpandVolumeResponse{CapacityBytes: max(now.size, size), NodeExpansionRequired: true}, nil
}

// ValidateVolumeCapabilities confirms the capabilities of a volume.
func (c *controller) ValidateVolumeCapabilities(
	_ context.Context, request *csi.ValidateVolumeCapabilitiesRequest,
) (*csi.ValidateVolumeCapabilitiesResponse, error) {
	capabilities := request.GetVolumeCapabilities()
	if len(capabilities) == 0 {
		return nil, status.Error(codes.InvalidArgument, "the capabilities of the volume are required")
	}
	if _, err := c.disks.known(request.GetVolumeId()); err != nil {
		return nil, err
	}
	if err := refuseCapabilities(capabilities...); err != nil {
		return &csi.ValidateVolumeCapabilitiesResponse{Message: err.Error()}, nil //nolint:nilerr // the rejection is the response
	}
	return &csi.ValidateVolumeCapabilitiesResponse{
		Confirmed: &csi.ValidateVolumeCapabilitiesResponse_Confirmed{VolumeCapabilities: capabilities},
	}, nil
}
