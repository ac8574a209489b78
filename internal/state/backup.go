/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

// Backup is the part of a DatabaseBackup that decisions about its cluster use. It excludes the progress of a running backup, which
// would trigger a pass of the cluster every few seconds.
type Backup struct {
	Name    string
	UID     types.UID
	Created metav1.Time
	// CreatedFor is the UID of the cluster whose schedule created the backup; RanFor is the UID of the cluster whose data it
	// contains. Either may be unknown.
	CreatedFor, RanFor types.UID
	// Schedule is the schedule that created it, and ScheduledAt its scheduled time; empty for other backups. Both come from
	// status.origin, which no user can write.
	Schedule    string
	ScheduledAt metav1.Time
	// Cluster is the name in its spec, Policy the deletion policy of its data. Elsewhere is true if it has its own destination.
	Cluster   string
	Policy    dbv1.BackupDeletionPolicy
	Elsewhere bool
	Phase     dbv1.BackupPhase
	// Location is the URL of the data; "" until it is known.
	Location string
	// Lineage identifies its data in an archive: see naming.Lineage.
	Lineage string
	// EncryptionSecret is the Secret with the key of its data, and of the log that is read with it; "" if neither is encrypted by the Jobs.
	EncryptionSecret string
	// Completed is the time of completion, Failure the cause of a failure.
	Completed metav1.Time
	Failure   string
	// Bytes is the size of the data from the database.
	Bytes int64
	// Members is how many members a complete backup has the data of. Data identifies the data of each.
	Members int32
	Data    [engine.MaxReplicas]Data
	// Terminating is true if it is being deleted.
	Terminating bool
	// Asked is the latest requested verification, Verification the latest attempted one.
	Asked        string
	Verification Verification
	// Read is true if a new cluster is to start with it, and has not started yet.
	Read bool
	// Version is the resourceVersion, for preconditions. No decision uses it.
	Version string
}

// Data identifies the data of a member: by the UID of its claim, and by the database, as its engine reports it. Either may be unknown.
type Data struct {
	Volume   types.UID
	Identity string
}

// Differs reports whether the data is known to be of another volume or database.
func (d Data) Differs(other Data) bool {
	return known(d.Volume, other.Volume) && d.Volume != other.Volume || known(d.Identity, other.Identity) && d.Identity != other.Identity
}

func known[T ~string](a, b T) bool { return a != "" && b != "" }

// Verification is an attempt to restore a backup.
type Verification struct {
	Request string
	Phase   dbv1.BackupVerificationPhase
	Started metav1.Time
	Ended   metav1.Time
	Message string
	Recovery
}

// Recovery is the recovery of a restored copy to a moment after the backup; its zero value is none.
type Recovery struct {
	Target dbv1.VerificationRecovery
	// To is the moment until which the copy had each commit; zero if it is unknown. Took is how long that took, in seconds.
	To   metav1.Time
	Took int64
	// Lag is how many seconds the archive was behind. It is known after a recovery to the end.
	Lag      int64
	LagKnown bool
}

// BackupOf returns the Backup of an object.
func BackupOf(backup *dbv1.DatabaseBackup) Backup {
	b := Backup{
		Name:         backup.Name,
		UID:          backup.UID,
		Created:      backup.CreationTimestamp,
		RanFor:       types.UID(backup.Status.ClusterUID),
		Cluster:      backup.Spec.Cluster,
		Policy:       backup.Spec.DeletionPolicy,
		Elsewhere:    backup.Spec.Destination != nil,
		Phase:        backup.Status.Phase,
		Location:     backup.Status.Location,
		Lineage:      naming.Lineage(backup.Status.ClusterUID, backup.Status.VolumeClaimTemplate),
		Terminating:  backup.DeletionTimestamp != nil,
		Asked:        asked(backup.Annotations[dbv1.AnnotationVerify]),
		Verification: verificationOf(backup.Status.Verification),
		Version:      backup.ResourceVersion,
	}
	if at := backup.Status.Destination; at != nil {
		b.EncryptionSecret = at.EncryptionSecretName
	}
	if origin := backup.Status.Origin; origin != nil {
		b.CreatedFor, b.Schedule, b.ScheduledAt = types.UID(origin.ClusterUID), origin.Schedule, origin.ScheduledTime
	}
	switch b.Phase {
	case dbv1.BackupCompleted:
		b.Completed, b.Bytes = backup.CreationTimestamp, backup.Status.Bytes
		b.Members, b.Data = min(max(backup.Status.Replicas, 0), engine.MaxReplicas), dataIn(backup.Status)
		if backup.Status.CompletionTime != nil {
			b.Completed = *backup.Status.CompletionTime
		}
	case dbv1.BackupFailed:
		b.Failure = backup.Status.Message
	case dbv1.BackupPending, dbv1.BackupRunning: // the message until then is only for users
	}
	return b
}

// identityIn is the database of a backup. Replaced data has the same one, but other contents.
func identityIn(status dbv1.DatabaseBackupStatus, identity string) string {
	if identity == "" || status.VolumeClaimTemplate == "" {
		return identity
	}
	return identity + " in " + status.VolumeClaimTemplate
}

// dataIn returns what identifies the data in a backup, by ordinal.
func dataIn(status dbv1.DatabaseBackupStatus) (all [engine.MaxReplicas]Data) {
	for _, stream := range status.Streams {
		if stream.Ordinal >= 0 && stream.Ordinal < engine.MaxReplicas {
			all[stream.Ordinal] = Data{types.UID(stream.VolumeUID), identityIn(status, stream.Identity)}
		}
	}
	return all
}

// MaxRequest is the maximum number of bytes of a request in a status.
const MaxRequest = 253

// asked is a request as the status records it. Without truncation, a longer request would never count as answered.
func asked(request string) string {
	return pods.Head(request, MaxRequest)
}

func verificationOf(seen *dbv1.BackupVerification) Verification {
	if seen == nil {
		return Verification{}
	}
	v := Verification{Request: seen.Request, Phase: seen.Phase, Message: seen.Message}
	if seen.StartTime != nil {
		v.Started, v.Ended = *seen.StartTime, *seen.StartTime
	}
	if seen.CompletionTime != nil {
		v.Ended = *seen.CompletionTime
	}
	v.Recovery = recoveryOf(seen.Recovery)
	return v
}

func recoveryOf(seen *dbv1.VerifiedRecovery) Recovery {
	if seen == nil || seen.RecoveredTo == nil {
		return Recovery{}
	}
	r := Recovery{Target: seen.Target, To: *seen.RecoveredTo, Took: seen.RestoreSeconds + seen.RecoverySeconds}
	if seen.LagSeconds != nil {
		r.Lag, r.LagKnown = *seen.LagSeconds, true
	}
	return r
}

// Facts returns the backup without fields that no decision uses.
func (b Backup) Facts() Backup {
	b.Version = ""
	return b
}

// Of reports whether the backup belongs to a cluster: not to a previous cluster of the same name, and its destination is the
// cluster's. A backup that a user created has no cluster UID until it runs.
func (b Backup) Of(cluster *dbv1.DatabaseCluster) bool {
	switch {
	case b.Elsewhere:
		return false
	case b.RanFor != "":
		return b.RanFor == cluster.UID
	case b.CreatedFor != "":
		return b.CreatedFor == cluster.UID
	default:
		return !b.Created.Before(&cluster.CreationTimestamp)
	}
}

// Complete reports whether the backup can be restored.
func (b Backup) Complete() bool { return b.Phase == dbv1.BackupCompleted && !b.Terminating }

// Verifying reports whether a verification of the backup runs or is requested. A backup that is being deleted is not verified any
// more.
func (b Backup) Verifying() bool {
	return b.Complete() && (b.Verification.Phase == dbv1.VerificationRunning || b.Asked != "" && b.Asked != b.Verification.Request)
}

// Bad reports whether the latest verification failed.
func (b Backup) Bad() bool { return b.Verification.Phase == dbv1.VerificationFailed }

// Good reports whether it is complete and its latest verification succeeded.
func (b Backup) Good() bool {
	return b.Complete() && b.Verification.Phase == dbv1.VerificationSucceeded
}

// Recovered reports whether its latest verification succeeded after a recovery.
func (b Backup) Recovered() bool { return b.Good() && b.Verification.Target != "" }

// Younger orders backups by creation, then by name.
func Younger(a, b Backup) int {
	return cmp.Or(a.Created.Compare(b.Created.Time), strings.Compare(a.Name, b.Name))
}

// Last returns the last backup, by an order, that satisfies a condition; found is false if there is none.
func (o Observed) Last(order func(a, b Backup) int, holds func(Backup) bool) (last Backup, found bool) {
	for _, b := range o.Backups {
		if holds(b) && (!found || order(b, last) > 0) {
			last, found = b, true
		}
	}
	return last, found
}

// Newest returns the newest backup that satisfies a condition.
func (o Observed) Newest(holds func(Backup) bool) (newest Backup, found bool) {
	return o.Last(Younger, holds)
}
