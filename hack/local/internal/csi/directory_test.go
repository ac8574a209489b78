package csi

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var directory = map[string]string{parameterKind: kindDirectory}

func directoryRequest() *csi.CreateVolumeRequest {
	return &csi.CreateVolumeRequest{
		Name: volumeID, Parameters: directory, VolumeCapabilities: []*csi.VolumeCapability{writable()},
		CapacityRange: &csi.CapacityRange{RequiredBytes: mebibyte},
	}
}

func TestADirectoryKeepsItsDataAndTakesNoLoopDevice(t *testing.T) {
	connection := connect(t)
	path, staged := publish(t, connection, mebibyte, directory)
	if err := os.WriteFile(filepath.Join(path, "data"), []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	awaitNoLoopDevice(t, volumeID)
	if total := totalOf(t, connection, path); total < smallest {
		t.Errorf("%d bytes are there, want what the machine has", total)
	}
	release(t, connection, path, staged)
	stageAndPublish(t, connection, path, staged)
	if content, err := os.ReadFile(filepath.Join(path, "data")); string(content) != "kept" {
		t.Errorf("got %q, %v", content, err)
	}
	_, err := csi.NewNodeClient(connection).NodeExpandVolume(t.Context(), &csi.NodeExpandVolumeRequest{VolumeId: volumeID, VolumePath: path})
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("got %v, want that a directory cannot grow", err)
	}
}

func TestADirectoryHasTheSizeThatWasAskedForAndCannotGrow(t *testing.T) {
	controller := &controller{disks: disks{t.TempDir()}}
	for range 2 {
		answer, err := controller.CreateVolume(t.Context(), directoryRequest())
		if err != nil || answer.GetVolume().GetCapacityBytes() != mebibyte {
			t.Errorf("got %v, %v", answer, err)
		}
	}
	if _, err := controller.ControllerExpandVolume(t.Context(), expansion(2*mebibyte)); status.Code(err) != codes.InvalidArgument {
		t.Errorf("got %v, want that a directory cannot grow", err)
	}
	other := directoryRequest()
	other.Parameters = nil
	if _, err := controller.CreateVolume(t.Context(), other); status.Code(err) != codes.AlreadyExists {
		t.Errorf("got %v, want that a directory is no disk", err)
	}
}

func TestTheOwnersGroupMayWriteWhateverTheUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	disks := disks{t.TempDir()}
	if err := disks.create(volumeID, disk{directory: true}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(disks.path(volumeID)); err != nil || info.Mode() != fs.ModeDir|0o770 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
}

func TestASymbolicLinkIsNoVolumeAndNobodyFollowsIt(t *testing.T) {
	disks, elsewhere := disks{t.TempDir()}, t.TempDir()
	precious := filepath.Join(elsewhere, "precious")
	if err := os.WriteFile(precious, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, disks.path("link")); err != nil {
		t.Fatal(err)
	}
	if _, err := disks.look("link"); err == nil {
		t.Error("a symbolic link was taken for a volume")
	}
	if err := disks.create(volumeID, disk{directory: true}); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(disks.path(volumeID), "inside")); err != nil {
		t.Fatal(err)
	}
	for _, volume := range []string{"link", volumeID, volumeID} {
		if err := disks.remove(volume); err != nil {
			t.Errorf("remove(%q): %v", volume, err)
		}
	}
	if _, err := os.Stat(precious); err != nil {
		t.Errorf("what a link leads to was removed: %v", err)
	}
	if _, err := os.Stat(disks.path(volumeID)); err == nil {
		t.Error("the volume is there still")
	}
}
