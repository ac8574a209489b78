package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/node"
)

func init() {
	commands = slices.Concat([]command{
		{"up", "", "run a real node (needs root)", runUp},
		{"down", "", "end it and remove everything, volumes too", runDown},
		{"status", "", "show its parts; fails unless all are up", runStatus},
		{"load", "IMAGE.tar...", "give it images", runLoad},
		{"kubeconfig", "[--control-plane]", "print the path of the administrator's kubeconfig", runKubeconfig},
	}, commands)
}

func runUp(ctx context.Context, repo string, arguments []string) error {
	if err := noArguments("up", arguments); err != nil {
		return err
	}
	return node.Up(ctx, repo)
}

func runDown(ctx context.Context, _ string, arguments []string) error {
	if err := noArguments("down", arguments); err != nil {
		return err
	}
	return node.Down(ctx)
}

func runStatus(ctx context.Context, _ string, arguments []string) error {
	if err := noArguments("status", arguments); err != nil {
		return err
	}
	states, err := node.Status(ctx)
	if err != nil {
		return err
	}
	return showStatus(states)
}

func runLoad(ctx context.Context, _ string, arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("load needs the tarball of an image: `local image` writes them")
	}
	return node.Load(ctx, arguments)
}

func runKubeconfig(_ context.Context, _ string, arguments []string) error {
	find := node.Kubeconfig
	if slices.Equal(arguments, []string{"--control-plane"}) {
		find = controlPlaneKubeconfig
	} else if err := noArguments("kubeconfig", arguments); err != nil {
		return err
	}
	path, err := find()
	if err != nil {
		return err
	}
	fmt.Println(path)
	return nil
}

func noArguments(name string, arguments []string) error {
	if len(arguments) > 0 {
		return fmt.Errorf("%s takes no %q", name, arguments[0])
	}
	return nil
}
