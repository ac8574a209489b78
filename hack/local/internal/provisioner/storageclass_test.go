package provisioner

import (
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestTheStorageClassNamesThisProvisioner(t *testing.T) {
	decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(StorageClass), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	class, ok := decoded.(*storagev1.StorageClass)
	if !ok {
		t.Fatalf("the manifest is a %T", decoded)
	}
	if class.Provisioner != Name {
		t.Errorf("the provisioner is %s, want %s", class.Provisioner, Name)
	}
	if class.AllowVolumeExpansion == nil || *class.AllowVolumeExpansion {
		t.Error("the class promises volumes that grow")
	}
}
