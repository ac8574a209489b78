/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// stopGrace is the time after SIGTERM in which an action can stop cleanly.
const stopGrace = 20 * time.Second

// action is a running program of the engine, with all its child processes.
type action struct {
	name   string
	cmd    *exec.Cmd
	stderr *lines
	pipe   io.Closer   // our end of its stdin or stdout
	ended  func() bool // cancels the SIGKILL
	// cut explains why the pod does not reach the member; "" if it does.
	cut func() string
}

// newAction creates an action. When the context ends, the action gets SIGTERM, and after stopGrace SIGKILL.
func newAction(ctx context.Context, command []string, log *slog.Logger) *action {
	a := &action{name: command[0], stderr: &lines{log: log}, ended: func() bool { return true }}
	a.cmd = exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // running the engine's action is the purpose of transfer
	a.cut = func() string { return unreachable(ctx, memberAddress(), new(net.Dialer).DialContext) }
	a.cmd.Stderr = a.stderr
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	a.cmd.WaitDelay = stopGrace + time.Second
	a.cmd.Cancel = func() error {
		a.ended = time.AfterFunc(stopGrace, a.kill).Stop
		return a.signal(syscall.SIGTERM)
	}
	return a
}

// signal signals the whole process group, because a shell does not forward signals.
func (a *action) signal(signal syscall.Signal) error {
	return syscall.Kill(-a.cmd.Process.Pid, signal)
}

// kill kills the process group. It does not wait for processes that left the group but have the other end of the pipe
// open.
func (a *action) kill() {
	_ = a.signal(syscall.SIGKILL)
	if a.pipe != nil {
		_ = a.pipe.Close()
	}
}

// widen enlarges the buffer of a pipe to an action, so that both sides switch less often. A node may refuse it.
func widen(pipe syscall.Conn) {
	if raw, err := pipe.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeBytes) }) // a smaller pipe also works
	}
}

func (a *action) start() error {
	if err := a.cmd.Start(); err != nil {
		return &Error{Reason: protocol.ActionFailed,
			Message: fmt.Sprintf("The action %s cannot be started: %v. Correct the engine or the image.", a.name, err)}
	}
	return nil
}

// wait returns how the action ended, and kills its remaining processes.
func (a *action) wait() error {
	err := a.cmd.Wait()
	a.ended()
	_ = a.signal(syscall.SIGKILL) // usually no process is left
	exit, failed := errors.AsType[*exec.ExitError](err)
	if !failed {
		if err != nil && !errors.Is(err, exec.ErrWaitDelay) { // the action has ended, but a child process kept stderr open
			return fmt.Errorf("wait for the action %s: %w", a.name, err)
		}
		return nil
	}
	return &Error{Reason: protocol.ActionFailed, Message: a.complaint(exit), action: protocol.ExitCode(exit.ExitCode())}
}

func (a *action) complaint(exit *exec.ExitError) string {
	how := fmt.Sprintf("failed with exit code %d", exit.ExitCode())
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		how = fmt.Sprintf("was killed by signal %d (%s)", status.Signal(), status.Signal())
		if status.Signal() == syscall.SIGKILL {
			how += ". A possible cause is a memory limit of the Job that is too low"
		}
	}
	cut := a.cut()
	if said := a.stderr.tail(); said != "" {
		return fmt.Sprintf("The action %s %s. %sThe end of its stderr: %s", a.name, how, cut, said)
	}
	return strings.TrimSpace(fmt.Sprintf("The action %s %s and wrote nothing to stderr. %s", a.name, how, cut))
}

// emptiness is the failure of an action that exited with 0 and printed nothing.
func (a *action) emptiness() *Error {
	said := "and wrote nothing to stderr."
	if tail := a.stderr.tail(); tail != "" {
		said = "but wrote to stderr: " + tail
	}
	return failf(protocol.EmptyBackup,
		"The action %s printed nothing, so there is no backup. Correct the action in the engine. It ended with exit code 0 %s", a.name, said)
}

// output runs an action to its end and returns its output, limited to slightly more than the allowed size.
func (r *run) output(ctx context.Context, command []string, most int, variables ...string) ([]byte, error) {
	printed := &limited{room: most + 1}
	action := newAction(ctx, command, r.log)
	action.cmd.Stdout = printed
	action.cmd.Env = append(os.Environ(), variables...)
	err := action.start()
	if err == nil {
		err = action.wait()
	}
	return printed.kept, err
}

// limited keeps as much as fits and drops the rest.
type limited struct {
	room int
	kept []byte
}

func (l *limited) Write(data []byte) (int, error) {
	l.kept = append(l.kept, data[:min(len(data), l.room-len(l.kept))]...)
	return len(data), nil
}
