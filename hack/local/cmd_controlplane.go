package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/build"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/controlplane"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/process"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

func runControlPlane(ctx context.Context, repo string, arguments []string) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("control-plane needs Linux, this is %s: use a virtual machine, or any cluster of yours with KUBECONFIG", runtime.GOOS)
	}
	dir, err := controlPlaneDir()
	if err != nil {
		return err
	}
	verb := strings.Join(arguments, " ")
	switch verb {
	case "up":
		return controlPlaneUp(ctx, repo, dir)
	case "down":
		return controlPlaneDown(ctx, dir)
	case "status":
		return showStatus(controlplane.Status(ctx, dir))
	}
	if flags, command, ok := splitRun(arguments); ok {
		return controlPlaneRun(ctx, repo, flags, command)
	}
	return fmt.Errorf("control-plane takes up, down, status, or run [PROGRAM:FLAG...] -- CMD ARG..., not %q", verb)
}

// splitRun takes "run PROGRAM:FLAG... -- CMD ARG..." apart.
func splitRun(arguments []string) (flags, command []string, ok bool) {
	end := slices.Index(arguments, "--")
	if end < 1 || end == len(arguments)-1 || arguments[0] != "run" {
		return nil, nil, false
	}
	return arguments[1:end], arguments[end+1:], true
}

func controlPlaneDir() (string, error) {
	cache, err := build.CacheRoot()
	return filepath.Join(cache, "control-plane"), err
}

func controlPlaneUp(ctx context.Context, repo, dir string) error {
	unlock, err := lockControlPlane(dir)
	if err != nil {
		return err
	}
	defer unlock()
	settings, err := openControlPlane(ctx, repo, dir, false)
	if err != nil {
		return err
	}
	started, err := settings.Up(ctx)
	if err != nil {
		return err
	}
	state := "was running already"
	if started {
		state = "is up"
	}
	progress.Say("the control plane %s: %s", state, settings.Describe())
	return nil
}

// lockControlPlane locks beside the folder, which down removes.
func lockControlPlane(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, fmt.Errorf("make the cache: %w", err)
	}
	return process.Lock(dir+".lock", "another `local control-plane`")
}

func openControlPlane(ctx context.Context, repo, dir string, tied bool) (controlplane.Settings, error) {
	binaries, err := build.All(ctx, repo, controlplane.Tools...)
	if err != nil {
		return controlplane.Settings{}, err
	}
	return controlplane.Open(dir, tied, binaries)
}

func controlPlaneDown(ctx context.Context, dir string) error {
	unlock, err := lockControlPlane(dir)
	if err != nil {
		return err
	}
	defer unlock()
	ended, err := controlplane.Down(ctx, dir)
	for _, name := range ended {
		progress.Say("ended %s", name)
	}
	return err
}

func showStatus(states []process.State) error {
	if !process.WriteTable(os.Stdout, states) {
		return exitCodeError(1)
	}
	return nil
}

func controlPlaneRun(ctx context.Context, repo string, flags, command []string) (err error) {
	dir, done, err := controlplane.Throwaway()
	if err != nil {
		return err
	}
	defer done()
	settings, err := openControlPlane(ctx, repo, dir, true)
	if err != nil {
		return err
	}
	if settings, err = settings.WithFlags(flags); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, controlplane.Discard(context.WithoutCancel(ctx), dir)) }()
	if _, err := settings.Up(ctx); err != nil {
		return err
	}
	code, err := settings.Run(command)
	if err != nil || code == 0 {
		return err
	}
	return exitCodeError(code)
}

func controlPlaneKubeconfig() (string, error) {
	dir, err := controlPlaneDir()
	if err != nil {
		return "", err
	}
	path := controlplane.Settings{Dir: dir}.Kubeconfig(controlplane.Admin)
	if _, err := os.Stat(path); err != nil {
		return "", errors.New("the control plane is not up: run `local control-plane up` first")
	}
	return path, nil
}
