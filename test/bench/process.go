/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/apimachinery/pkg/util/wait"
)

// process is the program of a contestant.
type process struct {
	command *exec.Cmd
	log     string
	ended   chan struct{}
	stopped atomic.Bool // on purpose
}

// start runs a program with further variables in its environment, and writes its output to a file.
func start(log string, environment []string, path string, arguments ...string) (*process, error) {
	out, err := os.Create(log) //nolint:gosec // a file of our own
	if err != nil {
		return nil, fmt.Errorf("create a log: %w", err)
	}
	defer out.Close()
	p := &process{command: exec.Command(path, arguments...), log: log, ended: make(chan struct{})} //nolint:gosec // the caller names it
	p.command.Stdout, p.command.Stderr = out, out
	p.command.Env = append(os.Environ(), environment...)
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	go func() {
		_ = p.command.Wait() // the log has the cause of the exit
		close(p.ended)
	}()
	return p, nil
}

// orFail cancels the benchmark if it did not stop the program itself.
func (p *process) orFail(fail context.CancelCauseFunc) {
	<-p.ended
	if !p.stopped.Load() {
		fail(fmt.Errorf("%s has ended, see %s", p.command.Path, p.log))
	}
}

// stop sends a signal and waits for the exit.
func (p *process) stop(ctx context.Context, signal os.Signal) error {
	p.stopped.Store(true)
	if err := p.command.Process.Signal(signal); err != nil {
		return fmt.Errorf("signal %s: %w", p.command.Path, err)
	}
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s does not end: %w", p.command.Path, context.Cause(ctx))
	}
}

// kill kills the program if it still runs.
func (p *process) kill() {
	if p == nil {
		return
	}
	p.stopped.Store(true)
	_ = p.command.Process.Kill() // it may have ended
	<-p.ended
}

// cpu returns the CPU time of the program so far, in seconds.
func (p *process) cpu() (float64, error) {
	running, err := procfs.NewProc(p.command.Process.Pid)
	if err != nil {
		return 0, fmt.Errorf("find the program: %w", err)
	}
	stat, err := running.Stat()
	if err != nil {
		return 0, fmt.Errorf("read the CPU time: %w", err)
	}
	return stat.CPUTime(), nil
}

// freeAddress returns an unused address on loopback.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// poll calls ask until it returns true or an error.
func poll(ctx context.Context, what string, ask func() (bool, error)) error {
	err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(context.Context) (bool, error) { return ask() })
	if ctx.Err() != nil {
		return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
	}
	return err
}
