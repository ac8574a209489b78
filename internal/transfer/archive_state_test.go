/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

func TestTheStateNamesWhatAnArchiveLacks(t *testing.T) {
	now := time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC)
	ago := func(age time.Duration) time.Time { return now.Add(-age) }
	for want, state := range map[string]protocol.Archived{
		"":                               {At: now, Mark: ago(time.Minute)},
		"the archive has no commits yet": {At: now},
		"the archive has not reported its state for 2m0s":                                                     {At: ago(2 * time.Minute), Mark: now},
		"the archive has every commit until 2026-11-28T02:50:00Z only. The engine reports: no slot":           {At: now, Mark: ago(10 * time.Minute), Said: "no slot"},
		"the archive has every commit until 2026-11-28T02:59:59Z only. Since 2026-11-28T02:59:00Z: no bucket": {At: now, Mark: ago(time.Second), Problem: "no bucket", Since: ago(time.Minute)},
		"the engine has sent nothing for 11m0s":                                                               {At: now, Mark: now, Heard: ago(11 * time.Minute)},
		"log is missing since 2026-11-28T02:59:00Z: the database had removed it, or has another history. Create a backup: no previous one can be recovered to a later time": {
			At: now, Mark: now, Lost: ago(time.Minute),
		},
	} {
		if got := behind(state, 2*time.Minute, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := behind(protocol.Archived{At: now, Problem: "no bucket"}, 0, now); got != "" {
		t.Errorf("a program that reports is alive: %q", got)
	}
}

func TestAnArchiveWithAStateRunsAgainWhateverFails(t *testing.T) {
	w := newWorld(t)
	state, failed := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "failed")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan outcome)
	script := "[ -e " + failed + " ] || { touch " + failed + "; echo 'no database yet' >&2; exit 30; }; " +
		"printf 'mark 2099-01-01T00:00:00Z\\nput log.1 1\\nx'; echo sending >&2; cat > /dev/null"
	go func() { ended <- w.runIn(ctx, w.archiving(script, "--state", state)...) }()
	said := func() string {
		var stdout strings.Builder
		Run(ctx, []string{"lag", "--state", state, "--max", "1m"}, &stdout, &stdout)
		return strings.TrimSpace(stdout.String())
	}
	var all []string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		all = append(all, said())
		if strings.HasPrefix(all[len(all)-1], "the archive has every commit until 2099-01-01T00:00:00Z") {
			break
		}
	}
	stop()
	out := <-ended
	all = slices.Compact(all)
	if text := strings.Join(all, "\n"); out.code != protocol.ExitDone || !strings.HasSuffix(text, "until 2099-01-01T00:00:00Z") ||
		!strings.Contains(text, "no database yet") {
		t.Errorf("%+v\n%s", out, text)
	}
}

// The pod may stay ready until the next run, and then nothing else shows that a backup is needed.
func TestAGapStaysKnownWhenItsRunHasEnded(t *testing.T) {
	state, lost := &archiveState{}, time.Now().UTC().Add(-time.Second)
	state.follow(func() protocol.Archived { return protocol.Archived{Lost: lost} })
	state.fails("the action ended")
	state.follow(func() protocol.Archived { return protocol.Archived{Mark: time.Now()} })
	if got := behind(state.now(), time.Minute, time.Now()); !strings.HasPrefix(got, "log is missing since ") {
		t.Errorf("%q", got)
	}
	later := lost.Add(time.Second)
	state.follow(func() protocol.Archived { return protocol.Archived{Lost: later} })
	if got := state.now().Lost; !got.Equal(later) {
		t.Errorf("another gap is of %s", got)
	}
}

// A restore that is followed by a recovery leaves the data to it, and is complete only after it.
func TestARestoreIsFollowedByTheArchiveBesideTheBackup(t *testing.T) {
	w := newWorld(t)
	w.asProgram()
	beside := func(location string, arguments []string) []string {
		at := slices.Index(arguments, "file:///"+location)
		arguments[at] = map[string]string{"shop/orders": "file:///shop/orders/first", "log": "file:///shop/orders/archive-uid-1"}[location]
		return arguments
	}
	w.must(w.run(beside("log", w.archiving(`for n in 1 2 3; do printf 'mark 2099-01-01T00:00:0%dZ\nput log.%d 5\nfile%d' $n $n $n; done`))...))
	w.must(w.run(beside("shop/orders", w.backupArguments("echo data", "--about", "clusterUID=uid-1",
		"--check=bash", "--check=-c", `--check=echo '{"archiveFile":"log.2"}'`))...))
	restore := func(until string) outcome {
		return w.run(beside("shop/orders", w.restoreArguments("cat > "+w.data+"/base; echo $DBC_RECOVER > "+w.data+"/asked",
			"--recover=bash", "--recover=-c", "--recover=$DBC_ARCHIVE_FETCH --file log.2 --into "+w.data+"/log && echo $DBC_RECOVER_UNTIL | tee "+w.data+"/until > $DBC_LAST_COMMIT",
			"--until", until))...)
	}
	w.fails(restore("2099-01-01T00:00:09Z"), protocol.ExitPrecondition, protocol.TargetNotCovered, "is after 2099-01-01T00:00:03Z")
	out := w.must(restore("2099-01-01T00:00:02Z"))
	for name, want := range map[string]string{"base": "data\n", "asked": "true\n", "log": "file2", "until": "2099-01-01T00:00:02Z\n"} {
		if got, err := os.ReadFile(filepath.Join(w.data, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if want := time.Date(2099, 1, 1, 0, 0, 2, 0, time.UTC); !out.RecoveredTo.Equal(want) || !out.LastCommit.Equal(want) {
		t.Errorf("recovered to %s, with the last commit of %s", out.RecoveredTo, out.LastCommit)
	}
	if out.Restored.Before(out.Started) || out.Completed.Before(out.Restored) {
		t.Errorf("it started at %s, was restored at %s and recovered at %s", out.Started, out.Restored, out.Completed)
	}
}

func TestABackupThatDoesNotKnowItsPlaceInTheArchiveIsNotRecovered(t *testing.T) {
	w := newWorld(t)
	w.must(w.backup("echo data"))
	w.fails(w.restore("cat", "--recover=true"), protocol.ExitPrecondition, protocol.TargetNotCovered, "does not record where it begins in an archive")
	if left := w.restored(); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}
