/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// initialize runs a shell script in the data directory, which creates the first data.
func (w *world) initialize(script string) outcome {
	w.t.Helper()
	return w.run("initialize", "--id", "new-1", "--into", w.data, "--", "sh", "-c", "cd "+w.data+"; "+script)
}

func TestTheFirstDataIsCreatedInAnEmptyDirectory(t *testing.T) {
	w := newWorld(t)
	w.worked(os.Mkdir(filepath.Join(w.data, lostAndFound), 0o700))
	o := w.must(w.initialize("echo rows > all; echo done"))
	if o.Started.IsZero() || o.Completed.Before(o.Started) {
		t.Errorf("it ran from %s to %s", o.Started, o.Completed)
	}
	if left := w.restored(); !slices.Equal(left, []string{"all"}) {
		t.Errorf("the data directory has %v", left)
	}
}

func TestTheFirstDataIsCreatedOnlyOnce(t *testing.T) {
	w := newWorld(t)
	first := w.must(w.initialize("echo rows > all"))
	again := w.must(w.initialize("exit 1"))
	if !first.Completed.Equal(again.Completed) {
		t.Errorf("first %+v, again %+v", first.Result, again.Result)
	}
	if left := w.restored(); !slices.Equal(left, []string{"all"}) {
		t.Errorf("the data directory has %v", left)
	}
}

func TestTheFirstDataNeverReplacesOtherData(t *testing.T) {
	for name, test := range map[string]struct {
		mark   string
		code   protocol.ExitCode
		reason protocol.Reason
		left   []string
	}{
		"data without a mark":       {"", protocol.ExitRefused, protocol.DataDirectoryNotEmpty, []string{"old"}},
		"an interrupted attempt":    {`{"id":"new-1","state":"running"}`, 0, "", []string{"all"}},
		"a completed attempt":       {`{"id":"new-1","state":"done"}`, 0, "", []string{"old"}},
		"an interrupted restore":    {`{"id":"new-2","state":"running"}`, protocol.ExitRefused, protocol.DataDirectoryNotEmpty, []string{"old"}},
		"a restored backup":         {`{"id":"new-2","state":"done"}`, protocol.ExitRefused, protocol.DataDirectoryNotEmpty, []string{"old"}},
		"a mark that is unreadable": {`{"id":`, protocol.ExitRefused, protocol.DataDirectoryNotEmpty, []string{"old"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.worked(os.WriteFile(filepath.Join(w.data, "old"), []byte("old"), 0o600))
			if test.mark != "" {
				w.worked(os.WriteFile(filepath.Join(w.data, protocol.MarkName), []byte(test.mark), 0o600))
			}
			if o := w.initialize("echo rows > all"); o.code != test.code || o.Reason != test.reason {
				t.Errorf("exit code %d, %+v", o.code, o.Result)
			}
			if left := w.restored(); !slices.Equal(left, test.left) {
				t.Errorf("the data directory has %v", left)
			}
		})
	}
}

func TestAFailedInitializationLeavesAnEmptyDirectory(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		code   protocol.ExitCode
		reason protocol.Reason
		says   string
	}{
		"fails":                   {"echo half > all; echo no >&2; exit 5", protocol.ExitFailed, protocol.ActionFailed, "exit code 5. The end of its stderr: no"},
		"says why on stdout":      {"echo out of luck; exit 5", protocol.ExitFailed, protocol.ActionFailed, "out of luck"},
		"is transient":            {"echo half > all; exit 11", protocol.ExitTransient, protocol.ActionFailed, "exit code 11"},
		"refuses":                 {"exit 30", protocol.ExitRefused, protocol.ActionFailed, "exit code 30"},
		"does not apply":          {"exit 40", protocol.ExitNotApplicable, protocol.ActionFailed, "exit code 40"},
		"has no room, as it says": {"echo half > all; echo 'No space left on device' >&2; exit 1", protocol.ExitPrecondition, protocol.DataVolumeFull, "larger volume"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.fails(w.initialize(test.script), test.code, test.reason, test.says)
			if left := w.restored(); len(left) > 0 {
				t.Errorf("the data directory has %v", left)
			}
			w.must(w.initialize("echo rows > all"))
		})
	}
}
