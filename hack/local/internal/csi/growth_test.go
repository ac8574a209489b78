package csi

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/apimachinery/pkg/util/wait"
)

func TestAVolumeGrowsWhileItIsWrittenTo(t *testing.T) {
	connection := connect(t)
	path, staged := publish(t, connection, 512*mebibyte, nil)
	before := totalOf(t, connection, path)
	if before > 512*mebibyte || before < 400*mebibyte {
		t.Errorf("the filesystem has %d bytes, want what mkfs leaves of 512 MiB", before)
	}

	ended := writeOn(t, filepath.Join(path, "data"))
	expand(t, connection, staged, 1024*mebibyte)
	if written := ended(); written == 0 {
		t.Error("nothing was written while the volume grew")
	}
	if after := totalOf(t, connection, path); after != before+512*mebibyte {
		t.Errorf("the filesystem has %d bytes, want 512 MiB more than %d", after, before)
	}
}

func TestAVolumeKeepsItsDataAndItsSizeFromOnePodToTheNext(t *testing.T) {
	connection := connect(t)
	path, staged := publish(t, connection, smallest, nil)
	expand(t, connection, staged, 2*smallest)
	size := totalOf(t, connection, path)
	if err := os.WriteFile(filepath.Join(path, "data"), []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}

	release(t, connection, path, staged)
	awaitNoLoopDevice(t, volumeID)
	stageAndPublish(t, connection, path, staged)
	if content, err := os.ReadFile(filepath.Join(path, "data")); string(content) != "kept" {
		t.Errorf("got %q, %v", content, err)
	}
	if again := totalOf(t, connection, path); again != size {
		t.Errorf("the filesystem has %d bytes, want %d", again, size)
	}
}

const volumeID = "pvc-8c1f0d5e"

func connect(t *testing.T) *grpc.ClientConn {
	t.Helper()
	connection, err := grpc.NewClient("unix://"+serve(t), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection
}

// publish creates a volume and mounts it until the test ends.
func publish(t *testing.T, connection *grpc.ClientConn, size int64, parameters map[string]string) (path, staged string) {
	t.Helper()
	path, staged = filepath.Join(t.TempDir(), "target"), filepath.Join(t.TempDir(), "staging")
	_, err := csi.NewControllerClient(connection).CreateVolume(t.Context(), &csi.CreateVolumeRequest{
		Name: volumeID, CapacityRange: &csi.CapacityRange{RequiredBytes: size}, VolumeCapabilities: []*csi.VolumeCapability{writable()},
		Parameters: parameters,
	})
	if err != nil {
		t.Fatal(err)
	}
	mounted := systemMounts() // the connection is closed by then
	t.Cleanup(func() {
		for _, place := range []string{path, staged} {
			if err := mounted.release(place); err != nil {
				t.Error(err)
			}
		}
	})
	stageAndPublish(t, connection, path, staged)
	return path, staged
}

func stageAndPublish(t *testing.T, connection *grpc.ClientConn, path, staged string) {
	t.Helper()
	client := csi.NewNodeClient(connection)
	if _, err := client.NodeStageVolume(t.Context(), &csi.NodeStageVolumeRequest{
		VolumeId: volumeID, StagingTargetPath: staged, VolumeCapability: writable(),
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.NodePublishVolume(t.Context(), &csi.NodePublishVolumeRequest{
		VolumeId: volumeID, StagingTargetPath: staged, TargetPath: path, VolumeCapability: writable(),
	}); err != nil {
		t.Fatal(err)
	}
}

func release(t *testing.T, connection *grpc.ClientConn, path, staged string) {
	t.Helper()
	client := csi.NewNodeClient(connection)
	if _, err := client.NodeUnpublishVolume(t.Context(), &csi.NodeUnpublishVolumeRequest{VolumeId: volumeID, TargetPath: path}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.NodeUnstageVolume(t.Context(), &csi.NodeUnstageVolumeRequest{VolumeId: volumeID, StagingTargetPath: staged}); err != nil {
		t.Fatal(err)
	}
}

func expand(t *testing.T, connection *grpc.ClientConn, staged string, size int64) {
	t.Helper()
	wanted := &csi.CapacityRange{RequiredBytes: size}
	answer, err := csi.NewControllerClient(connection).ControllerExpandVolume(t.Context(),
		&csi.ControllerExpandVolumeRequest{VolumeId: volumeID, CapacityRange: wanted})
	if err != nil {
		t.Fatal(err)
	}
	if answer.GetCapacityBytes() != size || !answer.GetNodeExpansionRequired() {
		t.Errorf("the controller's part answered %v", answer)
	}
	_, err = csi.NewNodeClient(connection).NodeExpandVolume(t.Context(),
		&csi.NodeExpandVolumeRequest{VolumeId: volumeID, VolumePath: staged, CapacityRange: wanted})
	if err != nil {
		t.Fatal(err)
	}
}

func totalOf(t *testing.T, connection *grpc.ClientConn, path string) int64 {
	t.Helper()
	stats, err := csi.NewNodeClient(connection).NodeGetVolumeStats(t.Context(),
		&csi.NodeGetVolumeStatsRequest{VolumeId: volumeID, VolumePath: path})
	if err != nil {
		t.Fatal(err)
	}
	return stats.GetUsage()[0].GetTotal()
}

// writeOn appends to a file until it is stopped, and reports errors.
func writeOn(t *testing.T, path string) (end func() (written int)) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var enough atomic.Bool
	written, first, ended := 0, make(chan struct{}), make(chan error, 1)
	go func() {
		defer file.Close()
		for !enough.Load() {
			if _, err := fmt.Fprintln(file, strings.Repeat("x", 4095)); err != nil {
				ended <- err
				return
			}
			if written++; written == 1 {
				close(first)
			}
		}
		ended <- file.Sync()
	}()
	<-first
	return func() int {
		enough.Store(true)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		return written
	}
}

// awaitNoLoopDevice waits until no loop device has a file of this name. Other processes may use one briefly.
func awaitNoLoopDevice(t *testing.T, name string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
		return !slices.ContainsFunc(files, func(file string) bool {
			content, _ := os.ReadFile(file)
			return strings.Contains(string(content), name)
		}), err
	})
	if err != nil {
		t.Errorf("a loop device is left: %v", err)
	}
}

func writable() *csi.VolumeCapability {
	return &csi.VolumeCapability{
		AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}},
		AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
	}
}
