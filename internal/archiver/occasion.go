/*
SPDX-License-Identifier: Apache-2.0
*/

package archiver

import (
	"fmt"
	"slices"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// occasion is why the Job runs: for this archive and window, for these backups, and for the time since which the archive works. Before
// that, it may have lost log.
func occasion(s *situation.Situation, pod *state.Member) string {
	var backups []string
	for _, b := range trusted(s) {
		backups = append(backups, string(b.UID))
	}
	since := pod.ReadySince.UTC().Format(time.RFC3339)
	return fmt.Sprintf("%s: %d hours, backups %s, archive since %s", Location(s.Cluster), hours(s.Cluster), objects.Hash(backups), since)
}

// deleting ends the occasion of a Job that deletes log.
const deleting = ", deletes log"

// occasions are the wanted occasion, and whether the Job has run for it. One that has deleted log has run for both.
func occasions(s *situation.Situation, found Facts) (wanted string, done bool) {
	wanted = occasion(s, found.Pod)
	most := wanted + deleting
	if mayDelete(s) {
		wanted = most
	}
	return wanted, found.Occasion == wanted || found.Occasion == most
}

// current reports whether the last result is of this occasion, whether that Job deleted log or not.
func current(s *situation.Situation, found Facts) bool {
	return found.Pod != nil && found.Looked && found.Look.Succeeded && strings.TrimSuffix(found.Occasion, deleting) == occasion(s, found.Pod)
}

// trusted are the backups with which a recovery may start, as far as the operator knows. Of others in the destination it knows nothing: a
// user may have deleted the DatabaseBackup because it was bad. A restore reads the log with the key of the backup, so one with another key
// than the archive has now begins no recovery of now.
func trusted(s *situation.Situation) []state.Backup {
	all := state.Only(s.Backups, func(b state.Backup) bool { return trusts(s, b) })
	slices.SortFunc(all, func(a, b state.Backup) int { return strings.Compare(string(a.UID), string(b.UID)) }) // it is part of the Job
	return all
}

func trusts(s *situation.Situation, b state.Backup) bool {
	return b.Complete() && !b.Bad() && b.Of(s.Cluster) && b.EncryptionSecret == s.Cluster.Spec.Backup.Destination.EncryptionSecretName
}

// mayDelete reports whether it is known what recoveries need. A backup that runs has no manifest yet. While backups are doubtful, older
// ones may be needed. A new cluster that starts with a backup may read the log since then, also with one that has no DatabaseBackup.
func mayDelete(s *situation.Situation) bool {
	busy := func(b state.Backup) bool { return b.Phase == dbv1.BackupRunning || b.Read }
	here := func(from dbv1.BackupSource) bool {
		return from.Location != nil && strings.HasPrefix(from.Location.URL+"/", folder(s.Cluster))
	}
	return !s.Doubtful() && !slices.ContainsFunc(s.Backups, busy) && !slices.ContainsFunc(s.Sources, here)
}

func hours(cluster *dbv1.DatabaseCluster) int32 { return cluster.Spec.Backup.Archive.WindowHours }
