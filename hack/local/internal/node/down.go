//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/process"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

// Down stops and removes everything that Up created, however far Up got, and prints what it finds.
func Down(ctx context.Context) error {
	if os.Geteuid() != 0 {
		return errors.New("only root can stop the node: run this with sudo")
	}
	unlock, err := process.Lock(lockFile, "another `local up` or `local down`")
	if err != nil {
		return err
	}
	defer unlock()
	defer os.Remove(lockFile)

	endProcesses()
	pods, err := removeCgroup()
	say(pods, "ended %d processes of pods")
	if err != nil {
		return err // a running process may still write
	}
	mounts, err := unmountAll()
	say(mounts, "unmounted %d filesystems")
	if err != nil {
		return err
	}
	if err := removeNetwork(ctx); err != nil {
		return err
	}
	removeTraces()
	if err := restoreSysctls(); err != nil {
		return err
	}
	return removeFolders()
}

func say(count int, format string) {
	if count > 0 {
		progress.Say(format, count)
	}
}

// endProcesses stops programs before their dependencies, and the shims of our containerd last: they have its mark.
func endProcesses() {
	for _, command := range slices.Backward(allParts()) {
		if group.Stop(command.Name) {
			progress.Say("ended %s", command.Name)
		}
	}
	for _, executable := range group.KillStragglers() {
		progress.Say("ended %s", executable)
	}
}

func removeFolders() error {
	say(countVolumes(), "removing %d volumes with their data")
	if err := errors.Join(os.RemoveAll(stateDir), os.RemoveAll(runtimeDir)); err != nil {
		return fmt.Errorf("remove the node's folders: %w", err)
	}
	return nil
}
