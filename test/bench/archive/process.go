/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// grace is the time in which a program can end.
const grace = 2 * time.Minute

// process is a program with all its descendants, below a helper that collects them. So their CPU time is known, and all can be killed.
type process struct {
	name  string
	cmd   *exec.Cmd
	log   string
	ended chan struct{}
}

// start runs a program with further variables in its environment.
func (b *bench) start(name string, environment []string, words ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	p := &process{name: name, log: b.path("log-" + name), ended: make(chan struct{})}
	out, err := os.Create(p.log)
	if err != nil {
		return nil, fmt.Errorf("create a log: %w", err)
	}
	defer out.Close()
	p.cmd = exec.Command(self, append([]string{"under"}, words...)...) //nolint:gosec // the caller names it, and ends it
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr, p.cmd.Env = b.folder, out, out, append(os.Environ(), environment...)
	// The helper kills everything when the benchmark has ended.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	b.processes = append(b.processes, p)
	go func() {
		_ = p.cmd.Wait() // wait reports the exit code
		close(p.ended)
	}()
	return p, nil
}

// do runs a program to its end, and returns what it printed.
func (b *bench) do(environment []string, words ...string) (string, error) {
	p, err := b.start("command", environment, words...)
	if err != nil {
		return "", err
	}
	if err := b.wait(p); err != nil {
		return "", err
	}
	text, err := os.ReadFile(p.log)
	return strings.TrimSpace(string(text)), err
}

// wait waits for the end of a program, and fails if it failed.
func (b *bench) wait(p *process) error {
	select {
	case <-p.ended:
	case <-b.ctx.Done():
		p.kill()
		return b.ctx.Err()
	}
	b.forget(p)
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("%s: exit code %d: %s", p.name, code, p.tail())
	}
	return nil
}

// stop asks a program to end, and waits.
func (b *bench) stop(p *process) error {
	_ = p.cmd.Process.Signal(syscall.SIGINT) // it may have ended
	select {
	case <-p.ended:
		b.forget(p)
		return nil
	case <-time.After(grace):
		return fmt.Errorf("%s does not end: %s", p.name, p.tail())
	}
}

// kill kills a program with its descendants at once.
func (p *process) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	<-p.ended
}

func (b *bench) forget(p *process) {
	b.processes = slices.DeleteFunc(b.processes, func(other *process) bool { return other == p })
}

func (b *bench) killAll() {
	for _, p := range slices.Backward(b.processes) {
		p.kill()
	}
}

// tail is the end of the log.
func (p *process) tail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-3000):]))
}

// under runs a program, and waits for all its descendants. SIGINT is for the program, SIGTERM kills all.
func under(words []string) error {
	if len(words) == 0 {
		return errors.New("under needs a command")
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("collect processes: %w", err)
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return fmt.Errorf("find %s: %w", words[0], err)
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	child, err := os.StartProcess(path, words, &os.ProcAttr{Env: os.Environ(), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return fmt.Errorf("start %s: %w", words[0], err)
	}
	go func() {
		for s := range signals {
			if s == syscall.SIGINT {
				_ = child.Signal(s) // it may have ended
				continue
			}
			killDescendants()
		}
	}()
	os.Exit(collect(child.Pid))
	return nil
}

// collect waits until no descendant is left, and returns the exit code of one.
func collect(of int) (code int) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return code
		case pid == of && status.Signaled():
			code = 128 + int(status.Signal())
		case pid == of:
			code = status.ExitStatus()
		}
	}
}

// killDescendants kills until no descendant is left, because one that is alive may have created another.
func killDescendants() {
	for {
		for _, stat := range descendants(os.Getpid()) {
			_ = syscall.Kill(stat.PID, syscall.SIGKILL) // it may have ended
		}
		time.Sleep(time.Millisecond)
	}
}
