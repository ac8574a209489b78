//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// transfer signals the action with its children. Those that read for a frame have to finish: otherwise the archive lacks the last bytes of
// a server that has stopped, and with them the newest mark.
func TestAnArchiveOfPostgreSQLEndsWithTheLogOfAServerThatHasStopped(t *testing.T) {
	for _, child := range []string{"dd", "tr"} {
		t.Run("the signal arrives during "+child, func(t *testing.T) {
			t.Parallel()
			w, p := newWorld(t), newPostgreSQL(t, single)
			first := w.alone(p)
			a := w.act(p, first, "last")
			a.await("dd") // which waits, because the pipe is full
			p.do("pg_ctl", "-D", first.name, "-w", "stop")
			if child != "dd" {
				go a.read()
				a.await(child)
			}
			if err := syscall.Kill(-a.cmd.Process.Pid, syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if child == "dd" {
				go a.read()
			}
			<-a.ended
			_ = a.cmd.Wait() // the exit code is checked below
			if code := a.cmd.ProcessState.ExitCode(); code != 143 {
				t.Errorf("exit code %d: %s", code, &a.said)
			}
			if checkpoint := p.checkpoint(first); a.sent <= checkpoint {
				t.Errorf("the action has sent the log until %s, but the last checkpoint is at %s: %s", a.sent, checkpoint, &a.said)
			}
		})
	}
}

// acting is an action without transfer. sent is the place after the last byte that it has sent.
type acting struct {
	t      *testing.T
	cmd    *exec.Cmd
	frames *bufio.Reader
	// replies is the standard input of the action.
	replies io.Writer
	said    strings.Builder
	ended   chan struct{}
	sent    string
}

// act starts the action with the first reply, where the archive ends.
func (w *world) act(p postgresql, m member, last string) *acting {
	w.t.Helper()
	a := &acting{t: w.t, ended: make(chan struct{})}
	ctx, stop := context.WithTimeout(w.t.Context(), 2*time.Minute)
	w.t.Cleanup(stop)
	a.cmd = exec.CommandContext(ctx, filepath.Join(p.folder, "scripts", "archive")) //nolint:gosec // of the engine
	a.cmd.Env = append(os.Environ(), p.reaches(m.port, w.keys)...)
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	a.cmd.Cancel = func() error { return syscall.Kill(-a.cmd.Process.Pid, syscall.SIGKILL) }
	a.cmd.Stderr = &a.said
	stdin, errIn := a.cmd.StdinPipe()
	stdout, errOut := a.cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, a.cmd.Start()); err != nil {
		w.t.Fatal(err)
	}
	a.frames, a.replies = bufio.NewReader(stdout), stdin
	fmt.Fprintln(stdin, last)
	return a
}

// read takes frames until the action ends.
func (a *acting) read() {
	defer close(a.ended)
	for {
		line, err := a.frames.ReadString('\n')
		if err != nil {
			return
		}
		var file string
		var offset, length int64
		if n, _ := fmt.Sscanf(line, "data %s %d %d", &file, &offset, &length); n < 3 {
			continue
		}
		if _, err := io.CopyN(io.Discard, a.frames, length); err != nil {
			return
		}
		_, segment, _ := strings.Cut(file, "-")
		a.sent = fmt.Sprintf("%s %08X", segment, offset+length)
	}
}

// await waits until a child runs a program.
func (a *acting) await(name string) {
	a.t.Helper()
	for deadline := time.Now().Add(time.Minute); !runs(a.cmd.Process.Pid, name); {
		if time.Now().After(deadline) {
			a.t.Fatalf("the action does not run %s: %s", name, &a.said)
		}
	}
}

// runs reports whether a process or a child of it runs a program.
func runs(process int, name string) bool {
	folder := fmt.Sprintf("/proc/%d/", process)
	running, _ := os.ReadFile(folder + "comm") // it may have ended
	if strings.TrimSpace(string(running)) == name {
		return true
	}
	children, _ := os.ReadFile(fmt.Sprintf("%stask/%d/children", folder, process))
	for child := range strings.FieldsSeq(string(children)) {
		if pid, _ := strconv.Atoi(child); runs(pid, name) {
			return true
		}
	}
	return false
}

// checkpoint is the place of the last checkpoint of a server that has stopped.
func (p postgresql) checkpoint(m member) string {
	p.t.Helper()
	_, text, _ := strings.Cut(p.do("env", "LC_ALL=C", "pg_controldata", "-D", m.name), "Latest checkpoint location:")
	var high, low uint32
	if _, err := fmt.Sscanf(strings.TrimSpace(text), "%X/%X", &high, &low); err != nil {
		p.t.Fatal(err)
	}
	return fmt.Sprintf("%08X%08X%08X %08X", 1, high, low>>24, low&0xFFFFFF)
}
