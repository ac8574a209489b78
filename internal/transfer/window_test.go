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
	if !slices.Contains(flags, "--trust") {
		for _, name := range []string{"first", "second", "third", "stranger", "unknown", "damaged"} {
			flags = append(flags, "--trust", name)
		}
	}
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

// files archives files log.FROM to log.TO, with a mark before each of them.
func (w *world) files(from, to int, after time.Duration) {
	w.t.Helper()
	w.logged(fmt.Sprintf("for i in {%d..%d}; do %s printf \"put log.$i 1\\nx\"; done", from, to, marked(after)))
}

// left are the numbers of the first and the last file in the archive.
func (w *world) left() string {
	w.t.Helper()
	names, err := filepath.Glob(filepath.Join(w.root, besideFolder, "archive-uid-1", "*", "*.zst"))
	if err != nil || len(names) == 0 {
		w.t.Fatal(names, err)
	}
	slices.Sort(names)
	number := func(name string) string { return strings.Split(filepath.Base(name), ".")[2] }
	return number(names[0]) + "-" + number(names[len(names)-1])
}

func TestLogThatNoRecoveryNeedsIsDeleted(t *testing.T) {
	for name, c := range map[string]struct {
		flags  []string
		left   string
		needed string
	}{
		"only if asked":                        {[]string{"--keep", "1ms"}, "0-30", "[third]"},
		"log from before each backup":          {[]string{"--remove"}, "3-30", "[first second]"},
		"log from before the window":           {[]string{"--remove", "--keep", "1ms", "--trust", "second", "--named", "second"}, "20-30", "[second]"},
		"only from before a named backup":      {[]string{"--remove", "--keep", "1ms"}, "3-30", "[third]"},
		"but not the last files":               {[]string{"--remove", "--keep", "1ms", "--named", "third"}, "22-30", "[third]"},
		"nothing of a window that is not over": {[]string{"--remove", "--keep", "10h"}, "3-30", "[first second]"},
		"a bad backup begins no window":        {[]string{"--remove", "--keep", "1ms", "--trust", "first", "--named", "third"}, "3-30", "[first]"},
		"a bad backup needs its log":           {[]string{"--remove", "--trust", "second", "--trust", "third"}, "3-30", "[second third]"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.files(0, 10, -time.Hour)
			w.based("first", "uid-1", "log.3")
			w.based("stranger", "uid-2", "log.1")
			w.files(11, 20, 0)
			w.based("second", "uid-1", "log.20")
			w.files(21, 30, time.Hour)
			w.based("third", "uid-1", "log.29")
			found := w.window(c.flags...)
			if got := fmt.Sprint(found.Needed); w.left() != c.left || got != c.needed {
				t.Errorf("files %s, needed %s: %+v", w.left(), got, found)
			}
			again := w.window(c.flags...)
			if again.Removed != 0 || fmt.Sprint(again.Spans) != fmt.Sprint(found.Spans) || len(found.Spans) != 1 {
				t.Errorf("another run: %+v after %+v", again, found)
			}
		})
	}
}

func TestNoLogIsDeletedWhileABackupCannotBeRead(t *testing.T) {
	w := newWorld(t)
	w.files(0, 20, time.Hour)
	w.based("first", "uid-1", "log.10")
	manifest := filepath.Join(w.root, besideFolder, "other", protocol.ManifestName)
	w.worked(os.MkdirAll(filepath.Dir(manifest), 0o700))
	w.worked(os.WriteFile(manifest, []byte("rubbish"), 0o600))
	if found := w.window("--remove"); found.Removed != 0 || found.Unread == "" || found.Needed != nil || w.left() != "0-20" {
		t.Errorf("%s: %+v", w.left(), found)
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

// The operator and the plugin of kubectl begin with another backup then.
func TestBackupsThatBeginNoRecoveryAreNamedNewestFirst(t *testing.T) {
	w := newWorld(t)
	w.logged(marked(-time.Hour) + `printf 'put log.1 1\na'`)
	w.based("first", "uid-1", "log.1")
	w.logged(marked(time.Hour) + `printf 'put log.2 1\nb'`)
	w.based("damaged", "uid-1", "log.2")
	pieces, err := filepath.Glob(filepath.Join(w.root, besideFolder, "damaged", "member-0", "0*"))
	if err != nil || len(pieces) != 1 {
		t.Fatal(pieces, err)
	}
	w.worked(os.Remove(pieces[0]))
	w.based("third", "uid-1", "lost.1")
	w.based("stranger", "uid-2", "log.1")
	w.based("unknown", "uid-1", "")
	if found := w.window(); !slices.Equal(found.Unusable, []string{"third", "damaged"}) || len(found.Spans) != 1 {
		t.Errorf("%+v", found)
	}
	if found := w.window("--trust", "first"); found.Unusable != nil {
		t.Errorf("the operator knows that the others are bad: %+v", found)
	}
}

// A replica that was promoted lacks the end of a backup.
func TestABackupWhoseEndWasGivenUpBeginsNoRecovery(t *testing.T) {
	w := newWorld(t)
	w.commits("uid-1", "log.1")
	w.based("first", "uid-1", "log.1")
	w.commits("uid-1", "log.2")
	w.based("second", "uid-1", "log.2")
	w.logged(`printf 'put log.3 1\nc'; printf 'fork log.3 0\n'; ` + marked(time.Hour) + `printf 'put log.4 1\nd'`)
	if found := w.window(); !slices.Equal(found.Unusable, []string{"second"}) || len(found.Spans) != 1 {
		t.Errorf("%+v", found)
	}
}
