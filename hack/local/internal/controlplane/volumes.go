package controlplane

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// hostPaths is where the controller manager's provisioner makes the folder of each volume; no flag moves it.
const hostPaths = "/tmp/hostpath_pv"

// foldersOfVolumes asks the API server, while it still answers, which folders were made for
// volumes. Without a node nothing wrote into them: what is not empty is not ours and stays.
func foldersOfVolumes(ctx context.Context, dir string) (remove func()) {
	nothing := func() {}
	ports, err := keptPorts(dir)
	if err != nil {
		return nothing
	}
	client, err := Settings{Dir: dir, Address: Loopback, Ports: ports}.Client()
	if err != nil {
		return nothing
	}
	var volumes struct {
		Items []struct {
			Spec struct{ HostPath struct{ Path string } }
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if client.Get(ctx, "/api/v1/persistentvolumes", &volumes) != nil {
		return nothing
	}
	return func() {
		for _, volume := range volumes.Items {
			if path := volume.Spec.HostPath.Path; filepath.Dir(path) == hostPaths {
				_ = os.Remove(path)
			}
		}
		_ = os.Remove(hostPaths)
	}
}
