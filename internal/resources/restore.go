/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Restore is one restore of a backup into the volumes of a cluster.
type Restore struct {
	// ID names it. Another source, or another number of members, is another restore.
	ID string
	// From is the location of the backup.
	From dbv1.BackupDestination
	// Command is the engine's command to restore one member.
	Command []string
	// Recover is the engine's command to replay an archive afterward; nil for none.
	Recover []string
	// Until is a time, and Point the name of a point. Without both, it is the end of the archive.
	Until, Point string
	// Image has the transfer binary.
	Image string
	// Members is how many members the backup has.
	Members int32
}

// RestoreClaim is the claim of a member's volume that a restore fills. It is like a claim of the StatefulSet, which
// adopts it later, and has an annotation with the restore.
func RestoreClaim(cluster *dbv1.DatabaseCluster, ordinal int32, restore string) objects.Child {
	return objects.New(dataClaim(cluster, naming.Claim(cluster, ordinal)).
		WithAnnotations(state.Contents{Fill: state.Filling, From: restore}.Annotations()))
}

// RestoreAction is the kind of the Jobs that fill a volume. A restore that hangs fails long before its deadline: transfer detects that.
var RestoreAction = jobs.ActionKind{
	Component: dbv1.ComponentRestore, Retries: 6, Deadline: jobs.Within(7 * 24 * time.Hour), Resources: jobs.BackupResources,
	Supersede: jobs.SupersedeFailed, Connects: true, Places: true,
}

// SearchAction is the kind of the Jobs that look for the newest backup. They read names and manifests.
var SearchAction = jobs.ActionKind{
	Component: dbv1.ComponentSearch, Retries: 6, Deadline: jobs.Within(time.Hour), Resources: jobs.BackupResources,
	Supersede: jobs.SupersedeFailed,
}

// SearchJob looks for the newest backup in a folder.
func SearchJob(cluster *dbv1.DatabaseCluster, folder dbv1.BackupDestination, image string) objects.Child {
	folder.EncryptionSecretName = "" // names and manifests are not encrypted
	call := &protocol.Search{At: folder.URL, ID: string(cluster.UID), Store: jobs.Store(&folder)}
	if target := state.FromBackup(cluster).RecoveryTarget; target != nil {
		call.Recovers, call.Until = true, target.Time // the API server refuses newest with a name
	}
	return jobs.Build(cluster, jobs.Spec{
		Name: naming.SearchJob(cluster.Name, state.SearchID(cluster)), Kind: SearchAction, Owner: objects.OwnedBy(cluster),
		Transfer: &jobs.Transfer{Image: image, Call: call, At: &folder},
	})
}

// InitializeJob creates the first data in the volume of member 0.
func InitializeJob(cluster *dbv1.DatabaseCluster, restore Restore, volume state.Volume) objects.Child {
	return jobs.Build(cluster, jobs.Spec{
		Name:  naming.RestoreJob(cluster.Name, restore.ID, volume.UID, volume.Ordinal),
		Kind:  RestoreAction,
		Owner: objects.OwnedBy(cluster),
		Transfer: &jobs.Transfer{
			Image: restore.Image,
			Call:  &protocol.Initialize{ID: restore.ID, Into: cluster.Spec.Container.DataPath, Command: restore.Command},
		},
		Member:  &volume.Ordinal,
		Offline: true,
	})
}

// RestoreJob fills one volume. It is garbage-collected with the cluster, and its name depends on the claim: a
// re-created claim is filled again.
func RestoreJob(cluster *dbv1.DatabaseCluster, restore Restore, volume state.Volume) objects.Child {
	return jobs.Build(cluster, jobs.Spec{
		Name:  naming.RestoreJob(cluster.Name, restore.ID, volume.UID, volume.Ordinal),
		Kind:  RestoreAction,
		Owner: objects.OwnedBy(cluster),
		Transfer: &jobs.Transfer{
			Image: restore.Image,
			Call: &protocol.Restore{
				From: restore.From.URL, ID: restore.ID, Into: cluster.Spec.Container.DataPath,
				Part:  protocol.Part{Member: int(volume.Ordinal), Members: int(restore.Members)},
				Store: jobs.Store(&restore.From), Command: restore.Command,
				// Kubernetes must not expand $(NAME) in what users write.
				Recover: restore.Recover, Until: restore.Until, Point: strings.ReplaceAll(restore.Point, "$", "$$"),
			},
			At: &restore.From,
		},
		Member:  &volume.Ordinal,
		Offline: true,
	})
}
