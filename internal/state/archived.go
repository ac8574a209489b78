/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// EndOf is the end of the data of a backup, as a whole second after which the archive can be replayed into it: the status has no fractions.
// It is by the clock of its pod, because the operator may have noticed it later. It is zero if it is unknown.
func EndOf(backup dbv1.DatabaseBackupStatus) time.Time {
	end := backup.CompletionTime
	for _, stream := range backup.Streams {
		end = cmp.Or(stream.CompletionTime, end)
	}
	if end == nil {
		return time.Time{}
	}
	return end.Truncate(time.Second).Add(time.Second)
}

// BeginsInArchive reports whether a backup records where it begins in an archive, so a recovery can start with it.
func BeginsInArchive(backup dbv1.DatabaseBackupStatus) bool {
	return len(backup.Streams) == 1 && backup.Streams[0].Facts[protocol.ArchiveFact] != "" && backup.CompletionTime != nil
}

// Recovered is until when the data of a recovery has each commit, and when the last one was; nil for unknown.
func Recovered(result *protocol.Result) (to, lastCommit *metav1.Time) {
	return seconds(result.RecoveredTo), seconds(result.LastCommit)
}

// seconds rounds down to the precision of a status.
func seconds(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return new(metav1.NewTime(t.Truncate(time.Second)))
}
