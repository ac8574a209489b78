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
	if found := w.window(); len(found.Spans) != 0 || !found.Based || found.Current {
		t.Errorf("the archive is not yet as new as the backup: %+v", found)
	}
	w.logged(marked(time.Hour) + `printf 'put log.3 1\nc'`)
	found := w.window()
	if len(found.Spans) != 1 || !found.Current || !found.Spans[0].Oldest.Equal(saved.Completed) || time.Until(found.Spans[0].Newest) < 50*time.Minute {
		t.Errorf("%+v, the backup ended at %s", found, saved.Completed)
	}
}

func TestABackupThatCannotBeReadIsNamed(t *testing.T) {
	w := newWorld(t)
	manifest := filepath.Join(w.root, besideFolder, "other", protocol.ManifestName)
	w.worked(os.MkdirAll(filepath.Dir(manifest), 0o700))
	w.worked(os.WriteFile(manifest, []byte("rubbish"), 0o600))
	if found := w.window(); !strings.Contains(found.Unread, "other/manifest.json cannot be read") || found.Based {
		t.Errorf("%+v", found)
	}
}
