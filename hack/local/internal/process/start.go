package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
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

// EnsureAll ensures one program after the other and says whether any had to be started.
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

// Ensure makes the program run as commanded and waits until it is ready. It says whether it had to start it.
func (g Group) Ensure(ctx context.Context, command Command) (started bool, err error) {
	record, running := g.Running(command.Name)
	if running && record.runs(command) {
		return false, g.awaitRunning(ctx, command, record.Identity)
	}
	err = progress.Step("starting "+command.Name, func() error {
		if running {
			g.stop(record.Identity)
		}
		g.stopUnrecorded(command.Path)
		return g.startAndAwait(ctx, command)
	})
	return true, err
}

func (g Group) awaitRunning(ctx context.Context, command Command, identity Identity) error {
	if command.Ready(ctx) == nil {
		return nil
	}
	return progress.Step("waiting for "+command.Name, func() error { return g.await(ctx, command, identity) })
}

func (g Group) startAndAwait(ctx context.Context, command Command) error {
	identity, err := g.start(command)
	if err != nil {
		return err
	}
	return g.await(ctx, command, identity)
}

func (g Group) start(command Command) (Identity, error) {
	if err := g.prepare(); err != nil {
		return Identity{}, err
	}
	log, err := os.OpenFile(g.LogPath(command.Name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return Identity{}, fmt.Errorf("open the log of %s: %w", command.Name, err)
	}
	defer log.Close()

	child := exec.Command(command.Path, command.Args...)
	child.Dir = g.Dir
	child.Stdout, child.Stderr = log, log
	child.Env = append(os.Environ(), g.mark())
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // out of reach of the terminal's signals
	start := startAndReap
	if g.Tied {
		start = StartTied
	}
	if _, err := start(child); err != nil {
		return Identity{}, fmt.Errorf("start %s: %w", command.Name, err)
	}
	identity, err := identify(child.Process.Pid)
	if err != nil {
		return Identity{}, g.endedEarly(command.Name)
	}
	return identity, g.write(Record{command.Name, command.Version, identity, command.Path, command.Args})
}

// await returns when the program is ready, has ended, or takes too long.
func (g Group) await(ctx context.Context, command Command, identity Identity) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for {
		err := command.Ready(ctx)
		if err == nil {
			return nil
		}
		if !identity.alive() {
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
