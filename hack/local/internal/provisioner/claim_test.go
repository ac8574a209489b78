package provisioner

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

func TestAClaimForWhatADirectoryIsNotIsRefused(t *testing.T) {
	for says, change := range map[string]func(*controller.ProvisionOptions){
		"claim shop/data-0: spec.accessModes has ReadWriteMany": func(o *controller.ProvisionOptions) {
			o.PVC.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteMany}
		},
		"claim shop/data-0: spec.selector": func(o *controller.ProvisionOptions) {
			o.PVC.Spec.Selector = &metav1.LabelSelector{}
		},
		"claim shop/data-0: spec.dataSource": func(o *controller.ProvisionOptions) {
			o.PVC.Spec.DataSourceRef = &corev1.TypedObjectReference{Kind: "VolumeSnapshot", Name: "yesterday"}
		},
		`claim shop/data-0: spec.volumeAttributesClassName is "fast"`: func(o *controller.ProvisionOptions) {
			o.PVC.Spec.VolumeAttributesClassName = new("fast")
		},
		"StorageClass standard: parameters has [a b]": func(o *controller.ProvisionOptions) {
			o.StorageClass.Parameters = map[string]string{"b": "1", "a": "2"}
		},
	} {
		options := optionsFor("")
		change(&options)
		mustFail(t, refuse(options), says)
	}
}

func TestAClaimForOneNodeIsTaken(t *testing.T) {
	for _, mode := range []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteOncePod} {
		options := optionsFor("")
		options.PVC.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{mode}
		if err := refuse(options); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// optionsFor is what the library passes for a plain claim.
func optionsFor(selectedNode string) controller.ProvisionOptions {
	return controller.ProvisionOptions{
		StorageClass: &storagev1.StorageClass{
			ObjectMeta:    metav1.ObjectMeta{Name: "standard"},
			Provisioner:   Name,
			ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete),
		},
		PVName: volumeName,
		PVC: &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data-0", UID: "8c1f0d5e"},
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: new("standard"),
				AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("5Gi")},
				},
			},
		},
		SelectedNodeName: selectedNode,
	}
}
