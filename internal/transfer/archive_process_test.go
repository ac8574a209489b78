/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// follower is an action that sends a file, in files of 1 MiB, from where the archive ends.
const follower = `_() {
	n=0 at=0
	if [ -n "$2" ]; then n=$((10#${2#log.})) at=$3; [ "$4" = open ] || { n=$((n + 1)); at=0; }; fi
	while [ $n -lt %[2]d ]; do
		while [ $at -lt 1048576 ]; do
			printf 'data log.%%04d %%d 65536\n' $n $at
			tail -c +$((n * 1048576 + at + 1)) %[1]s | head -c 65536
			at=$((at + 65536))
		done
		printf 'end log.%%04d 1048576\n' $n
		n=$((n + 1)) at=0
	done
}; _ $last 2>&1 | cat`

// source writes a file of random bytes.
func source(t *testing.T, mebibytes int) (path string, content []byte) {
	t.Helper()
	content = make([]byte, mebibytes<<20)
	random := rand.NewChaCha8([32]byte{7})
	_, _ = random.Read(content) // never fails
	path = filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, content
}

func TestAnArchiveIsCompleteAfterKills(t *testing.T) {
	const size = 8
	w := newWorld(t)
	path, want := source(t, size)
	script := fmt.Sprintf(follower, path, size)
	kills := 0
	for ; kills < 12; kills++ {
		arguments, _ := w.arguments(w.archiving(script, "--max-lag", "20ms"))
		cmd, _ := program(t, arguments)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(150+rand.IntN(250)) * time.Millisecond)
		_ = cmd.Process.Kill() // it may have ended
		if cmd.Wait() == nil {
			break
		}
	}
	if kills == 0 {
		t.Error("no process was killed")
	}
	if out := w.run(w.archiving(script)...); out.code != protocol.ExitDone {
		t.Fatalf("%+v", out)
	}
	var got []byte
	for n := range size {
		got = append(got, w.fetched(fmt.Sprintf("log.%04d", n))...)
	}
	files := archive.Read(w.archived())
	if !bytes.Equal(got, want) || len(files.Ranges()) != 1 {
		t.Errorf("after %d kills the archive has %d of %d bytes, equal %v, in %d ranges", kills, len(got), len(want), bytes.Equal(got, want), len(files.Ranges()))
	}
	for _, f := range files {
		if f.Forked || !f.Complete {
			t.Errorf("%+v", f)
		}
	}
	t.Logf("%d kills", kills)
}

// obstruct creates files where the folders of an archive should be that begins now, or an hour later.
func (w *world) obstruct() (remove func()) {
	w.t.Helper()
	var obstacles []string
	for _, now := range []time.Time{time.Now(), time.Now().Add(time.Hour)} {
		objects, err := archive.Resume(nil, nil, false, now).Record(archive.Gap, "log.1", 0)
		w.worked(err)
		obstacle := filepath.Join(w.root, "log", filepath.Dir(objects[0].Name()))
		w.worked(os.MkdirAll(filepath.Dir(obstacle), 0o700))
		w.worked(os.WriteFile(obstacle, nil, 0o600))
		obstacles = append(obstacles, obstacle)
	}
	return func() {
		for _, obstacle := range obstacles {
			w.worked(os.Remove(obstacle))
		}
	}
}

func TestAStoreThatFailsStallsTheArchiveUntilItWorks(t *testing.T) {
	w := newWorld(t)
	said, remove := filepath.Join(t.TempDir(), "said"), w.obstruct()
	go func() {
		wait(t, said)
		remove()
	}()
	out := w.run(w.archiving(`printf 'data log.1 0 5\nhello'; read -r a; echo "$a" > `+said+`; read -r b; read -r c; echo "$a, $b, $c" >&2`,
		"--stalled-after", "300ms")...)
	if out.code != protocol.ExitDone || !strings.Contains(out.stderr, `"line":"stalled, resumed, durable log.1 5"`) {
		t.Fatalf("%+v", out)
	}
	if got := w.fetched("log.1"); got != "hello" {
		t.Errorf("log.1 is %q", got)
	}
}

// A mark that follows the last byte shows that nothing is missing until then.
func TestSIGTERMStoresWhatTheActionSent(t *testing.T) {
	for last, want := range map[string]string{`data log.1 5 1\n!mark 2026-11-27T20:00:07Z\n`: "hello!", `cut\nmark 2026-11-27T20:00:07Z\n`: "hello"} {
		w := newWorld(t)
		started := filepath.Join(t.TempDir(), "started")
		arguments, result := w.arguments(w.archiving(`printf 'data log.1 0 5\nhello'; trap 'printf "`+last+`"; exit 0' TERM; echo > `+started+`; while :; do sleep 0.01; done`,
			"--max-lag", "1h"))
		cmd, stderr := program(t, arguments)
		w.worked(cmd.Start())
		wait(t, started)
		w.worked(cmd.Process.Signal(syscall.SIGTERM))
		_ = cmd.Wait() // the test checks its exit code below
		out := w.outcome(protocol.ExitCode(cmd.ProcessState.ExitCode()), result, "", stderr.String())
		if got := w.fetched("log.1"); out.code != protocol.ExitDone || got != want {
			t.Errorf("log.1 is %q, %+v", got, out)
		}
		w.must(w.run(w.recovering("true", "--until", "2026-11-27T20:00:07Z")...))
	}
}

// A moment after the last commit can be recovered soon, and not only after a minute without commits.
func TestTheMarkAfterTheLastByteIsStoredSoon(t *testing.T) {
	w := newWorld(t)
	w.worked(os.MkdirAll(filepath.Join(w.root, "log"), 0o700))
	arguments, _ := w.arguments(w.archiving(`printf 'mark 2026-11-27T20:00:00Z\ndata log.1 0 5\nhello'; sleep 1; printf 'mark 2026-11-27T20:00:07Z\n'; while :; do sleep 0.05; done`))
	cmd, _ := program(t, arguments)
	w.worked(cmd.Start())
	for deadline := time.Now().Add(50 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if ranges := archive.Read(w.archived()).Ranges(); len(ranges) == 1 && ranges[0].Newest().Equal(time.Date(2026, 11, 27, 20, 0, 7, 0, time.UTC)) {
			break
		}
		if time.Now().After(deadline) {
			t.Error("the archive lacks the mark:", w.archived())
			break
		}
	}
	w.worked(cmd.Process.Signal(syscall.SIGTERM))
	_ = cmd.Wait() // other tests check how it ends
}

func TestSIGTERMEndsAnArchiveWhoseStoreIsAway(t *testing.T) {
	w := newWorld(t)
	started := filepath.Join(t.TempDir(), "started")
	w.obstruct()
	arguments, result := w.arguments(w.archiving(`printf 'data log.1 0 5\nhello'; n=5; while :; do printf 'data log.1 %d 1\n!' $n; n=$((n + 1)); [ $n != 300 ] || echo > `+started+`; sleep 0.01; done`,
		"--stalled-after", "200ms"))
	cmd, stderr := program(t, arguments)
	w.worked(cmd.Start())
	wait(t, started)
	w.worked(cmd.Process.Signal(syscall.SIGTERM))
	_ = cmd.Wait() // the test checks its exit code below
	w.fails(w.outcome(protocol.ExitCode(cmd.ProcessState.ExitCode()), result, "", stderr.String()), protocol.ExitTransient,
		protocol.DestinationUnreachable, "The database still has them")
}

func TestLogIsCutBeforeItIsAsOldAsItMayBe(t *testing.T) {
	for maxLag, want := range map[time.Duration]time.Duration{time.Second: 750 * time.Millisecond, 5 * time.Second: 4500 * time.Millisecond, time.Hour: time.Hour - 500*time.Millisecond} {
		if got := patience(maxLag); got != want {
			t.Errorf("of %s, it waits for %s", maxLag, got)
		}
	}
}

// A backup that begins in the file would otherwise be useless until the file ends.
func TestAnArchiveStoresAgainWhatItsDestinationHasLost(t *testing.T) {
	w := newWorld(t)
	stop := filepath.Join(t.TempDir(), "stop")
	w.worked(os.MkdirAll(filepath.Join(w.root, "log"), 0o700))
	arguments, result := w.arguments(w.archiving(`printf 'data log.1 0 5\nhello'; read -r durable; printf 'data log.1 5 6\n world'; while [ ! -e ` + stop + ` ]; do sleep 0.01; done`))
	cmd, stderr := program(t, arguments)
	w.worked(cmd.Start())
	await := func(what string, done func([]string) bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !done(w.archived()); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("no %s: %v", what, w.archived())
			}
		}
	}
	var first string
	await("two objects", func(names []string) bool {
		parts := slices.DeleteFunc(names, func(name string) bool { return !strings.Contains(name, "log.1") })
		if len(parts) == 2 {
			first = parts[0]
		}
		return len(parts) == 2
	})
	owner := filepath.Join(w.root, "log", protocol.ArchiveName)
	was, err := os.ReadFile(owner)
	w.worked(err)
	w.worked(os.Remove(owner))
	w.worked(os.Remove(filepath.Join(w.root, "log", first)))
	await("object with all bytes and the owner", func(names []string) bool {
		return slices.Contains(names, protocol.ArchiveName) && slices.ContainsFunc(names, func(name string) bool {
			p, is := archive.Parse(name)
			return is && p.From == 0 && p.End == 11
		})
	})
	if is, err := os.ReadFile(owner); err != nil || !bytes.Equal(is, was) {
		t.Errorf("the owner is %q, %v, and was %q", is, err, was)
	}
	if got := w.fetched("log.1"); got != "hello world" {
		t.Errorf("log.1 is %q", got)
	}
	w.worked(os.WriteFile(stop, nil, 0o600))
	_ = cmd.Wait() // the test checks its exit code below
	w.must(w.outcome(protocol.ExitCode(cmd.ProcessState.ExitCode()), result, "", stderr.String()))
}
