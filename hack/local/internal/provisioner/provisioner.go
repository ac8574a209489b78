package provisioner

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// Name is what a StorageClass says in its field "provisioner" to get these volumes.
const Name = "local.database.dbcluster.io/directory"

// Provisioner makes and removes the directory of a volume when the library asks for it.
type Provisioner struct {
	client      kubernetes.Interface
	directories directories
}

// Provision makes a directory and says what volume it is.
func (p *Provisioner) Provision(ctx context.Context, options controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	if err := refuse(options); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	node, err := nodeFor(ctx, p.client, options.SelectedNodeName)
	if apierrors.IsNotFound(err) {
		return nil, controller.ProvisioningReschedule, err
	}
	if err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	hostname, err := hostnameOf(node)
	if err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	if err := p.directories.create(options.PVName); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	path := p.directories.path(options.PVName)
	klog.FromContext(ctx).Info("Made a directory", "path", path, "claim", klog.KObj(options.PVC))
	return volumeFor(options, path, hostname), controller.ProvisioningFinished, nil
}

// Delete removes the directory of a volume, and no other: a volume that says it lies
// elsewhere was made under another --dir, or by hand.
func (p *Provisioner) Delete(ctx context.Context, volume *corev1.PersistentVolume) error {
	path := p.directories.path(volume.Name)
	if volume.Spec.Local == nil || volume.Spec.Local.Path != path {
		return fmt.Errorf("volume %s was not made here, where it would lie in %s: remove what it holds and then the volume by hand",
			volume.Name, path)
	}
	if err := p.directories.remove(volume.Name); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Removed a directory", "path", path)
	return nil
}
