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
	"strconv"
	"strings"
	"time"
)

// tick is the unit in which Linux tells CPU time.
const tick = 10 * time.Millisecond

// process is a contestant's program.
type process struct {
	command *exec.Cmd
	ended   chan struct{}
}

// start runs a program; what it says goes to a file.
func start(log, path string, arguments ...string) (*process, error) {
	out, err := os.Create(log) //nolint:gosec // a file of our own
	if err != nil {
		return nil, fmt.Errorf("make a log: %w", err)
	}
	defer out.Close()
	p := &process{command: exec.Command(path, arguments...), ended: make(chan struct{})} //nolint:gosec // the caller names it
	p.command.Stdout, p.command.Stderr = out, out
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	go func() {
		_ = p.command.Wait() // how it ended is in its log
		close(p.ended)
	}()
	return p, nil
}

// stop sends a signal and waits for the end.
func (p *process) stop(ctx context.Context, signal os.Signal) error {
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

// kill ends the program where it still runs.
func (p *process) kill() {
	if p == nil {
		return
	}
	_ = p.command.Process.Kill() // it may have ended
	<-p.ended
}

// cpu is the time that the program has worked so far.
func (p *process) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the CPU time: %w", err)
	}
	return cpuOf(string(text))
}

// cpuOf reads user and system time, fields 14 and 15 of /proc/PID/stat. Field 2 may contain anything.
func cpuOf(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/PID/stat is %q", stat)
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read user time: %w", err)
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read system time: %w", err)
	}
	return time.Duration(user+system) * tick, nil
}

// freeAddress is an address on loopback that nobody listens on.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// poll asks until the answer is yes; an error is an answer, too. What it asks tells nobody by itself.
func poll(ctx context.Context, what string, ask func() (bool, error)) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		if done, err := ask(); done || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, context.Cause(ctx))
		}
	}
}
