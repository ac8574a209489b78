package csi

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestASizeIsRoundedUpAndBounded(t *testing.T) {
	for name, test := range map[string]struct {
		required, limit, want int64
		code                  codes.Code
	}{
		"none":                            {0, 0, smallest, codes.OK},
		"less than a filesystem needs":    {64 * mebibyte, 0, smallest, codes.OK},
		"a whole number of MiB":           {512 * mebibyte, 512 * mebibyte, 512 * mebibyte, codes.OK},
		"a byte more":                     {512*mebibyte + 1, 0, 513 * mebibyte, codes.OK},
		"the largest":                     {largest, 0, largest, codes.OK},
		"a byte more than the largest":    {largest + 1, 0, 0, codes.OutOfRange},
		"a limit that the smallest tops":  {0, smallest - 1, 0, codes.OutOfRange},
		"a limit that the rounding tops":  {512*mebibyte + 1, 512*mebibyte + 2, 0, codes.OutOfRange},
		"a negative size":                 {-1, 0, 0, codes.InvalidArgument},
		"a negative limit":                {0, -1, 0, codes.InvalidArgument},
		"more than any number would hold": {1<<63 - 1, 0, 0, codes.OutOfRange},
	} {
		t.Run(name, func(t *testing.T) {
			size, err := sizeFor(&csi.CapacityRange{RequiredBytes: test.required, LimitBytes: test.limit})
			if size != test.want || status.Code(err) != test.code {
				t.Errorf("got %d, %v, want %d, %s", size, err, test.want, test.code)
			}
		})
	}
}

func TestAnInfeasibleGrowthLeavesTheVolumeAsItIs(t *testing.T) {
	controller := controllerWith(t, 512*mebibyte)
	_, err := controller.ControllerExpandVolume(t.Context(), expansion(largest+1))
	if status.Code(err) != codes.OutOfRange {
		t.Errorf("got %v, want OutOfRange: the resizer marks no other code infeasible", err)
	}
	mustHave(t, controller.disks, 512*mebibyte)
}

func TestAVolumeNeverShrinks(t *testing.T) {
	controller := controllerWith(t, 1024*mebibyte)
	answer, err := controller.ControllerExpandVolume(t.Context(), expansion(512*mebibyte))
	if err != nil || answer.GetCapacityBytes() != 1024*mebibyte {
		t.Errorf("got %v, %v", answer, err)
	}
	mustHave(t, controller.disks, 1024*mebibyte)
}

func TestWhatADiskIsNotIsRefused(t *testing.T) {
	for says, change := range map[string]func(*csi.CreateVolumeRequest){
		"no name":              func(r *csi.CreateVolumeRequest) { r.Name = "" },
		"no volume capability": func(r *csi.CreateVolumeRequest) { r.VolumeCapabilities = nil },
		"parameter speed":      func(r *csi.CreateVolumeRequest) { r.Parameters = map[string]string{"speed": "high"} },
		"parameter kind=disk":  func(r *csi.CreateVolumeRequest) { r.Parameters = map[string]string{"kind": "disk"} },
		"no clones":            func(r *csi.CreateVolumeRequest) { r.VolumeContentSource = &csi.VolumeContentSource{} },
		"no block volumes":     func(r *csi.CreateVolumeRequest) { r.VolumeCapabilities[0].AccessType = &csi.VolumeCapability_Block{} },
		"filesystem ext4":      func(r *csi.CreateVolumeRequest) { r.VolumeCapabilities[0].GetMount().FsType = "ext4" },
		"MULTI_NODE_MULTI_WRITER": func(r *csi.CreateVolumeRequest) {
			r.VolumeCapabilities[0].AccessMode.Mode = csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER
		},
	} {
		request := &csi.CreateVolumeRequest{Name: volumeID, VolumeCapabilities: []*csi.VolumeCapability{writable()}}
		change(request)
		controller := &controller{disks: disks{t.TempDir()}}
		_, err := controller.CreateVolume(t.Context(), request)
		if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want InvalidArgument that says %q", err, says)
		}
		if left, _ := filepath.Glob(controller.disks.path("*")); len(left) > 0 {
			t.Errorf("%s: %v was created", says, left)
		}
	}
}

func TestNamesThatLeadOutOfTheFolderAreRefused(t *testing.T) {
	disks := disks{t.TempDir()}
	for _, name := range []string{"../precious", "..", "x/../../precious", filepath.Join(t.TempDir(), "precious")} {
		if err := disks.create(name, disk{size: mebibyte}); err == nil {
			t.Errorf("create(%q) succeeded", name)
		}
		if err := disks.create(name, disk{directory: true}); err == nil {
			t.Errorf("create(%q) created a directory", name)
		}
		if err := disks.remove(name); err == nil && name != "x/../../precious" {
			t.Errorf("remove(%q) succeeded", name)
		}
	}
}

func TestTheManifestsNameThisDriver(t *testing.T) {
	if class := decode(t, Growing).(*storagev1.StorageClass); class.Provisioner != Name || !*class.AllowVolumeExpansion {
		t.Errorf("got %+v", class)
	}
	class := decode(t, Standard).(*storagev1.StorageClass)
	if class.Provisioner != Name || *class.AllowVolumeExpansion || class.Parameters[parameterKind] != kindDirectory {
		t.Errorf("got %+v", class)
	}
	if driver := decode(t, CSIDriver).(*storagev1.CSIDriver); driver.Name != Name {
		t.Errorf("the driver is called %s, want %s", driver.Name, Name)
	}
}

func decode(t *testing.T, manifest string) runtime.Object {
	t.Helper()
	decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(manifest), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

func controllerWith(t *testing.T, size int64) *controller {
	t.Helper()
	controller := &controller{disks: disks{t.TempDir()}}
	if err := controller.disks.create(volumeID, disk{size: size}); err != nil {
		t.Fatal(err)
	}
	return controller
}

func expansion(size int64) *csi.ControllerExpandVolumeRequest {
	return &csi.ControllerExpandVolumeRequest{VolumeId: volumeID, CapacityRange: &csi.CapacityRange{RequiredBytes: size}}
}

func mustHave(t *testing.T, disks disks, size int64) {
	t.Helper()
	if now, err := disks.look(volumeID); err != nil || now.size != size {
		t.Errorf("the disk has %d bytes, %v, want %d", now.size, err, size)
	}
}
