/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// archiving are the arguments of an archive with a script as its action. $last is the first reply.
func (w *world) archiving(script string, flags ...string) []string {
	arguments := slices.Concat([]string{"archive", "--to", "file:///log", "--root", w.root, "--id", "uid-1", "--max-lag", "100ms"}, flags)
	return append(arguments, "--", "bash", "-c", "read -r last; echo \"$last\" >&2; "+script)
}

func (w *world) archived() (names []string) {
	w.t.Helper()
	root := filepath.Join(w.root, "log")
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(root, path)
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return names
}

// fetched is a file of the archive, or why there is none.
func (w *world) fetched(file string, flags ...string) string {
	w.t.Helper()
	into := filepath.Join(w.t.TempDir(), "file")
	out := w.run(slices.Concat([]string{"fetch", "--from", "file:///log", "--root", w.root, "--file", file, "--into", into}, flags)...)
	if out.code != protocol.ExitDone {
		return string(out.Reason) + ": " + out.Message
	}
	content, err := os.ReadFile(into)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}

func TestAnArchiveHasWhatTheActionSent(t *testing.T) {
	w := newWorld(t)
	out := w.run(w.archiving(`printf 'put 2.history 3\nabc'; printf 'data log.1 0 5\nhello'; sleep 0.5; printf 'data log.1 5 1\n!';
		printf 'mark 2026-11-27T19:33:00.123456Z\nend log.1 6\n'; printf 'data log.2 0 4\nmore'`)...)
	if out.code != protocol.ExitDone {
		t.Fatalf("%+v", out)
	}
	for file, want := range map[string]string{"2.history": "abc", "log.1": "hello!", "log.2": "more"} {
		if got := w.fetched(file); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	files := archive.Read(w.archived())
	last, _ := files.Last()
	ranges := files.Ranges()
	if len(files) != 3 || last.Name != "log.2" || last.Complete || len(ranges) != 1 || !ranges[0].Newest().Equal(time.Date(2026, 11, 27, 19, 33, 0, 123000000, time.UTC)) {
		t.Errorf("%+v", files)
	}
}

func TestTheNextActionLearnsWhereTheArchiveEnds(t *testing.T) {
	w := newWorld(t)
	for i, c := range []struct{ script, told string }{
		{"printf 'data log.1 0 5\nhello'", "last"},
		{"read -r tail; read -r durable; echo \"$tail, $durable\" >&2; printf 'data log.1 2 5\nllo!!'", "last log.1 5 open 2cf24dba5fb0a30e"},
		{"printf 'end log.1 7\n'", "last log.1 7 open 5831fcd681f6a42b"},
		{"printf 'fork log.1 6\n'", "last log.1 7 complete 5831fcd681f6a42b"},
		{"printf 'data log.3 0 1\nxgap log.1 6\n'; read -r durable; read -r gap; echo \"$durable, $gap\" >&2", "last log.1 6 fork"},
		{"printf 'data log.2 0 1\nx'", "last log.1 6 gap"},
	} {
		out := w.run(w.archiving(c.script)...)
		if out.code != protocol.ExitDone || !strings.Contains(out.stderr, `"line":"`+c.told+`"`) {
			t.Fatalf("action %d: want %s, got %+v", i, c.told, out)
		}
		if i == 1 && !strings.Contains(out.stderr, `"line":"tail -, durable log.1 5"`) {
			t.Errorf("the action was not told what is durable:\n%s", out.stderr)
		}
		if i == 4 && !strings.Contains(out.stderr, `"line":"durable log.3 1, gap log.1 6"`) {
			t.Errorf("the action was not told that the gap is stored:\n%s", out.stderr)
		}
	}
	if got := w.fetched("log.1"); got != "hello!!" {
		t.Errorf("log.1 is %q", got)
	}
	if ranges := archive.Read(w.archived()).Ranges(); len(ranges) != 2 {
		t.Errorf("the gap is no end of a range: %+v", ranges)
	}
}

// The names and offsets of some logs do not show where they are in the history of their database.
func TestTheNextActionLearnsTheLastLineAndTheMark(t *testing.T) {
	w := newWorld(t)
	const mark = "mark 2026-11-27T19:33:00.5Z\n"
	for i, c := range []struct{ script, told string }{
		{"printf '" + mark + "data log.1 0 13\nline 1\nline 2'", ""},
		{"printf 'data log.1 13 1\n\n'", "tail 2026-11-27T19:33:00.5Z"},
		{"printf 'end log.1 14\n'", "tail 2026-11-27T19:33:00.5Z line 2"},
		{"printf 'put log.2 3\n\x01\x02\n'", "tail 2026-11-27T19:33:00.5Z line 2"},
		{"", "tail 2026-11-27T19:33:00.5Z"},
	} {
		out := w.run(w.archiving("read -r -t 1 tail; echo \"$tail\" >&2; " + c.script)...)
		if out.code != protocol.ExitDone || c.told != "" && !strings.Contains(out.stderr, `"line":"`+c.told+`"`) {
			t.Errorf("action %d: want %q, got %+v", i, c.told, out)
		}
	}
}

func TestOtherBytesOfAFileAreKeptBesideIt(t *testing.T) {
	w := newWorld(t)
	w.run(w.archiving("printf 'data log.1 0 5\nhello'")...)
	out := w.run(w.archiving("printf 'data log.1 0 5\nhelp!end log.1 5\n'")...)
	if out.code != protocol.ExitDone || !strings.Contains(out.stderr, "other bytes than the archive has") {
		t.Fatalf("%+v", out)
	}
	file, _ := archive.Read(w.archived()).Find("log.1")
	if got := w.fetched("log.1"); got != "help!" || !file.Forked {
		t.Errorf("%q %+v", got, file)
	}
	if names := strings.Join(w.archived(), "\n"); !strings.Contains(names, "log.1.0000000000-0000000005") {
		t.Errorf("the other bytes are gone:\n%s", names)
	}
}

func TestTheArchiveOfAnotherClusterIsRefused(t *testing.T) {
	w := newWorld(t)
	w.run(w.archiving("true")...)
	arguments := w.archiving("printf 'data log.1 0 5\nhello'")
	arguments[slices.Index(arguments, "uid-1")] = "uid-2"
	w.fails(w.run(arguments...), protocol.ExitRefused, protocol.IDMismatch)
	if names := w.archived(); len(names) != 1 {
		t.Errorf("%v", names)
	}
}

func TestAnEncryptedArchiveNeedsItsKey(t *testing.T) {
	w := newWorld(t)
	folder, _, _ := w.key(1)
	out := w.run(w.archiving("printf 'data log.1 0 5\nhello'", "--encryption", folder)...)
	again := w.run(w.archiving("printf 'data log.1 5 1\n!end log.1 6\n'", "--encryption", folder)...)
	if out.code != protocol.ExitDone || again.code != protocol.ExitDone {
		t.Fatalf("%+v\n%+v", out, again)
	}
	if got := w.fetched("log.1", "--encryption", folder); got != "hello!" {
		t.Errorf("log.1 is %q", got)
	}
	if got := w.fetched("log.1"); !strings.HasPrefix(got, string(protocol.EncryptionKeyMissing)) {
		t.Errorf("without the key: %q", got)
	}
}

func TestAMissingFileIsProven(t *testing.T) {
	w := newWorld(t)
	w.run(w.archiving("true")...)
	out := w.run("fetch", "--from", "file:///log", "--root", w.root, "--file", "log.1", "--into", filepath.Join(t.TempDir(), "file"))
	if out.code != protocol.ExitNotApplicable {
		t.Errorf("%+v", out)
	}
}

func TestAWrongFrameEndsTheArchive(t *testing.T) {
	for script, want := range map[string]string{
		"echo hello": `printed "hello"`, "echo data ../x 0 1": "is not a frame", "printf 'data log.1 5 1\nx'": "from its beginning",
		"printf 'data log.1 0 1\nxdata log.2 0 1\ny'": "end that file first", "printf 'data log.1 0 9\nx'": "ended within",
		"echo end log.1 5": "send it first", "echo data log.1 0 99999999": "is not a frame", "exit 20": "exit code 20",
	} {
		w := newWorld(t)
		if out := w.run(w.archiving(script)...); out.code == protocol.ExitDone || !strings.Contains(out.Message, want) {
			t.Errorf("%s: %d %s, want %q", script, out.code, out.Message, want)
		}
	}
}
