package csi

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"k8s.io/klog/v2"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// Name is the provisioner of these volumes in a StorageClass.
const Name = "disk.local.database.dbcluster.io"

// identity identifies the driver to the CSI sidecars and to the kubelet.
type identity struct {
	csi.UnimplementedIdentityServer
	registration.UnimplementedRegistrationServer
}

// GetPluginInfo returns the name of the driver.
func (identity) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: Name, VendorVersion: "local"}, nil
}

// GetPluginCapabilities returns: a controller service, and online volume expansion.
func (identity) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	service := &csi.PluginCapability_Service{Type: csi.PluginCapability_Service_CONTROLLER_SERVICE}
	expansion := &csi.PluginCapability_VolumeExpansion{Type: csi.PluginCapability_VolumeExpansion_ONLINE}
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{
		{Type: &csi.PluginCapability_Service_{Service: service}},
		{Type: &csi.PluginCapability_VolumeExpansion_{VolumeExpansion: expansion}},
	}}, nil
}

// Probe returns ready.
func (identity) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

// GetInfo omits the endpoint: it is the socket of the kubelet's request.
func (identity) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{Type: registration.CSIPlugin, Name: Name, SupportedVersions: []string{"1.0.0"}}, nil
}

// NotifyRegistrationStatus logs the response of the kubelet.
func (identity) NotifyRegistrationStatus(ctx context.Context,
	answer *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	klog.FromContext(ctx).Info("The kubelet has answered", "registered", answer.GetPluginRegistered(), "error", answer.GetError())
	return &registration.RegistrationStatusResponse{}, nil
}
