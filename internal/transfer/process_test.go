/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// program is this test binary as the program itself.
func program(t *testing.T, arguments []string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, arguments...)
	cmd.Env = append(os.Environ(), "BE_TRANSFER=1")
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	return cmd, stderr
}

func TestSIGTERMEndsTheActionAndLeavesNothing(t *testing.T) {
	w := newWorld(t)
	started, terminated := filepath.Join(t.TempDir(), "started"), filepath.Join(t.TempDir(), "terminated")
	script := "trap 'echo term > " + terminated + "; exit 0' TERM; head -c 300000 /dev/urandom; echo $$ > " + started + "; while :; do sleep 0.01; done"
	arguments, result := w.arguments(w.backupArguments(script))
	cmd, stderr := program(t, arguments)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait(t, started)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the test checks its exit code below
	w.fails(w.outcome(protocol.ExitCode(cmd.ProcessState.ExitCode()), result, "", stderr.String()), protocol.ExitTransient, protocol.Interrupted)
	wait(t, terminated)
	if stored := w.stored(); len(stored) > 0 {
		t.Errorf("left are %v", stored)
	}
}

func TestTheNextAttemptCompletesAKilledBackup(t *testing.T) {
	w := newWorld(t)
	started := filepath.Join(t.TempDir(), "started")
	// More than the buffers, so that some of it is stored.
	arguments, _ := w.arguments(w.backupArguments("head -c 64M /dev/urandom; echo $$ > "+started+"; sleep 1000", "--piece-size", "1Mi"))
	kill(t, arguments, started)
	cut := w.stored()
	if len(cut) == 0 || slices.Contains(cut, "shop/orders/manifest.json") {
		t.Fatalf("a kill left %v", cut)
	}
	w.fails(w.restore("cat >/dev/null"), protocol.ExitPrecondition, protocol.BackupMissing)
	data := w.noise()
	w.must(w.backup("cat " + data))
	if stored := w.stored(); len(stored) != len(cut)+13 {
		t.Errorf("stored are %v", stored)
	}
	w.must(w.restore("cat > " + w.data + "/all"))
	same(t, data, filepath.Join(w.data, "all"))
	w.must(w.remove())
	w.nothing()
}

func TestAKilledRestoreStartsAgainWithAnEmptyDirectory(t *testing.T) {
	w := newWorld(t)
	data := w.noise()
	w.must(w.backup("cat " + data))
	started := filepath.Join(t.TempDir(), "started")
	arguments, _ := w.arguments(w.restoreArguments("head -c 1000 > " + w.data + "/half; echo $$ > " + started + "; sleep 1000"))
	kill(t, arguments, started)
	if left := w.restored(); !slices.Equal(left, []string{"half"}) {
		t.Fatalf("a kill left %v", left)
	}
	w.fails(w.restore("cat >/dev/null", "--id", "new-2"), protocol.ExitRefused, protocol.DataDirectoryNotEmpty, "new-1")
	w.must(w.restore("cat > " + w.data + "/all"))
	if left := w.restored(); !slices.Equal(left, []string{"all"}) {
		t.Errorf("the data directory holds %v", left)
	}
	same(t, data, filepath.Join(w.data, "all"))
}

// kill starts the program and kills it once its action has written its process group to the file.
func kill(t *testing.T, arguments []string, started string) {
	t.Helper()
	cmd, _ := program(t, arguments)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait(t, started)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()                                        // it was killed
	_ = syscall.Kill(-pidIn(t, started), syscall.SIGKILL) // in a pod it would end with its container
}

func pidIn(t *testing.T, path string) int {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// running returns the live processes of a group, without zombies.
func running(t *testing.T, group int) (alive []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, stat := range stats {
		content, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended
		}
		_, after, _ := strings.Cut(string(content), ") ")
		if fields := strings.Fields(after); fields[0] != "Z" && fields[2] == strconv.Itoa(group) {
			alive = append(alive, string(content))
		}
	}
	return alive
}

// small mounts a 2 MiB volume in memory at a folder. It requires root.
func small(t *testing.T, folder string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("cannot mount a small volume: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}
