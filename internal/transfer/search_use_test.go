/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// A cluster that is lost had data, and a DatabaseRestore replaced it.
const (
	firstData    = "6f1e0c52-1111-4222-8333-0a1b2c3d4e5f"
	restoredData = firstData + "-0a1b2c3d4e"
)

// commits archives a file of some data, with a mark that is later than each backup until now.
func (w *world) commits(lineage, file string) {
	w.t.Helper()
	at := time.Now().Truncate(time.Millisecond).Add(2 * time.Millisecond)
	for !time.Now().After(at) { // a search ignores a mark in the future
		time.Sleep(time.Millisecond)
	}
	w.marks(lineage, file, at)
}

func (w *world) marks(lineage, file string, at time.Time) {
	w.t.Helper()
	w.must(w.run("archive", "--to", "file:///"+besideFolder+"/"+protocol.ArchiveFolder(lineage), "--root", w.root, "--id", lineage, "--", "bash", "-c",
		"read -r last; echo mark "+at.UTC().Format(time.RFC3339Nano)+"; printf 'put "+file+" 1\\nx'"))
}

func TestASearchFollowsTheDataThatTheClusterUsedLast(t *testing.T) {
	w := newWorld(t)
	first := w.based("first", firstData, "log.1")
	w.commits(firstData, "log.1")
	w.finds("first")

	w.commits(restoredData, "log.1") // it was replaced, and no backup has the new data
	w.fails(w.search(), protocol.ExitPrecondition, protocol.BackupUnclear, "No complete backup has the data that the cluster used last: "+
		"a DatabaseRestore replaced that of the newest backup, file:///shop/orders/first. The archive of the other data is file:///shop/orders/archive-"+restoredData)

	restored := w.based("restored", restoredData, "log.1")
	w.finds("restored")
	w.commits(restoredData, "log.2")
	w.finds("restored", "--recovers")

	w.commits(firstData, "log.2") // an undo gave the first data back
	w.finds("first")
	w.finds("first", "--recovers")
	w.finds("restored", "--until", restored.Completed.Format(time.RFC3339Nano))
	w.finds("first", "--until", first.Completed.Format(time.RFC3339Nano))
	w.fails(w.search("--until", restored.Completed.Add(-time.Nanosecond).Format(time.RFC3339Nano)), protocol.ExitPrecondition, protocol.BackupUnclear,
		"No complete backup has the data that the cluster used last")

	w.marks(restoredData, "log.3", time.Now().Add(time.Hour)) // a clock was wrong
	w.finds("first")
	w.based("again", firstData, "log.2")
	w.finds("again")
}

// Without an archive, only the times of the backups are known. Another cluster of the name never had the data.
func TestASearchComparesOnlyTheDataOfOneCluster(t *testing.T) {
	const other = "7a2f1d63-1111-4222-8333-0a1b2c3d4e5f"
	w := newWorld(t)
	w.based("first", firstData, "")
	w.based("restored", restoredData, "")
	w.finds("restored")
	w.commits(other, "log.1")
	w.finds("restored")
	w.based("of-another", other, "log.1")
	w.commits(firstData, "log.1")
	w.finds("of-another")
}

func TestASearchBeginsARecoveryWithABackupThatIsWhole(t *testing.T) {
	w := newWorld(t)
	w.commits(firstData, "log.1")
	w.based("first", firstData, "log.1")
	w.based("second", firstData, "log.1")
	w.based("third", firstData, "lost.1")
	w.finds("second", "--recovers")
	pieces, err := filepath.Glob(filepath.Join(w.root, besideFolder, "second", "member-0", "0*"))
	if err != nil || len(pieces) != 1 {
		t.Fatal(pieces, err)
	}
	w.worked(os.Remove(pieces[0]))
	w.finds("first", "--recovers")
	w.finds("third")
	w.worked(os.RemoveAll(filepath.Join(w.root, besideFolder, "first")))
	w.finds("third", "--recovers") // the restore reports what is missing
}
