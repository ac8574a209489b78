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

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

func TestADamagedBackupIsFoundAndNamed(t *testing.T) {
	const piece = "member-0/00003.zst"
	flipped := func(content []byte) []byte {
		content[len(content)/2] ^= 1
		return content
	}
	half := func(content []byte) []byte { return content[:len(content)/2] }
	for name, test := range map[string]struct {
		file   string
		change func([]byte) []byte // nil: remove it
		reason protocol.Reason
		says   string
	}{
		"a piece has changed":            {piece, flipped, protocol.BackupCorrupt, piece + " is corrupt"},
		"the last piece has changed":     {"member-0/00010.zst", flipped, protocol.BackupCorrupt, "member-0/00010.zst is corrupt"},
		"a piece is short":               {piece, half, protocol.BackupCorrupt, piece + " has 32768 bytes instead of 65536"},
		"a piece is missing":             {piece, nil, protocol.BackupCorrupt, piece + " is missing"},
		"the manifest is cut":            {protocol.ManifestName, half, protocol.ManifestInvalid, "shop/orders/manifest.json cannot be read"},
		"the manifest is empty":          {protocol.ManifestName, func([]byte) []byte { return nil }, protocol.ManifestInvalid, "cannot be read"},
		"the manifest is of the future":  {protocol.ManifestName, replace(`"format": 2`, `"format": 4`), protocol.ManifestInvalid, "its format is 4"},
		"the manifest has no id":         {protocol.ManifestName, replace("uid-1", ""), protocol.ManifestInvalid, "no id"},
		"the manifest leads elsewhere":   {protocol.ManifestName, replace("00003-", "../../x"), protocol.ManifestInvalid, "member-0/../../x"},
		"the attempt leads elsewhere":    {protocol.ManifestName, replace(`"attempt": "`, `"attempt": "../x`), protocol.ManifestInvalid, `the invalid name "../x`},
		"the manifest lacks a piece":     {protocol.ManifestName, replace(`"bytes": 65536`, `"bytes": 65535`), protocol.ManifestInvalid, "bytes in total"},
		"the checksum of all is another": {protocol.ManifestName, otherSum, protocol.BackupCorrupt, "its SHA-256 differs"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.must(w.backup("cat " + w.noise()))
			says := strings.Replace(test.says, test.file, w.name(test.file), 1)
			if test.change == nil {
				w.worked(os.Remove(w.path(test.file)))
			} else {
				w.change(test.file, test.change)
			}
			ended := filepath.Join(t.TempDir(), "ended")
			w.fails(w.restore("cat > "+w.data+"/all; touch "+ended), protocol.ExitRefused, test.reason, says)
			if left := w.restored(); len(left) > 0 {
				t.Errorf("left are %v", left)
			}
			if _, err := os.Stat(ended); err == nil {
				t.Error("the action mistook the end of its input for the end of the data")
			}
		})
	}
}

func replace(old, by string) func([]byte) []byte {
	return func(content []byte) []byte { return []byte(strings.Replace(string(content), old, by, 1)) }
}

func otherSum(content []byte) []byte {
	before, after, _ := strings.Cut(string(content), `"sha256": "`) // the first is that of the stream
	return []byte(before + `"sha256": "` + strings.Repeat("0", 64) + after[64:])
}

func TestABackupWithoutManifestDoesNotExist(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("echo rows", "--complete=false"))
	w.fails(w.restore("cat >/dev/null"), protocol.ExitPrecondition, protocol.BackupMissing, "file:///shop/orders/manifest.json does not exist")
	if entries := files(t, w.data); len(entries) > 0 {
		t.Errorf("the data directory holds %v", entries)
	}
}

func TestANonEmptyDataDirectoryIsRejected(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("echo rows"))
	w.worked(os.WriteFile(filepath.Join(w.data, "PG_VERSION"), []byte("17"), 0o600))
	w.fails(w.restore("cat >/dev/null"), protocol.ExitRefused, protocol.DataDirectoryNotEmpty, w.data, "PG_VERSION", "empty volume")
	if left := files(t, w.data); !slices.Equal(left, []string{"PG_VERSION"}) {
		t.Errorf("the data directory holds %v", left)
	}
}

func TestLostAndFoundOnANewVolumeIsNotData(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("echo rows"))
	w.worked(os.Mkdir(filepath.Join(w.data, lostAndFound), 0o700))
	w.must(w.restore("cat > " + w.data + "/all"))
	if _, err := os.Stat(filepath.Join(w.data, lostAndFound)); err != nil {
		t.Error(err)
	}
}

func TestAMissingDataDirectoryIsCreated(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("echo rows"))
	w.data = filepath.Join(w.data, "pgdata")
	w.must(w.restore("cat > " + w.data + "/all"))
}

func TestMarksOfPreviousAttempts(t *testing.T) {
	for name, test := range map[string]struct {
		mark   string
		code   protocol.ExitCode
		reason protocol.Reason
		left   []string
	}{
		"the same, cut":       {`{"id":"new-1","state":"running"}`, 0, "", []string{"all"}},
		"the same, done":      {`{"id":"new-1","state":"done","result":{"bytes":5}}`, 0, "", []string{"old"}},
		"another, cut":        {`{"id":"new-2","state":"running"}`, protocol.ExitRefused, protocol.DataDirectoryNotEmpty, []string{"old"}},
		"another, done":       {`{"id":"new-2","state":"done"}`, protocol.ExitRefused, protocol.DataDirectoryNotEmpty, []string{"old"}},
		"one that is damaged": {`{"id":`, protocol.ExitRefused, protocol.DataDirectoryNotEmpty, []string{"old"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.must(w.backup("echo rows"))
			for file, content := range map[string]string{protocol.MarkName: test.mark, "old": "old"} {
				w.worked(os.WriteFile(filepath.Join(w.data, file), []byte(content), 0o600))
			}
			if o := w.restore("cat > " + w.data + "/all"); o.code != test.code || o.Reason != test.reason || test.code == 0 && o.Bytes != 5 {
				t.Errorf("exit code %d, %+v", o.code, o.Result)
			}
			if left := w.restored(); !slices.Equal(left, test.left) {
				t.Errorf("the data directory holds %v", left)
			}
		})
	}
}

func TestACompletedRestoreNeedsNoDestination(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("echo rows"))
	first := w.must(w.restore("cat > " + w.data + "/all"))
	w.root = filepath.Join(w.root, "gone")
	again := w.must(w.restore("exit 1"))
	if first.SHA256 != again.SHA256 || !first.Completed.Equal(again.Completed) {
		t.Errorf("first %+v, again %+v", first.Result, again.Result)
	}
}

func TestBadActionsOfARestore(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		code   protocol.ExitCode
		reason protocol.Reason
		says   string
	}{
		"fails at once":            {"echo no >&2; exit 5", protocol.ExitFailed, protocol.ActionFailed, "exit code 5. The end of its stderr: no"},
		"fails after all":          {"cat > all; exit 5", protocol.ExitFailed, protocol.ActionFailed, "exit code 5"},
		"says why on stdout":       {"echo out of luck; exit 5", protocol.ExitFailed, protocol.ActionFailed, "out of luck"},
		"refuses":                  {"cat > all; exit 30", protocol.ExitRefused, protocol.ActionFailed, "exit code 30"},
		"does not apply":           {"exit 40", protocol.ExitNotApplicable, protocol.ActionFailed, "exit code 40"},
		"has no room, as it says":  {"cat > all; echo 'write error: No space left on device' >&2; exit 1", protocol.ExitPrecondition, protocol.DataVolumeFull, "larger volume"},
		"has no room, and refuses": {"echo 'No space left on device' >&2; exit 30", protocol.ExitRefused, protocol.ActionFailed, "exit code 30"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.must(w.backup("cat " + w.noise()))
			w.fails(w.restore("cd "+w.data+"; "+test.script), test.code, test.reason, test.says)
			if left := w.restored(); len(left) > 0 {
				t.Errorf("left are %v", left)
			}
			w.must(w.restore("cat > " + w.data + "/all"))
		})
	}
}

func TestUnreadPaddingIsVerified(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("cat " + w.noise() + "; head -c 300000 /dev/zero"))
	w.must(w.restore("head -c 700000 > " + w.data + "/all"))
	w.data = t.TempDir()
	w.change("member-0/00010.zst", func(content []byte) []byte {
		content[len(content)-1] ^= 1
		return content
	})
	w.fails(w.restore("head -c 700000 > "+w.data+"/all"), protocol.ExitRefused, protocol.BackupCorrupt, "00010-")
}

func TestADataVolumeWithoutRoom(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("head -c 3000000 /dev/zero"))
	small(t, w.data)
	w.fails(w.restore("cat > "+w.data+"/all"), protocol.ExitPrecondition, protocol.DataVolumeFull, w.data, "larger volume")
	if left := w.restored(); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}
