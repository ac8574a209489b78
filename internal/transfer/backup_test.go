/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

func TestARestoreReturnsTheBackedUpData(t *testing.T) {
	w, data := newWorld(t), ""
	data = w.noise()
	made := w.must(w.backup("cat "+data, "--about", "cluster=orders", "--about", "namespace=shop"))
	if made.Bytes != 700_000 || made.StoredBytes < 700_000 || len(made.SHA256) != 64 || made.Completed.Before(made.Started) {
		t.Errorf("the result is %+v", made.Result)
	}
	if stored := w.stored(); len(stored) != 13 || stored[0] != "shop/orders/manifest.json" || stored[1] != "shop/orders/"+w.name("member-0/00000.zst") {
		t.Errorf("stored are %v", stored)
	}
	got := w.must(w.restore("cat > " + w.data + "/all"))
	same(t, data, filepath.Join(w.data, "all"))
	if got.SHA256 != made.SHA256 || got.Bytes != made.Bytes || got.StoredBytes != made.StoredBytes {
		t.Errorf("made %+v, got %+v", made.Result, got.Result)
	}
}

func TestTheManifestDescribesTheBackup(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("cat "+w.noise(), "--about", "cluster=orders", "--about", "engine=ledger-v1"))
	content, err := os.ReadFile(w.path(protocol.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	var manifest protocol.Manifest
	if err := json.Unmarshal(content, &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.ID != "uid-1" || manifest.Members != 1 || manifest.About["cluster"] != "orders" || manifest.About["engine"] != "ledger-v1" {
		t.Errorf("the manifest is %s", content)
	}
	if pieces := manifest.Streams[0].Pieces; len(pieces) != 11 || pieces[0].Bytes != 64<<10 || pieces[10].Name != "member-0/00010-"+manifest.Streams[0].Attempt+".zst" {
		t.Errorf("the pieces are %+v", pieces)
	}
}

func TestACompletedBackupIsNotRepeated(t *testing.T) {
	w := newWorld(t)
	first := w.must(w.backup("echo rows"))
	again := w.must(w.backup("echo other rows; exit 1"))
	if first.SHA256 != again.SHA256 || !first.Completed.Equal(again.Completed) {
		t.Errorf("first %+v, again %+v", first.Result, again.Result)
	}
}

func TestTheNextAttemptCompletesAStoredMember(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("echo rows", "--complete=false"))
	if slices.Contains(w.stored(), "shop/orders/manifest.json") {
		t.Fatal("the backup is complete without --complete")
	}
	w.must(w.backup("exit 1"))
	if !slices.Contains(w.stored(), "shop/orders/manifest.json") {
		t.Error("not completed")
	}
}

func TestABackupOfSeveralMembersIsCompleteWithTheLast(t *testing.T) {
	w := newWorld(t)
	w.fails(w.backup("echo one", "--member", "1", "--members", "2"), protocol.ExitPrecondition, protocol.BackupMissing, "member-0/manifest.json is missing")
	w.must(w.backup("echo zero", "--member", "0", "--members", "2", "--complete=false"))
	w.must(w.backup("exit 1", "--member", "1", "--members", "2"))
	for member, says := range []string{"zero\n", "one\n"} {
		w.data = t.TempDir()
		w.must(w.restore("cat > "+w.data+"/all", "--member", []string{"0", "1"}[member], "--members", "2"))
		if content, err := os.ReadFile(filepath.Join(w.data, "all")); err != nil || string(content) != says {
			t.Errorf("member %d got %q, %v", member, content, err)
		}
	}
	w.data = t.TempDir()
	w.fails(w.restore("cat >/dev/null"), protocol.ExitRefused, protocol.ManifestInvalid, "has 2 members", "replicas")
}

func TestAnAttemptRemovesNothingThatAnotherOneStored(t *testing.T) {
	w := newWorld(t)
	w.worked(os.MkdirAll(w.path("member-0"), 0o755))
	others := []string{"00000-0a1b2c3d.zst", "00000.zst", "00007.zst", "00008-0a1b2c3d.zst.1a2b3c.tmp"}
	for _, name := range others {
		w.worked(os.WriteFile(filepath.Join(w.path("member-0"), name), []byte("cut"), 0o600))
	}
	w.fails(w.backup("echo rows; exit 1"), protocol.ExitFailed, protocol.ActionFailed)
	if left := w.stored(); len(left) != len(others) {
		t.Errorf("left are %v", left)
	}
	made := w.must(w.backup("echo rows"))
	if stored := w.stored(); len(stored) != len(others)+3 {
		t.Errorf("stored are %v", stored)
	}
	w.restores(made.SHA256)
	w.must(w.remove())
	w.nothing()
}

func TestAnotherBackupIsNeverTouched(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("echo rows"))
	before := w.stored()
	w.fails(w.backup("echo mine", "--id", "uid-2"), protocol.ExitRefused, protocol.IDMismatch, "uid-1", "uid-2")
	w.fails(w.run("delete", "--at", "file:///shop/orders", "--root", w.root, "--id", "uid-2"), protocol.ExitRefused, protocol.IDMismatch, "uid-1")
	if after := w.stored(); !slices.Equal(before, after) {
		t.Errorf("before %v, after %v", before, after)
	}
	// The manifest of one member is enough to identify the owner.
	w.worked(os.Remove(w.path(protocol.ManifestName)))
	w.fails(w.backup("echo mine", "--id", "uid-2"), protocol.ExitRefused, protocol.IDMismatch)
}

func TestBadActionsOfABackup(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		code   protocol.ExitCode
		reason protocol.Reason
		says   []string
	}{
		"prints nothing":          {"true", protocol.ExitFailed, protocol.EmptyBackup, []string{"printed nothing"}},
		"writes to stderr only":   {"echo rows >&2", protocol.ExitFailed, protocol.EmptyBackup, []string{"printed nothing", "stderr: rows"}},
		"fails":                   {"echo rows; echo cannot connect >&2; exit 3", protocol.ExitFailed, protocol.ActionFailed, []string{"exit code 3", "cannot connect"}},
		"fails without output":    {"exit 1", protocol.ExitFailed, protocol.ActionFailed, []string{"wrote nothing to stderr"}},
		"is not ready":            {"exit 11", protocol.ExitTransient, protocol.ActionFailed, []string{"exit code 11"}},
		"lacks a precondition":    {"exit 20", protocol.ExitPrecondition, protocol.ActionFailed, []string{"exit code 20"}},
		"refuses":                 {"exit 30", protocol.ExitRefused, protocol.ActionFailed, []string{"exit code 30"}},
		"does not apply":          {"exit 40", protocol.ExitNotApplicable, protocol.ActionFailed, []string{"exit code 40"}},
		"is killed":               {"echo rows; kill -9 $$", protocol.ExitFailed, protocol.ActionFailed, []string{"signal 9", "memory limit"}},
		"does not exist":          {"exec /no/such/program", protocol.ExitFailed, protocol.ActionFailed, []string{"exit code 127"}},
		"fails after many pieces": {"head -c 3000000 /dev/urandom; exit 1", protocol.ExitFailed, protocol.ActionFailed, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.fails(w.backup(test.script), test.code, test.reason, test.says...)
			if stored := w.stored(); len(stored) > 0 {
				t.Errorf("left are %v", stored)
			}
		})
	}
}

func TestAMissingProgramIsNamed(t *testing.T) {
	w := newWorld(t)
	o := w.run("backup", "--to", "file:///a", "--root", w.root, "--id", "1", "--", "/no/such/program")
	w.fails(o, protocol.ExitFailed, protocol.ActionFailed, "/no/such/program cannot be started")
}

func TestAHungActionIsKilledWithItsChildProcesses(t *testing.T) {
	for name, script := range map[string]string{
		"before the first byte": "sleep 1000",
		"in the middle":         "echo rows; sleep 1000 | cat",
		"after its output":      "echo rows; exec >&-; sleep 1000",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			pids := filepath.Join(t.TempDir(), "pid")
			w.fails(w.backup("echo $$ >"+pids+"; "+script, "--idle-timeout", "200ms"), protocol.ExitFailed, protocol.ActionHung, "200ms")
			if stored := w.stored(); len(stored) > 0 {
				t.Errorf("left are %v", stored)
			}
			if alive := running(t, pidIn(t, pids)); len(alive) > 0 {
				t.Errorf("still running are %v", alive)
			}
		})
	}
}

func TestAnUnreadableManifestIsNotOverwritten(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("echo rows"))
	w.change(protocol.ManifestName, func(content []byte) []byte { return content[:len(content)/2] })
	w.fails(w.backup("echo rows"), protocol.ExitRefused, protocol.ManifestInvalid, "shop/orders/manifest.json", "cannot be read")
}

func TestAMissingDestination(t *testing.T) {
	w := newWorld(t)
	w.root = filepath.Join(w.root, "missing")
	w.fails(w.backup("echo rows"), protocol.ExitPrecondition, protocol.DestinationMissing, "no such file", "volume")
}

func TestAReadOnlyDestination(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root can write everywhere")
	}
	w := newWorld(t)
	w.worked(os.Chmod(w.root, 0o500))
	w.fails(w.backup("echo rows"), protocol.ExitPrecondition, protocol.CredentialsRefused, "permission denied")
}

func TestADestinationWithoutRoom(t *testing.T) {
	w := newWorld(t)
	small(t, w.root)
	w.fails(w.backup("head -c 3000000 /dev/urandom"), protocol.ExitPrecondition, protocol.DestinationFull, "no space left", "Free space")
	if stored := w.stored(); len(stored) > 0 {
		t.Errorf("left are %v", stored)
	}
	w.must(w.backup("head -c 100000 /dev/urandom"))
}

func TestProgressIsLoggedAsJSON(t *testing.T) {
	w := newWorld(t)
	made := w.must(w.backup("printf 'no end of line' >&2; echo rows; sleep 0.3", "--progress-interval", "50ms"))
	got := w.must(w.restore("cat >/dev/null", "--progress-interval", "50ms"))
	last := progressLines(t, made.stderr)
	if len(last) < 3 || last[len(last)-1]["bytes"] != 5.0 || last[len(last)-1]["totalBytes"] != nil {
		t.Errorf("logged was %v", last)
	}
	last = progressLines(t, got.stderr)
	if end := last[len(last)-1]; end["bytes"] != 5.0 || end["totalBytes"] != 5.0 || end["storedBytes"] != float64(made.StoredBytes) {
		t.Errorf("logged was %v", last)
	}
}

func progressLines(t *testing.T, stderr string) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(stderr) {
		var parsed map[string]any
		if err := json.Unmarshal([]byte(line), &parsed); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if parsed["msg"] == "progress" {
			lines = append(lines, parsed)
		}
	}
	return lines
}

func TestAnInterruptedBackupLeavesNothing(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	started := filepath.Join(t.TempDir(), "started")
	go func() {
		wait(t, started)
		cancel()
	}()
	script := "head -c 200000 /dev/urandom; touch " + started + "; sleep 1000"
	w.fails(w.runIn(ctx, w.backupArguments(script)...), protocol.ExitTransient, protocol.Interrupted)
	if stored := w.stored(); len(stored) > 0 {
		t.Errorf("left are %v", stored)
	}
}

// wait returns when the file exists.
func wait(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if content, err := os.ReadFile(path); err == nil && (len(content) == 0 || bytes.HasSuffix(content, []byte("\n"))) {
			return
		}
	}
	t.Errorf("%s was never created", path)
}
