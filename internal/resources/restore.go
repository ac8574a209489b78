/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Restore is one restore of a backup into the volumes of a cluster.
type Restore struct {
	// ID names it: another source, or another number of members, is another restore.
	ID string
	// From is where the backup is.
	From dbv1.BackupDestination
	// Command is what the engine does to restore one member.
	Command []string
	// Image holds transfer.
	Image string
}

// RestoreClaim is the claim of a member's volume that a backup is going to be restored into: as the StatefulSet
// would make it, which takes it up afterwards, and marked.
func RestoreClaim(cluster *dbv1.DatabaseCluster, ordinal int32, restore string) Child {
	return newChild(dataClaim(cluster, naming.Claim(cluster.Name, ordinal)).
		WithAnnotations(state.Contents{Fill: state.Filling, From: restore}.Annotations()))
}

// RestoreJob fills one volume. It goes with the cluster, and its name with the claim: a claim that is made anew is
// filled anew.
func RestoreJob(cluster *dbv1.DatabaseCluster, restore Restore, volume state.Volume) Child {
	return ActionJob(cluster, Action{
		Name:      naming.RestoreJob(cluster.Name, restore.ID, volume.UID, volume.Ordinal),
		Component: dbv1.ComponentRestore,
		Owner:     ownedBy(cluster),
		Transfer: &Transfer{
			Image: restore.Image,
			Call: &protocol.Restore{
				From: restore.From.URL, ID: restore.ID, Into: cluster.Spec.Container.DataPath,
				Part:  protocol.Part{Member: int(volume.Ordinal), Members: int(cluster.Spec.Replicas)},
				Store: Store(&restore.From), Command: restore.Command,
			},
			At: &restore.From,
		},
		Member:  &volume.Ordinal,
		Offline: true,
		Spread:  spreadLike(cluster, naming.Labels(cluster, dbv1.ComponentRestore)),
	})
}

// spreadLike spreads pods with other labels as the members are spread: where they fill volumes, the members will have
// to run.
func spreadLike(cluster *dbv1.DatabaseCluster, labels map[string]string) []*corev1ac.TopologySpreadConstraintApplyConfiguration {
	all := topologySpread(cluster)
	for _, constraint := range all {
		constraint.LabelSelector, constraint.MatchLabelKeys = metav1ac.LabelSelector().WithMatchLabels(labels), nil
	}
	return all
}
