/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// Copy is a temporary copy of one member: restored into an ephemeral volume of the pod, with the database running
// beside the action. It is not a member: no label selects it, and its only name is localhost.
type Copy struct {
	// Restore fills the volume.
	Restore Transfer
	// Replays is true if a recovery follows the restore: it runs the database, so it has at least the resources of a member.
	Replays bool
}

func (c *Copy) restore() *Transfer {
	if c == nil {
		return nil
	}
	return &c.Restore
}

// withCopy adds the volume, the container that fills it, and the database as a sidecar. The database starts after
// the restore, and stops when the action has finished.
func (a Spec) withCopy(cluster *dbv1.DatabaseCluster, spec *corev1ac.PodSpecApplyConfiguration) {
	isCopy := pods.Variable("DBC_COPY", "true")
	database := pods.DatabaseContainer(cluster).
		WithRestartPolicy(corev1.ContainerRestartPolicyAlways).
		WithEnv(isCopy)
	// The action decides whether the copy answers. A failing probe would only prevent the action from running.
	database.StartupProbe, database.ReadinessProbe, database.LivenessProbe = nil, nil, nil
	restore := a.container(cluster, naming.RestoreContainer, a.Copy.restore()).WithVolumeMounts(dataMount(cluster)).WithEnv(isCopy)
	if a.Copy.Replays {
		restore.WithResources(a.over(cluster, AtLeast(cluster.Spec.Resources)))
	}
	spec.WithVolumes(copyVolume(cluster)).WithInitContainers(restore, database)
	if grace := cluster.Spec.Pod.TerminationGracePeriodSeconds; grace != nil {
		spec.WithTerminationGracePeriodSeconds(max(*grace, actionGraceSeconds))
	}
}

func copyVolume(cluster *dbv1.DatabaseCluster) *corev1ac.VolumeApplyConfiguration {
	volume := corev1ac.Volume().WithName(naming.DataVolume)
	storage := cluster.Spec.Storage
	if pods.Ephemeral(cluster) {
		return volume.WithEmptyDir(corev1ac.EmptyDirVolumeSource().WithSizeLimit(storage.Size))
	}
	spec := corev1ac.PersistentVolumeClaimSpec().
		WithAccessModes(corev1.ReadWriteOnce).
		WithResources(corev1ac.VolumeResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceStorage: storage.Size}))
	if storage.StorageClassName != nil {
		spec.WithStorageClassName(*storage.StorageClassName)
	}
	return volume.WithEphemeral(corev1ac.EphemeralVolumeSource().
		WithVolumeClaimTemplate(corev1ac.PersistentVolumeClaimTemplate().WithSpec(spec)))
}
