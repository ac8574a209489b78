package csi

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"k8s.io/klog/v2"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// Name is what a StorageClass says in its field "provisioner" to get these volumes.
const Name = "disk.local.database.dbcluster.io"

// identity says who this is, to the sidecars in the words of CSI and to the kubelet in its own.
type identity struct {
	csi.UnimplementedIdentityServer
	registration.UnimplementedRegistrationServer
}

// GetPluginInfo names the driver.
func (identity) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: Name, VendorVersion: "local"}, nil
}

// GetPluginCapabilities says that there is a controller and that volumes grow in use.
func (identity) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	service := &csi.PluginCapability_Service{Type: csi.PluginCapability_Service_CONTROLLER_SERVICE}
	expansion := &csi.PluginCapability_VolumeExpansion{Type: csi.PluginCapability_VolumeExpansion_ONLINE}
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{
		{Type: &csi.PluginCapability_Service_{Service: service}},
		{Type: &csi.PluginCapability_VolumeExpansion_{VolumeExpansion: expansion}},
	}}, nil
}

// Probe answers, so the driver is ready.
func (identity) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

// GetInfo leaves the endpoint out: it is the socket that the kubelet asks on.
func (identity) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{Type: registration.CSIPlugin, Name: Name, SupportedVersions: []string{"1.0.0"}}, nil
}

// NotifyRegistrationStatus is the kubelet's answer, for whoever reads the log.
func (identity) NotifyRegistrationStatus(ctx context.Context, answer *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	klog.FromContext(ctx).Info("The kubelet has answered", "registered", answer.GetPluginRegistered(), "error", answer.GetError())
	return &registration.RegistrationStatusResponse{}, nil
}
