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
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/provisioner"
)

// driverSocket lies where the kubelet looks for plugins.
var driverSocket = state("kubelet", "plugins_registry", csi.Name+".sock")

// ownPrograms are this very program under other names. Each has a copy of its own: one that was
// started without a record is found by its executable.
var ownPrograms = []string{"provisioner", "csi-driver"}

// storageParts make volumes: directories for the class "standard", disks for the class "growing".
func storageParts(s controlplane.Settings) []process.Command {
	kubeconfig := s.Kubeconfig(controlplane.Admin)
	return []process.Command{
		own("provisioner", startedIsReady, "--kubeconfig", kubeconfig, "--dir", state("volumes")),
		own("csi-driver", driverAnswers, "--socket", driverSocket, "--dir", state("disks"), "--node", Name),
		sidecar(s, "csi-provisioner", "--worker-threads=10"),
		sidecar(s, "csi-resizer", "--workers=10"),
	}
}

func own(name string, ready func(context.Context) error, arguments ...string) process.Command {
	return process.Command{
		Name: name, Path: state("bin", name), Version: "-", Args: append([]string{name}, arguments...), Ready: ready,
	}
}

// sidecar is a program that stands between the API server and the driver.
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

// startedIsReady is for programs that nobody can ask: what they are to do waits for them.
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
		client.Apply(ctx, group+"storageclasses/standard", provisioner.StorageClass),
		client.Apply(ctx, group+"storageclasses/growing", csi.StorageClass),
		client.Apply(ctx, group+"csidrivers/"+csi.Name, csi.CSIDriver),
	)
}

// copySelf keeps this program for those that run it: `go run` deletes its own when it returns.
func copySelf() error {
	for _, name := range ownPrograms {
		if _, running := group.Running(name); running {
			continue
		}
		content, err := os.ReadFile("/proc/self/exe")
		if err != nil {
			return fmt.Errorf("copy this program: %w", err)
		}
		if err := files.Write(state("bin", name), content, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// countVolumes is how many volumes `down` is about to remove.
func countVolumes() (count int) {
	for _, folder := range []string{"volumes", "disks"} {
		if volumes, err := os.ReadDir(state(folder)); err == nil {
			count += len(volumes)
		}
	}
	return count
}
