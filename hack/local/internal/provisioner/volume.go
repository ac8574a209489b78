package provisioner

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// volumeFor is the volume that holds what the claim asked for. The library adds the claim,
// the class and the name of the provisioner.
func volumeFor(options controller.ProvisionOptions, path, hostname string) *corev1.PersistentVolume {
	claim := options.PVC.Spec
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: options.PVName},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: claim.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:                   claim.AccessModes,
			PersistentVolumeReclaimPolicy: ptr.Deref(options.StorageClass.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete),
			VolumeMode:                    new(corev1.PersistentVolumeFilesystem),
			MountOptions:                  options.StorageClass.MountOptions,
			NodeAffinity:                  onlyOn(hostname),
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				Local: &corev1.LocalVolumeSource{Path: path},
			},
		},
	}
}

// onlyOn asks for a label, because the affinity of volumes knows no field of the node.
func onlyOn(hostname string) *corev1.VolumeNodeAffinity {
	return &corev1.VolumeNodeAffinity{
		Required: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key:      corev1.LabelHostname,
					Operator: corev1.NodeSelectorOpIn,
					Values:   []string{hostname},
				}},
			}},
		},
	}
}
