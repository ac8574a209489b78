package controlplane

import (
	"context"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hostPaths is where the controller manager's provisioner makes the folder of each volume; no flag moves it.
const hostPaths = "/tmp/hostpath_pv"

// foldersOfVolumes asks the API server, while it still answers, which folders were made for
// volumes. Without a node nothing wrote into them: what is not empty is not ours and stays.
func foldersOfVolumes(ctx context.Context, dir string) (remove func()) {
	nothing := func() {}
	client, err := Settings{Dir: dir}.Client()
	if err != nil {
		return nothing
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	volumes, err := client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nothing
	}
	return func() {
		for _, volume := range volumes.Items {
			if source := volume.Spec.HostPath; source != nil && filepath.Dir(source.Path) == hostPaths {
				_ = os.Remove(source.Path)
			}
		}
		_ = os.Remove(hostPaths)
	}
}
