//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/controlplane"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/csi"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/files"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/process"
)

// driverSocket is in the folder where the kubelet looks for plugins.
var driverSocket = state("kubelet", "plugins_registry", csi.Name+".sock")

// driver is a copy of this program.
const driver = "csi-driver"

// storageParts provision volumes.
func storageParts(s controlplane.Settings) []process.Command {
	return []process.Command{
		{
			Name: driver, Path: state("bin", driver), Version: "-", Ready: driverAnswers,
			Args: []string{driver, "--socket", driverSocket, "--dir", state("disks"), "--node", Name},
		},
		sidecar(s, "csi-provisioner", "--worker-threads=10"),
		sidecar(s, "csi-resizer", "--workers=10"),
	}
}

// sidecar is a CSI sidecar between the API server and the driver.
func sidecar(s controlplane.Settings, name, workers string) process.Command {
	binary := s.Binaries[name]
	return process.Command{
		Name: name, Path: binary.Path, Version: binary.Version, Ready: startedIsReady,
		Args: []string{
			"--kubeconfig=" + s.Kubeconfig(controlplane.Admin), "--csi-address=" + driverSocket,
			"--kube-api-qps=500", "--kube-api-burst=1000", "--timeout=1m", workers,
		},
	}
}

// startedIsReady is for programs without a readiness check: their work waits for them.
func startedIsReady(context.Context) error { return nil }

func driverAnswers(ctx context.Context) error {
	connection, err := new(net.Dialer).DialContext(ctx, "unix", driverSocket)
	if err != nil {
		return fmt.Errorf("reach the CSI driver: %w", err)
	}
	return connection.Close()
}

func applyStorage(ctx context.Context, client *controlplane.Client) error {
	const group = "/apis/storage.k8s.io/v1/"
	return errors.Join(
		client.Apply(ctx, group+"storageclasses/standard", csi.Standard),
		client.Apply(ctx, group+"storageclasses/growing", csi.Growing),
		client.Apply(ctx, group+"csidrivers/"+csi.Name, csi.CSIDriver),
	)
}

// copySelf copies this program for the driver, because `go run` deletes its binary at the end.
func copySelf() error {
	if _, running := group.Running(driver); running {
		return nil
	}
	content, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("copy this program: %w", err)
	}
	return files.Write(state("bin", driver), content, 0o755)
}

// countVolumes returns the number of volumes that `down` will remove.
func countVolumes() int {
	volumes, _ := os.ReadDir(state("disks"))
	return len(volumes)
}
