package provisioner

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// accessModes are those that a directory of one node can offer.
var accessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteOncePod}

// refuse says what the claim or its class asks for that an empty directory of one node is
// not. Giving less than was asked for would show up much later, as lost data.
func refuse(options controller.ProvisionOptions) error {
	claim, class := options.PVC, options.StorageClass
	if problem := problemOf(claim.Spec); problem != "" {
		return fmt.Errorf("claim %s/%s: %s", claim.Namespace, claim.Name, problem)
	}
	if len(class.Parameters) > 0 {
		return fmt.Errorf("StorageClass %s: parameters has %v: provisioner %s takes none, make the class anew without",
			class.Name, slices.Sorted(maps.Keys(class.Parameters)), Name)
	}
	return nil
}

func problemOf(spec corev1.PersistentVolumeClaimSpec) string {
	for _, mode := range spec.AccessModes {
		if !slices.Contains(accessModes, mode) {
			return fmt.Sprintf("spec.accessModes has %s: a directory of one node is one of %v", mode, accessModes)
		}
	}
	switch {
	case spec.Selector != nil:
		return "spec.selector is set: a volume made for this claim has no labels to select by, leave it out"
	case spec.DataSource != nil || spec.DataSourceRef != nil:
		return "spec.dataSource is set: only empty volumes are made here, no clones and no restored snapshots"
	case spec.VolumeAttributesClassName != nil:
		return fmt.Sprintf("spec.volumeAttributesClassName is %q: a directory has no such attributes, leave it out",
			*spec.VolumeAttributesClassName)
	}
	return ""
}
