package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/build"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/controlplane"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/process"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

func controlPlaneCommand() *cobra.Command {
	parent := parentOf("control-plane", "Run an API server without a node, on loopback",
		&cobra.Command{Use: "up", Short: "Start it", Args: cobra.NoArgs, RunE: inControlPlane(locked(controlPlaneUp))},
		&cobra.Command{Use: "down", Short: "Stop it and remove everything", Args: cobra.NoArgs, RunE: inControlPlane(locked(controlPlaneDown))},
		&cobra.Command{
			Use: "status", Short: "Show its parts; fails unless all are up", Args: cobra.NoArgs,
			RunE: inControlPlane(func(ctx context.Context, dir string) error { return showStatus(controlplane.Status(ctx, dir)) }),
		},
		runCommand(controlPlaneRun),
	)
	parent.PersistentPreRunE = func(*cobra.Command, []string) error {
		if runtime.GOOS != "linux" {
			return fmt.Errorf("control-plane needs Linux, this is %s: use a virtual machine, or any cluster of yours with KUBECONFIG", runtime.GOOS)
		}
		return nil
	}
	return parent
}

// inControlPlane passes the folder of the persistent control plane to a command.
func inControlPlane(do func(ctx context.Context, dir string) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, _ []string) error {
		dir, err := controlPlaneDir()
		if err != nil {
			return err
		}
		return do(command.Context(), dir)
	}
}

// runCommand parses [PROGRAM:FLAG...] -- CMD ARG...
func runCommand(run func(ctx context.Context, flags, command []string) error) *cobra.Command {
	return &cobra.Command{
		Use: "run [PROGRAM:FLAG...] -- CMD ARG...", Short: "Run a command with a control plane of its own",
		RunE: func(command *cobra.Command, arguments []string) error {
			dash := command.ArgsLenAtDash()
			if dash < 0 || dash == len(arguments) {
				return errors.New("control-plane run needs a command after --, as in: run [PROGRAM:FLAG...] -- CMD ARG")
			}
			return run(command.Context(), arguments[:dash], arguments[dash:])
		},
	}
}

func controlPlaneDir() (string, error) {
	cache, err := build.CacheRoot()
	return filepath.Join(cache, "control-plane"), err
}

func controlPlaneUp(ctx context.Context, dir string) error {
	settings, err := controlplane.Open(ctx, repo, dir, false)
	if err != nil {
		return err
	}
	started, err := settings.Up(ctx)
	if err != nil {
		return err
	}
	progress.Say("the control plane %s", settings.Describe(started))
	return nil
}

// locked locks the control plane during a command. The lock file is next to the folder, which down removes.
func locked(do func(ctx context.Context, dir string) error) func(ctx context.Context, dir string) error {
	return func(ctx context.Context, dir string) error {
		if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
			return fmt.Errorf("create the cache: %w", err)
		}
		unlock, err := process.Lock(dir+".lock", "another `local control-plane`")
		if err != nil {
			return err
		}
		defer unlock()
		return do(ctx, dir)
	}
}

func controlPlaneDown(ctx context.Context, dir string) error {
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

func controlPlaneRun(ctx context.Context, flags, command []string) (err error) {
	dir, done, err := controlplane.Throwaway()
	if err != nil {
		return err
	}
	defer done()
	settings, err := controlplane.Open(ctx, repo, dir, true)
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
