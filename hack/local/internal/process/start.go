package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

const (
	readyWithin = 2 * time.Minute
	readyEvery  = 100 * time.Millisecond
	stopWithin  = 5 * time.Second
)

// EnsureAll ensures the programs in sequence and returns whether it started any.
func (g Group) EnsureAll(ctx context.Context, commands []Command) (started bool, err error) {
	for _, command := range commands {
		began, err := g.Ensure(ctx, command)
		if err != nil {
			return started, err
		}
		started = started || began
	}
	return started, nil
}

// Ensure starts the program if needed and waits until it is ready. It returns whether it started the program.
func (g Group) Ensure(ctx context.Context, command Command) (started bool, err error) {
	process, running := g.Running(command.Name)
	switch {
	case running && process.runs(command) && command.Ready(ctx) == nil:
		return false, nil
	case running && process.runs(command):
		return false, progress.Step("waiting for "+command.Name, func() error { return g.await(ctx, command, process) })
	}
	return true, progress.Step("starting "+command.Name, func() error {
		if running {
			process.stop()
		}
		process, err := g.start(command)
		if err != nil {
			return err
		}
		return g.await(ctx, command, process)
	})
}

func (g Group) start(command Command) (Process, error) {
	if err := os.MkdirAll(filepath.Dir(g.LogPath(command.Name)), 0o755); err != nil {
		return Process{}, fmt.Errorf("create the folder of logs: %w", err)
	}
	log, err := os.OpenFile(g.LogPath(command.Name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return Process{}, fmt.Errorf("open the log of %s: %w", command.Name, err)
	}
	defer log.Close()

	child := exec.Command(command.Path, command.Args...)
	child.Dir = g.Dir
	child.Stdout, child.Stderr = log, log
	child.Env = append(os.Environ(), markVariable+"="+g.Dir, nameVariable+"="+command.Name, versionVariable+"="+command.Version)
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // out of reach of the terminal's signals
	start := startAndReap
	if g.Tied {
		start = StartTied
	}
	ended, err := start(child)
	if err != nil {
		return Process{}, fmt.Errorf("start %s: %w", command.Name, err)
	}
	// The kernel shows the environment shortly after the program has started.
	for {
		if process, running := g.look(child.Process.Pid); running {
			return process, nil
		}
		select {
		case <-ended:
			return Process{}, g.endedEarly(command.Name)
		case <-time.After(time.Millisecond):
		}
	}
}

// await returns when the program is ready, exits, or times out.
func (g Group) await(ctx context.Context, command Command, process Process) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for {
		err := command.Ready(ctx)
		if err == nil {
			return nil
		}
		if !process.alive() {
			return g.endedEarly(command.Name)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\nthe end of %s:\n%s", command.Name, err, g.LogPath(command.Name), g.tail(command.Name))
		case <-time.After(readyEvery):
		}
	}
}

func (g Group) endedEarly(name string) error {
	return fmt.Errorf("%s ended right after its start; the end of %s:\n%s", name, g.LogPath(name), g.tail(name))
}

func (g Group) tail(name string) string {
	const lines = 15
	content, err := os.ReadFile(g.LogPath(name))
	if err != nil {
		return err.Error()
	}
	all := slices.Collect(strings.Lines(string(content)))
	return strings.Join(all[max(0, len(all)-lines):], "")
}
