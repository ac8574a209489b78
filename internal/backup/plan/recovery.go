/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// clocks is by how much the clocks of the database and of the pods may differ. A database refuses a moment before the end of its backup.
const clocks = time.Minute

// RecoveryFacts are the facts for the recovery of a copy.
type RecoveryFacts struct {
	// Recoverable is what can be recovered from the archive of the cluster; nil if it is unknown.
	Recoverable *dbv1.ClusterRecoveryStatus
	// Recovered is the moment to which the last verification of the cluster recovered; "" for none.
	Recovered dbv1.VerificationRecovery
}

// RecoveryFactsOf returns the facts for a backup that can be verified.
func RecoveryFactsOf(backup *dbv1.DatabaseBackup, cluster *dbv1.DatabaseCluster) RecoveryFacts {
	facts := RecoveryFacts{}
	if backup.Status.Phase == dbv1.BackupCompleted {
		facts.Recoverable = cluster.Status.Recovery
	}
	if facts.Recoverable != nil && cluster.Status.Backup != nil {
		facts.Recovered = cluster.Status.Backup.LastRecoveryTarget
	}
	return facts
}

// recovery decides to which moment a verification recovers, once: its Job may be re-created. It is nil if the spec asks for none.
func (s situation) recovery(request string) *dbv1.VerifiedRecovery {
	verify := verifySpec(s.Cluster)
	if verify == nil || verify.Recover == "" {
		return nil
	}
	if text := s.unreplayable(); text != "" {
		return &dbv1.VerifiedRecovery{Message: text}
	}
	log, last, found := s.log()
	if !found {
		return &dbv1.VerifiedRecovery{Message: fmt.Sprintf(
			"status.recovery of DatabaseCluster %s does not show yet that the archive has the log after this backup", s.Cluster.Name)}
	}
	random := verify.Recover == dbv1.RecoverRandom || verify.Recover == dbv1.RecoverAlternate && s.Recovered == dbv1.RecoverNewest
	earliest := state.EndOf(s.backup.Status).Add(clocks)
	switch {
	case random && !earliest.After(log.Newest.Time):
		return &dbv1.VerifiedRecovery{Target: dbv1.RecoverRandom,
			Time: new(metav1.NewTime(second(string(s.backup.UID)+" "+request, earliest, log.Newest.Time)))}
	case last:
		return toTheEnd(random)
	default:
		return &dbv1.VerifiedRecovery{Message: fmt.Sprintf(
			"log after %s is missing in the archive, so this backup cannot be recovered to the end", utc(log.Newest))}
	}
}

// toTheEnd is a recovery to the end of the archive, with the reason if that was not asked for.
func toTheEnd(random bool) *dbv1.VerifiedRecovery {
	r := &dbv1.VerifiedRecovery{Target: dbv1.RecoverNewest}
	if random {
		r.Message = "the archive has less than a minute after the backup, so there is no random moment to recover to"
	}
	return r
}

// second is one of the seconds in a time, by an ID.
func second(id string, from, to time.Time) time.Time {
	digest := sha256.Sum256([]byte(id))
	seconds := uint64(to.Sub(from)/time.Second) + 1
	return from.Add(time.Duration(binary.BigEndian.Uint64(digest[:])%seconds) * time.Second)
}

// log is the part of the archive with the log after the backup. Last is true if it is what is archived now.
func (s situation) log() (log dbv1.RecoveryRange, last, found bool) {
	all := s.Recoverable.Ranges
	for i, r := range all {
		if end := state.EndOf(s.backup.Status); !r.Oldest.After(end) && !r.Newest.Time.Before(end) {
			return r, i == len(all)-1 && s.Recoverable.NeedsBackupSince == nil, true
		}
	}
	return log, false, false
}

// unreplayable reports why the archive of the cluster cannot be replayed into the backup; "" if it can.
func (s situation) unreplayable() string {
	cluster, status := s.Cluster, s.backup.Status
	switch {
	case !engine.Archives(cluster.Spec):
		return fmt.Sprintf("spec.backup.archive of DatabaseCluster %s is not set", cluster.Name)
	case s.Engine.Spec.Actions.Recover == nil:
		return fmt.Sprintf("DatabaseEngine %s has no action recover", s.Engine.Name)
	case status.ClusterUID != string(cluster.UID):
		return fmt.Sprintf("the backup is of a previous DatabaseCluster %s", cluster.Name)
	case !state.BeginsInArchive(status):
		return "the backup does not record where it begins in an archive"
	case s.Recoverable == nil:
		return fmt.Sprintf("status.recovery of DatabaseCluster %s does not show yet what can be recovered", cluster.Name)
	case !samePlace(*s.place, cluster.Spec.Backup.Destination),
		s.Recoverable.Location != protocol.ArchiveBeside(status.Location, naming.Lineage(status.ClusterUID, status.VolumeClaimTemplate)):
		return "the archive is at another destination than the backup"
	case s.expired():
		return "it ended before the window of spec.backup.archive.windowHours, so its log may be deleted"
	default:
		return ""
	}
}

// samePlace reports whether an archive at one destination is found and read with the settings of the other.
func samePlace(a, b dbv1.BackupDestination) bool {
	return a.URL == b.URL && a.Endpoint == b.Endpoint && a.ClaimName == b.ClaimName && a.EncryptionSecretName == b.EncryptionSecretName
}

// expired reports whether a Job may be deleting the log after the backup.
func (s situation) expired() bool {
	hours := s.Cluster.Spec.Backup.Archive.WindowHours
	return hours > 0 && state.EndOf(s.backup.Status).Before(s.At.Add(-time.Duration(hours)*time.Hour))
}

// replays completes the call of a restore by the recovery that was decided. It reports whether there is one.
func (s situation) replays(call *protocol.Restore) bool {
	decided := s.backup.Status.Verification.Recovery
	if decided == nil || decided.Target == "" || s.Engine.Spec.Actions.Recover == nil {
		return false
	}
	call.Recover = s.Engine.Spec.Actions.Recover.Command
	if decided.Time != nil {
		call.Until = utc(*decided.Time)
	}
	return true
}

// measure records the recovery of a copy. If the pod of the Job no longer exists, it is unknown.
func (s situation) measure(v *dbv1.BackupVerification, restored *protocol.Result) {
	if v.Recovery == nil || v.Recovery.Target == "" || restored == nil || restored.RecoveredTo.IsZero() {
		return
	}
	r, to := v.Recovery, restored.RecoveredTo
	r.RecoveredTo, r.LastCommitTime = state.Recovered(restored)
	r.RecoveredSeconds = int64(max(0, to.Sub(state.EndOf(s.backup.Status))/time.Second))
	r.RestoreSeconds = seconds(restored.Started, restored.Restored)
	r.RecoverySeconds = seconds(restored.Restored, restored.Completed)
	if r.Target == dbv1.RecoverNewest {
		r.LagSeconds = new(seconds(to, restored.Started))
	}
}

// seconds is the time between two moments in seconds, rounded up; 0 if one is unknown.
func seconds(from, to time.Time) int64 {
	if from.IsZero() || to.Before(from) {
		return 0
	}
	return int64((to.Sub(from) + time.Second - 1) / time.Second)
}

// aim continues a sentence about the restore of a copy.
func aim(r *dbv1.VerifiedRecovery) string {
	switch {
	case r == nil || r.Target == "":
		return ""
	case r.Time == nil:
		return ", and recovers it to the end of the archive"
	default:
		return ", and recovers it to " + utc(*r.Time)
	}
}

// recovered reports the recovery of a copy, as a part of a sentence; "" if none was asked for.
func recovered(r *dbv1.VerifiedRecovery) string {
	switch {
	case r == nil:
		return ""
	case r.Target == "":
		return "; it was not recovered to a later moment: " + r.Message
	case r.RecoveredTo == nil:
		return "; the moment to which it was recovered is unknown, because its pod was deleted before that was read"
	}
	text := fmt.Sprintf("; it was recovered to %s in %s", utc(*r.RecoveredTo), time.Duration(r.RestoreSeconds+r.RecoverySeconds)*time.Second)
	if r.LastCommitTime != nil {
		text += ", its last commit is of " + utc(*r.LastCommitTime)
	}
	if r.LagSeconds != nil {
		text += fmt.Sprintf(", and the archive was %s behind", time.Duration(*r.LagSeconds)*time.Second)
	}
	return text
}

func utc(t metav1.Time) string { return t.UTC().Format(time.RFC3339) }

// comparable is the check with the facts that a copy shares with the backup. After a recovery, these are the ones that no later write
// can lower, and the identity of the database.
func (s situation) comparable() dbv1.EngineCheck {
	check := checkOf(s.Engine)
	if r := s.backup.Status.Verification.Recovery; r != nil && r.Target != "" {
		check.Facts = state.Only(check.Facts, func(f dbv1.EngineFact) bool {
			return f.Compare == dbv1.CompareAtLeast || f.Name == check.Identity
		})
	}
	return check
}
