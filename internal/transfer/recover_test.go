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

// recovering are the arguments of a recovery with a script as its action.
func (w *world) recovering(script string, flags ...string) []string {
	return slices.Concat([]string{"recover", "--from", "file:///log", "--root", w.root, "--start", "log.1"}, flags, []string{"--", "bash", "-c", script})
}

// recorded is an archive with five files, in which every commit until 20:00:05 is.
func (w *world) recorded() {
	w.t.Helper()
	out := w.run(w.archiving(`for n in 1 2 3 4 5; do printf 'mark 2026-11-27T20:00:0%dZ\nput log.%d 5\nfile%d' $n $n $n; done`)...)
	if out.code != protocol.ExitDone {
		w.t.Fatalf("%+v", out)
	}
}

// asProgram lets the tests run this binary as the program, which an action calls.
func (w *world) asProgram() {
	w.t.Setenv("BE_TRANSFER", "yes")
}

// The time of the point shows that the command has stopped there: one that does not know points replays everything.
func TestARecoveryToAPointNeedsItsTime(t *testing.T) {
	w := newWorld(t)
	w.recorded()
	to := func(script string) outcome {
		return w.run(w.recovering(script, "--point", "it's $(a) \"point\"", "--start", "log.2")...)
	}
	w.must(to(`test "$DBC_RECOVER_POINT" = "it's \$(a) \"point\"" && test -z "$DBC_RECOVER_UNTIL" && echo 2026-11-27T20:00:03.5Z > $DBC_RECOVERED_TO`))
	for script, want := range map[string]string{
		"true":                            "The action bash has not written when the point",
		"echo soon > $DBC_RECOVERED_TO":   "The action bash has not written when the point",
		"echo no such point >&2; exit 30": "From this backup, the archive has the log until 2026-11-27T20:00:05Z.",
	} {
		w.fails(to(script), protocol.ExitRefused, protocol.ActionFailed, want)
	}
	w.fails(w.run(w.recovering("true", "--point", "a", "--start", "log.0")...), protocol.ExitPrecondition, protocol.TargetNotCovered, "does not have log.0")
}

// It shows that a recovery has stopped in time, so one that contradicts the target fails the recovery.
func TestARecoveryReportsItsLastCommit(t *testing.T) {
	w := newWorld(t)
	w.recorded()
	until := func(script string) outcome {
		return w.run(w.recovering(script, "--until", "2026-11-27T20:00:03.5Z")...)
	}
	for script, want := range map[string]string{
		"true": "",
		"echo 2026-11-27T20:00:03.5Z > $DBC_LAST_COMMIT":           "",
		"echo 2026-11-27T21:00:03.500001+01:00 > $DBC_LAST_COMMIT": "",
		"echo 2026-11-27T21:00:03.500002+01:00 > $DBC_LAST_COMMIT": "has replayed a commit of 2026-11-27T20:00:03.500002Z, which is after the target",
		"echo 2026-11-27T20:00:02Z > $DBC_RECOVERED_TO":            "",
		"echo earlier > $DBC_RECOVERED_TO":                         "has written a time into DBC_RECOVERED_TO that is not in RFC 3339",
		"echo 2026-11-27 20:00:03 > $DBC_LAST_COMMIT":              "has written a time of the last commit that is not in RFC 3339",
	} {
		if want == "" {
			at := "2026-11-27T20:00:03.5Z"
			if strings.Contains(script, "RECOVERED_TO") {
				at = "2026-11-27T20:00:02Z"
			}
			if got := w.must(until(script)).RecoveredTo.Format(time.RFC3339Nano); got != at {
				t.Errorf("%s: recovered to %s", script, got)
			}
		} else {
			w.fails(until(script), protocol.ExitRefused, protocol.ActionFailed, want)
		}
	}
}

// A backup before a gap cannot reach a point after it.
func TestARecoveryToAPointNamesTheGapBeforeIt(t *testing.T) {
	w := newWorld(t)
	w.must(w.run(w.archiving(`printf 'mark 2026-11-27T20:00:01Z\nput log.1 5\nfile1mark 2026-11-27T20:00:02Z\nput log.2 5\nfile2gap log.2 5\nput log.7 5\nfile7'`)...))
	w.fails(w.run(w.recovering("exit 30", "--point", "a")...), protocol.ExitRefused, protocol.ActionFailed,
		"the archive has the log until 2026-11-27T20:00:02Z; log that follows is missing. For a later point, choose a later backup.")
}

func TestARecoveryGetsTheFilesOfTheArchive(t *testing.T) {
	w := newWorld(t)
	w.recorded()
	w.asProgram()
	into := filepath.Join(t.TempDir(), "file")
	out := w.run(w.recovering(`for n in 1 2 3 4 5; do $DBC_ARCHIVE_FETCH --file log.$n --into `+into+` 2> /dev/null || exit 1; cat `+into+` >&2; echo >&2; done
		$DBC_ARCHIVE_FETCH --file log.6 --into `+into+` 2> /dev/null; echo "log.6: $?, all are $(tr '\n' , < $DBC_ARCHIVE_FILES) until $DBC_RECOVER_UNTIL" >&2`,
		"--until", "2026-11-27T20:00:04Z", "--start", "log.2")...)
	want := []string{"file1", "file2", "file3", "file4", "file5", "log.6: 40, all are log.2 5,log.3 5,log.4 5,log.5 5, until 2026-11-27T20:00:04Z"}
	for _, line := range want {
		if out.code != protocol.ExitDone || !strings.Contains(out.stderr, `"line":"`+line+`"`) {
			t.Fatalf("no %q: %+v", line, out)
		}
	}
}

func TestARecoveryIsRefusedBeforeTheActionRuns(t *testing.T) {
	w := newWorld(t)
	w.recorded()
	out := w.fails(w.run(w.recovering("echo it runs >&2", "--until", "2026-11-27T20:00:06Z")...), protocol.ExitPrecondition, protocol.TargetNotCovered,
		"is after 2026-11-27T20:00:05Z")
	if strings.Contains(out.stderr, "it runs") {
		t.Errorf("%+v", out)
	}
	w.fails(w.run(w.recovering("true", "--since", "2026-11-27T20:00:03Z", "--until", "2026-11-27T20:00:02Z")...), protocol.ExitPrecondition, protocol.TargetNotCovered,
		"is before 2026-11-27T20:00:03Z, when the backup ended")
}

func TestARecoveryWaitsForTheLogOfATimeThatHasJustPassed(t *testing.T) {
	w := newWorld(t)
	w.recorded()
	later := make(chan outcome, 1)
	at := time.Now().UTC().Format(time.RFC3339Nano)
	go func() {
		time.Sleep(1500 * time.Millisecond)
		later <- w.run(w.archiving(`printf 'mark 2099-01-01T00:00:00Z\nput log.6 5\nfile6'`)...)
	}()
	out := w.run(w.recovering("true", "--until", at)...)
	if added := <-later; added.code != protocol.ExitDone || !strings.Contains(out.stderr, "does not have each commit until then yet") {
		t.Fatalf("%+v, %+v", added, out)
	}
}

// An action that took a damaged file for the end of the log would succeed with less.
func TestAFullVolumeEndsARecoveryWithItsCause(t *testing.T) {
	w := newWorld(t)
	w.run(w.archiving(`printf 'mark 2026-11-27T20:00:01Z\nput log.1 3145728\n'; head -c 3145728 /dev/zero`)...)
	w.asProgram()
	volume := t.TempDir()
	small(t, volume)
	w.fails(w.run(w.recovering("$DBC_ARCHIVE_FETCH --file log.1 --into "+volume+"/log")...), protocol.ExitPrecondition, protocol.DataVolumeFull,
		"no space left on device", "Free space on the volume")
	if left, err := os.ReadDir(volume); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestAFileThatCannotBeWrittenIsNoEndOfTheLog(t *testing.T) {
	w := newWorld(t)
	w.recorded()
	w.asProgram()
	out := w.run(w.recovering("$DBC_ARCHIVE_FETCH --file log.1 --into " + t.TempDir() + "/missing/log; echo code: $? >&2")...)
	if !strings.Contains(out.stderr, `"line":"code: 11"`) || !strings.Contains(out.stderr, "no such file or directory") {
		t.Errorf("%+v", out)
	}
}

func TestADamagedFileEndsARecovery(t *testing.T) {
	w := newWorld(t)
	w.recorded()
	w.asProgram()
	for _, name := range w.archived() {
		if strings.Contains(name, ".log.3.") {
			if err := os.WriteFile(filepath.Join(w.root, "log", name), []byte("rubbish"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	out := w.run(w.recovering(`for n in 1 2 3; do $DBC_ARCHIVE_FETCH --file log.$n --into ` + filepath.Join(t.TempDir(), "file") + ` || break; done; true`)...)
	w.fails(out, protocol.ExitRefused, protocol.BackupCorrupt)
}

// A recovery may read beside an archive that is written: a complete file of many parts becomes one object, and the parts are deleted.
func TestAFileThatBecomesOneObjectCanStillBeRead(t *testing.T) {
	w := newWorld(t)
	w.run(w.archiving("for n in 0 1 2 3 4 5 6 7 8; do printf 'data log.1 %d 1\\n%d' $n $n; sleep 0.3; done")...)
	from, err := (&run{}).openArchive(t.Context(), "file:///log", protocol.Store{Root: w.root})
	if err != nil {
		t.Fatal(err)
	}
	defer from.close() //nolint:errcheck // only read
	before, found := from.files.Find("log.1")
	w.run(w.archiving("printf 'end log.1 9\\n'")...)
	after, _ := archive.Read(w.archived()).Find("log.1")
	got, err := from.content(t.Context(), before)
	if !found || len(before.Pieces) < 8 || len(after.Pieces) != 1 || err != nil || string(got) != "012345678" {
		t.Errorf("%q, %v; before: %+v, after: %+v", got, err, before, after)
	}
}
