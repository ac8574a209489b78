/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"strings"
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
	result.LastCommit = result.RecoveredTo
}

func moment(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	Must(err)
	return at
}

// completed is a backup that is complete now, after all others.
func (w *World) completed(there artifact) artifact {
	if there.complete {
		return there
	}
	there.complete = true
	w.disk.completed[there.id] = len(w.disk.completed) + 1
	return there
}

// newestBelow returns the newest complete backup in a folder, and an object there that is none; "" for nothing.
func (w *World) newestBelow(folder string) (newest, unclear string) {
	for _, at := range w.locations() {
		there := w.disk.bucket[at]
		switch {
		case !strings.HasPrefix(at, folder+"/"):
		case !there.complete:
			unclear = at
		case newest == "" || w.disk.completed[there.id] > w.disk.completed[w.disk.bucket[newest].id]:
			newest = at
		}
	}
	return newest, unclear
}

// performSearch finds the newest backup. The order of the backups is their time.
func (w *World) performSearch(c *protocol.Search) exit {
	newest, unclear := w.newestBelow(c.At)
	there := w.disk.bucket[newest]
	switch {
	case newest == "" && unclear != "":
		return fails(protocol.BackupUnclear, "There is an incomplete backup, "+unclear)
	case newest == "":
		return exitWith(protocol.Result{Found: &protocol.Found{}})
	case there.cluster == c.ID:
		return fails(protocol.IDMismatch, newest+" is of this cluster itself")
	}
	return exitWith(protocol.Result{Found: &protocol.Found{
		Location: newest, Engine: there.engine, Members: len(there.parts),
		Completed: Began.Add(time.Duration(w.disk.completed[there.id]) * time.Minute),
	}})
}
