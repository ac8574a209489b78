/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

func (w *World) performRestore(pod *corev1.Pod, c *protocol.Restore) exit {
	claim := w.ClaimOf(pod)
	on := w.disk.volumes[claim.UID]
	there, found := w.disk.bucket[c.From]
	switch {
	case on.marker == marker{c.ID, protocol.MarkDone}:
		return done()
	case on.marker != marker{c.ID, protocol.MarkRunning}:
		return fails(protocol.DataDirectoryNotEmpty, "the data directory is not empty")
	case !found || !there.complete:
		return fails(protocol.BackupMissing, "there is no backup at "+c.From)
	case there.corrupt:
		piece := (&protocol.Stream{Member: c.Member}).PieceName(0)
		return fails(protocol.BackupCorrupt, piece+" is not what the manifest says")
	case len(there.parts) != c.Members:
		return fails(protocol.ManifestInvalid, fmt.Sprintf("the backup holds %d members, not %d", len(there.parts), c.Members))
	}
	on.marker.state = protocol.MarkDone
	if !there.lossy {
		on.data = there.parts[c.Member]
	}
	w.disk.volumes[claim.UID] = on
	result := protocol.Result{Bytes: 100}
	if len(c.Recover) > 0 {
		w.replay(&result, c.Until)
	}
	return exitWith(result)
}

// replay recovers until a moment, or to the end of the archive. All takes always the same time.
func (w *World) replay(result *protocol.Result, until string) {
	const lag, restore, recovery = 4 * time.Second, 2 * time.Second, time.Second
	result.Started = w.Clock.Now()
	result.Restored, result.RecoveredTo = result.Started.Add(restore), result.Started.Add(-lag)
	result.Completed = result.Restored.Add(recovery)
	if until != "" {
		result.RecoveredTo = moment(until)
	}
}

func moment(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	Must(err)
	return at
}
