/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestEveryMountOfTheDataVolumeIsOfTheVolumesInUse(t *testing.T) {
	cluster := &dbv1.DatabaseCluster{}
	cluster.Spec.Container.DataPath = "/var/lib/database"
	data := []dbv1.ClusterVolumeMount{{Name: "data", MountPath: "/data"}, {Name: "scratch", MountPath: "/scratch"}}
	cluster.Spec.Pod.Sidecars = []dbv1.Sidecar{{ClusterExtraContainer: dbv1.ClusterExtraContainer{Name: "reads", VolumeMounts: data}}}
	cluster.Status.Replacement = &dbv1.ClusterReplacementStatus{VolumeClaimTemplate: "data-0a1b2c3d4"}
	pod := Template(cluster, nil).Spec
	if got := *pod.Containers[0].VolumeMounts[0].Name; got != "data-0a1b2c3d4" {
		t.Errorf("the database has volume %s", got)
	}
	sidecar := pod.InitContainers[len(pod.InitContainers)-1]
	if a, b := *sidecar.VolumeMounts[0].Name, *sidecar.VolumeMounts[1].Name; a != "data-0a1b2c3d4" || b != "scratch" {
		t.Errorf("the sidecar has volumes %s and %s", a, b)
	}
}
