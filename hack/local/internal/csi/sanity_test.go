package csi

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kubernetes-csi/csi-test/v5/pkg/sanity"
)

// TestTheDriverIsWhatCSIAsksFor runs the conformance tests of CSI, with real mounts.
func TestTheDriverIsWhatCSIAsksFor(t *testing.T) {
	config := sanity.NewTestConfig()
	config.Address = serve(t)
	config.TargetPath, config.StagingPath = filepath.Join(t.TempDir(), "target"), filepath.Join(t.TempDir(), "staging")
	// The driver makes and removes the places itself.
	config.CreateTargetDir = func(path string) (string, error) { return path, nil }
	config.CreateStagingDir = config.CreateTargetDir
	config.TestVolumeSize = smallest
	config.TestVolumeExpandSize = 2 * smallest
	config.CheckPath = kindOf
	sanity.Test(t, config)
}

func kindOf(path string) (sanity.PathKind, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return sanity.PathIsNotFound, nil
	case err != nil:
		return "", err
	case info.IsDir():
		return sanity.PathIsDir, nil
	}
	return sanity.PathIsFile, nil
}

// serve runs a driver on real mounts until the test ends, and returns its socket.
func serve(t *testing.T) string {
	t.Helper()
	needRealMounts(t)
	socket, ctx := filepath.Join(t.TempDir(), "csi.sock"), t.Context()
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := serverOf(disks{t.TempDir()}, "local", systemMounts())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return socket
}

// needRealMounts skips where mounting is not possible at all: on another user's account, and on a
// machine without the programs that `local up` installs.
func needRealMounts(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	for _, program := range []string{"mkfs.xfs", "losetup"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%v: local up installs it", err)
		}
	}
	if file, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0); err != nil {
		t.Skip("no loop devices here: ", err)
	} else {
		file.Close()
	}
}
