/*
SPDX-License-Identifier: Apache-2.0
*/

package naming

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// The names of Jobs and DatabaseBackups contain a part of a UID, or a hash of one. So results of a previous object
// of the same name never count for a new one. The labels have the whole UID.

// ActionJob is the name of the Job of an action for one member. The parts identify the purpose of the action.
func ActionJob(cluster, verb string, ordinal int32, parts ...string) string {
	return cluster + "-" + verb + "-" + digest(parts...) + "-" + number(ordinal)
}

// HookJob is the name of the Job, or the DatabaseBackup, that a deletion hook creates.
func HookJob(cluster, hook string, uid types.UID) string {
	return cluster + "-" + hook + "-" + Short(uid)
}

// FencedBackup is the name of the DatabaseBackup that a deletion hook creates after the members have stopped. The
// fence identifies that stop, so the backup of a previous stop has another name.
func FencedBackup(cluster, hook string, uid types.UID, fence string) string {
	return cluster + "-" + hook + "-" + digest(string(uid), fence)
}

// ScheduledBackup is the name of the DatabaseBackup that a schedule creates for a time. The part between the cluster and the time has
// no hyphen, so no other cluster has this name: a hash replaces a name with one. Otherwise, schedule db-daily of cluster app and
// schedule daily of cluster app-db would meet.
func ScheduledBackup(cluster, schedule string, at time.Time) string {
	if strings.Contains(schedule, "-") {
		schedule = digest(schedule)
	}
	return FormerScheduledBackup(cluster, schedule, at)
}

// FormerScheduledBackup is that name without a hash, as older operators gave it.
func FormerScheduledBackup(cluster, schedule string, at time.Time) string {
	return cluster + "-" + schedule + "-" + at.UTC().Format("0601021504")
}

// BackupJob is the name of the Job that backs up one member, by the UID of the DatabaseBackup.
func BackupJob(cluster string, backup types.UID, ordinal int32) string {
	return cluster + "-backup-" + Short(backup) + "-" + number(ordinal)
}

// BackupDeletionJob is the name of the Job that deletes the data of a DatabaseBackup.
func BackupDeletionJob(cluster string, backup types.UID) string {
	return cluster + "-unbackup-" + Short(backup)
}

// VerificationJob is the name of the Job that restores one member's part of a DatabaseBackup into a temporary copy
// for that request.
func VerificationJob(cluster string, backup types.UID, request string, ordinal int32) string {
	return ActionJob(cluster, "verify", ordinal, string(backup), request)
}

// VerificationPolicy is the name of the NetworkPolicy of the temporary copies of a DatabaseBackup.
func VerificationPolicy(cluster string, backup types.UID) string {
	return cluster + "-verify-" + Short(backup)
}

// RestoreJob is the name of the Job that fills the volume of one member, by the UID of its claim. The data comes from a backup, or is
// the first data of the cluster.
func RestoreJob(cluster, restore string, claim types.UID, ordinal int32) string {
	verb := "restore"
	if strings.HasPrefix(restore, initialize) {
		verb = "initialize"
	}
	return ActionJob(cluster, verb, ordinal, restore, string(claim))
}

// HandOverJob is the name of the Job that hands over before the pod with that UID is disturbed, or on a request.
func HandOverJob(cluster string, parts ...string) string {
	return cluster + "-handover-" + digest(parts...)
}

// MemberRemoveJob is the name of the Job that removes a member from the membership. The parts identify the removal, because a
// member of the same name may come back.
func MemberRemoveJob(cluster string, ordinal int32, parts ...string) string {
	return ActionJob(cluster, "remove", ordinal, parts...)
}

// ConfigureJob is the name of the Job that puts parameters and passwords in force, by their hash.
func ConfigureJob(cluster, hash string) string {
	return cluster + "-configure-" + digest(hash)
}

// RotationID names a rotation of credentials.
func RotationID(cluster types.UID, parts ...string) string {
	return digest(append([]string{string(cluster), "rotation"}, parts...)...)
}

// RotationJob is the name of the Job of a rotation, at one of its stages.
func RotationJob(cluster, rotation, stage string) string {
	return cluster + "-" + stage + "-" + rotation
}

// RestoreID names the restore of a source into the volumes of a cluster.
func RestoreID(cluster types.UID, source ...string) string {
	return digest(append([]string{string(cluster)}, source...)...)
}

// SearchID names the search for the newest backup by all its inputs.
func SearchID(cluster types.UID, inputs ...string) string {
	return digest(append([]string{string(cluster), "search"}, inputs...)...)
}

// SearchJob is the name of the Job of a search.
func SearchJob(cluster, search string) string { return cluster + "-search-" + search }

const initialize = "initialize-"

// InitializeID is the ID of the creation of the first data of a cluster.
func InitializeID(cluster types.UID) string { return initialize + RestoreID(cluster) }

// BackupJobLabels are the labels of a DatabaseBackup's Jobs and their pods. The component identifies their purpose.
// The cluster may no longer exist.
func BackupJobLabels(backup *dbv1.DatabaseBackup, component string) map[string]string {
	all := Selector(backup.Spec.Cluster)
	all[dbv1.LabelComponent] = component
	all[dbv1.LabelManagedBy] = dbv1.LabelManagedByValue
	all[dbv1.LabelBackupUID] = string(backup.UID)
	if uid := backup.Status.ClusterUID; uid != "" {
		all[dbv1.LabelClusterUID] = uid
	}
	return all
}

const shortLength = 8

// Short is the part of a UID that names contain.
func Short(uid types.UID) string { return string(uid)[:min(shortLength, len(uid))] }

// RecoveryJob is the name of the Job that reads what can be recovered. There is only the last one.
func RecoveryJob(cluster string, uid types.UID) string {
	return cluster + "-recovery-" + digest(string(uid))
}

// MeasureJob is the name of the Job that measures what fills a volume. There is only the last one.
func MeasureJob(cluster string, uid types.UID) string {
	return cluster + "-measure-" + digest(string(uid))
}

func digest(parts ...string) string {
	hash := sha256.New()
	for _, part := range parts {
		hash.Write([]byte(part + "\n"))
	}
	return hex.EncodeToString(hash.Sum(nil))[:shortLength]
}

func number(ordinal int32) string { return strconv.Itoa(int(ordinal)) }
