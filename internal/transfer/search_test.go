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

func (w *world) search(flags ...string) outcome {
	w.t.Helper()
	return w.run(append([]string{"search", "--at", "file:///" + besideFolder, "--root", w.root, "--id", "uid-new"}, flags...)...)
}

// place writes a file below the folder of the cluster.
func (w *world) place(name string) {
	w.t.Helper()
	path := filepath.Join(w.root, besideFolder, name)
	w.worked(os.MkdirAll(filepath.Dir(path), 0o755))
	w.worked(os.WriteFile(path, []byte("{"), 0o600))
}

// finds fails the test unless a search has found a backup; "" for an empty folder.
func (w *world) finds(name string, flags ...string) protocol.Found {
	w.t.Helper()
	o, location := w.must(w.search(flags...)), ""
	if name != "" {
		location = "file:///" + besideFolder + "/" + name
	}
	if o.Found == nil || o.Found.Location != location {
		w.t.Fatalf("found %+v instead of %q", o.Found, location)
	}
	return *o.Found
}

func TestASearchFindsTheNewestCompleteBackup(t *testing.T) {
	w := newWorld(t)
	w.finds("")
	for _, name := range []string{"b", "archive-of-2025", "a"} {
		w.must(w.run("backup", "--to", "file:///"+besideFolder+"/"+name, "--root", w.root, "--id", name, "--complete",
			"--about", "engine=ledger-v1", "--about", "image=ledger:1", "--about", "clusterUID=uid-old", "--", "echo", "rows"))
	}
	got := w.finds("a")
	if got.Engine != "ledger-v1" || got.Image != "ledger:1" || got.Members != 1 || time.Since(got.Completed) > time.Hour {
		t.Errorf("found %+v", got)
	}
	w.worked(os.RemoveAll(filepath.Join(w.root, besideFolder, "a")))
	w.finds("archive-of-2025")
}

func TestASearchIgnoresWhatIsBesideACompleteBackup(t *testing.T) {
	w := newWorld(t)
	w.based("a", "uid-old", "")
	for _, name := range []string{"half/member-0/00000-0a1b2c3d.zst", "archive-uid-old/archive.json", "notes.txt", "a/notes.txt"} {
		w.place(name)
	}
	w.finds("a")
}

func TestAFolderThatIsNotUnderstoodIsNotEmpty(t *testing.T) {
	for name, c := range map[string]struct{ file, says string }{
		"an archive":                            {"archive-uid-old/archive.json", "an archive, file:///shop/orders/archive-uid-old"},
		"an incomplete backup":                  {"half/member-0/00000-0a1b2c3d.zst", "an incomplete backup, file:///shop/orders/half"},
		"a member of an incomplete backup":      {"half/member-0/manifest.json", "an incomplete backup, file:///shop/orders/half"},
		"a file that a killed attempt wrote":    {"half/manifest.json.0a1b.tmp", "an incomplete backup, file:///shop/orders/half"},
		"what other backups needed":             {"gone/deleted.json", "what is left of a deleted backup, file:///shop/orders/gone"},
		"a file of another program":             {"notes.txt", "file:///shop/orders/notes.txt, which is no part of a backup"},
		"a folder of another program":           {"base/backup.tar", "file:///shop/orders/base/backup.tar, which is no part of a backup"},
		"a backup in a deeper folder":           {"prod/a/manifest.json", "file:///shop/orders/prod/a/manifest.json, which is no part of a backup"},
		"a manifest that is not in a folder":    {"manifest.json", "file:///shop/orders/manifest.json, which is no part of a backup"},
		"a manifest that cannot be read":        {"a/manifest.json", "a/manifest.json cannot be read"},
		"a backup with the name of an archive ": {"archive-a/manifest.json", "archive-a/manifest.json cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.place(c.file)
			w.fails(w.search(), protocol.ExitPrecondition, protocol.BackupUnclear, c.says)
		})
	}
}

func TestAnUnreadableManifestMayBeOfTheNewestBackup(t *testing.T) {
	w := newWorld(t)
	w.based("a", "uid-old", "")
	w.place("b/manifest.json")
	w.fails(w.search(), protocol.ExitPrecondition, protocol.BackupUnclear, "It is unknown whether this is the newest backup")
	w.worked(os.WriteFile(filepath.Join(w.root, besideFolder, "b/manifest.json"), []byte(`{"format": 99, "id": "b"}`), 0o600))
	w.fails(w.search(), protocol.ExitPrecondition, protocol.BackupUnclear, "its format is 99")
}

func TestAFolderThatCannotBeListedIsNotEmpty(t *testing.T) {
	w := newWorld(t)
	w.fails(w.run("search", "--at", "file:///shop", "--root", filepath.Join(w.root, "missing"), "--id", "uid-new"), protocol.ExitPrecondition,
		protocol.DestinationMissing, "Check that claimName names the volume of the backups")
	if os.Getuid() == 0 {
		return // root may read every folder
	}
	w.worked(os.MkdirAll(filepath.Join(w.root, besideFolder, "a"), 0o000))
	w.fails(w.search(), protocol.ExitPrecondition, protocol.CredentialsRefused, "permission denied")
}

func TestAFolderThatIsALinkIsNotEmpty(t *testing.T) {
	w := newWorld(t)
	w.worked(os.MkdirAll(filepath.Join(w.root, "moved/a"), 0o755))
	w.worked(os.WriteFile(filepath.Join(w.root, "moved/a", protocol.ManifestName), []byte("{"), 0o600))
	w.worked(os.MkdirAll(filepath.Dir(filepath.Join(w.root, besideFolder)), 0o755))
	w.worked(os.Symlink(filepath.Join(w.root, "moved"), filepath.Join(w.root, besideFolder)))
	w.fails(w.search(), protocol.ExitPrecondition, protocol.BackupUnclear, "The manifest file:///shop/orders/a/manifest.json cannot be read")
	w.worked(os.Remove(filepath.Join(w.root, besideFolder)))
	w.worked(os.MkdirAll(filepath.Join(w.root, besideFolder, "a"), 0o755))
	w.worked(os.Symlink(filepath.Join(w.root, "moved"), filepath.Join(w.root, besideFolder, "a/link")))
	w.fails(w.search(), protocol.ExitPrecondition, protocol.BackupUnclear, "it has file:///shop/orders/a/link")
}

func TestAClusterNeverFindsItsOwnData(t *testing.T) {
	for name, own := range map[string]string{"a backup": "uid-new", "a backup of replaced data": "uid-new-0a1b2c3d"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.based("old", "uid-old", "")
			w.based("own", own, "")
			w.fails(w.search(), protocol.ExitRefused, protocol.IDMismatch, "file:///shop/orders/own")
		})
	}
	w := newWorld(t)
	w.place("archive-uid-new/archive.json")
	w.fails(w.search(), protocol.ExitRefused, protocol.IDMismatch, "file:///shop/orders/archive-uid-new")
}

func TestARecoveryBeginsWithABackupOfTheSameDataBeforeItsTime(t *testing.T) {
	w := newWorld(t)
	w.based("first", "uid-old", "log.1")
	second := w.based("second", "uid-old", "log.2")
	w.based("third", "uid-old", "") // from a volume
	between := second.Completed.Add(time.Nanosecond).Format(time.RFC3339Nano)
	w.finds("second", "--recovers")
	w.finds("second", "--recovers", "--until", between)
	w.finds("first", "--recovers", "--until", second.Completed.Add(-time.Nanosecond).Format(time.RFC3339Nano))
	w.fails(w.search("--recovers", "--until", "2020-01-01T00:00:00Z"), protocol.ExitPrecondition, protocol.TargetNotCovered,
		"No backup below file:///shop/orders was complete before 2020-01-01T00:00:00Z")
	w.based("fourth", "uid-other", "")
	w.finds("fourth")
	w.fails(w.search("--recovers"), protocol.ExitPrecondition, protocol.TargetNotCovered, "fourth does not begin in an archive")
	w.finds("second", "--recovers", "--until", between)
}
