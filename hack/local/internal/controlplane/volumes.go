package controlplane

import (
	"context"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hostPaths is the folder in which the controller manager's provisioner creates volumes. No flag changes it.
const hostPaths = "/tmp/hostpath_pv"

// foldersOfVolumes lists the folders of volumes while the API server still runs. Without a node they are empty. A
// folder that is not empty is not ours, so it stays.
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
