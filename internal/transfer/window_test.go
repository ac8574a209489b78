/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

const besideFolder = "shop/orders"

// logged archives files with a shell script, beside the backups.
func (w *world) logged(script string) {
	w.t.Helper()
	w.must(w.run("archive", "--to", "file:///"+besideFolder+"/archive-uid-1", "--root", w.root, "--id", "uid-1", "--", "bash", "-c", "read -r last; "+script))
}

// marked is a mark at a time from now.
func marked(after time.Duration) string {
	return "echo mark " + time.Now().Add(after).UTC().Format(time.RFC3339) + "; "
}

// based backs up a cluster, from a file of the archive.
func (w *world) based(name, cluster, start string) outcome {
	w.t.Helper()
	return w.must(w.run("backup", "--to", "file:///"+besideFolder+"/"+name, "--root", w.root, "--id", name, "--about", "clusterUID="+cluster, "--complete",
		"--check=echo", fmt.Sprintf(`--check={"archiveFile":%q}`, start), "--", "echo", "data"))
}

func (w *world) window(flags ...string) protocol.Recoverable {
	w.t.Helper()
	out := w.must(w.run(slices.Concat([]string{"window", "--of", "file:///" + besideFolder, "--root", w.root, "--id", "uid-1", "--patience", "100ms"}, flags)...))
	if out.Recoverable == nil {
		w.t.Fatalf("%+v", out)
	}
	return *out.Recoverable
}

// files are the names of the files in the archive.
func (w *world) files() (names []string) {
	w.t.Helper()
	for _, path := range w.stored() {
		if _, name, is := strings.Cut(path, "archive-uid-1/"); is {
			if p, is := archive.Parse(name); is && !slices.Contains(names, p.File) {
				names = append(names, p.File)
			}
		}
	}
	return names
}

func TestTheWindowIsWhatABackupAndTheArchiveHaveTogether(t *testing.T) {
	w := newWorld(t)
	if found := w.window(); len(found.Spans) != 0 || found.Based {
		t.Errorf("nothing: %+v", found)
	}
	w.logged(marked(-time.Hour) + `printf 'put log.1 1\na'; printf 'put log.2 1\nb'`)
	w.based("stranger", "uid-2", "log.1")
	w.based("unknown", "uid-1", "")
	w.based("damaged", "uid-1", "log.1")
	pieces, err := filepath.Glob(filepath.Join(w.root, besideFolder, "damaged", "member-0", "0*"))
	if err != nil || len(pieces) != 1 {
		t.Fatal(pieces, err)
	}
	w.worked(os.Remove(pieces[0]))
	if found := w.window(); len(found.Spans) != 0 || found.Based || found.StoredBytes == 0 {
		t.Errorf("without a backup: %+v", found)
	}
	saved := w.based("first", "uid-1", "log.2")
	if found := w.window(); len(found.Spans) != 0 || !found.Based {
		t.Errorf("the archive is not yet as new as the backup: %+v", found)
	}
	w.logged(marked(time.Hour) + `printf 'put log.3 1\nc'`)
	found := w.window()
	if len(found.Spans) != 1 || !found.Spans[0].Oldest.Equal(saved.Completed) || time.Until(found.Spans[0].Newest) < 50*time.Minute {
		t.Errorf("%+v, the backup ended at %s", found, saved.Completed)
	}
}

func TestLogThatNoBackupNeedsIsRemoved(t *testing.T) {
	w := newWorld(t)
	w.logged(`for n in {10..60}; do printf "put log.$n 1\na"; done; ` + marked(time.Hour) + `printf 'put log.61 1\na'`)
	all := w.files()
	if found := w.window(); found.Removed != 0 || !slices.Equal(w.files(), all) {
		t.Errorf("without a backup: %+v", found)
	}
	w.based("second", "uid-1", "log.40")
	w.based("first", "uid-1", "log.30")
	if found := w.window("--keep", "1h"); found.Removed != 0 || !slices.Equal(w.files(), all) {
		t.Errorf("no backup is older than the window: %+v", found)
	}
	manifest := filepath.Join(w.root, besideFolder, "other", protocol.ManifestName)
	w.worked(os.MkdirAll(filepath.Dir(manifest), 0o700))
	w.worked(os.WriteFile(manifest, []byte("rubbish"), 0o600))
	if found := w.window(); found.Removed != 0 || !strings.Contains(found.Kept, "other/manifest.json cannot be read") || !slices.Equal(w.files(), all) {
		t.Errorf("a backup that nobody can read may need it: %+v", found)
	}
	w.worked(os.Remove(manifest))
	before := w.window("--keep", "1h").StoredBytes
	found := w.window()
	if left := w.files(); found.Removed == 0 || left[0] != "log.30" || len(left) != 32 || found.StoredBytes >= before || len(found.Spans) != 1 {
		t.Errorf("%+v of %d bytes, left: %v", found, before, left)
	}
	time.Sleep(10 * time.Millisecond)
	if found := w.window("--keep", "1ms"); found.Removed != 0 || w.files()[0] != "log.30" {
		t.Errorf("of two backups before the window the newest counts: %+v, left: %v", found, w.files())
	}
	w.logged(`echo $last >&2; printf 'put log.62 1\na'`)
	if left := w.files(); left[len(left)-1] != "log.62" || len(left) != 33 {
		t.Errorf("the archive does not continue: %v", left)
	}
}
