//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/controlplane"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/process"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

// allParts are the programs of a node, in the order of their start. Without a client their readiness is unknown.
func allParts() []process.Command { return partsWith(&controlplane.Client{}) }

func partsWith(client *controlplane.Client) []process.Command {
	settings := settings(nil)
	parts := append(settings.Commands(client), runtimePart(""))
	return append(parts, nodeParts(settings, client)...)
}

// Status returns the state of every part, and of the whole node.
func Status(ctx context.Context) ([]process.State, error) {
	if _, err := os.Stat(stateDir); err == nil && os.Geteuid() != 0 {
		return nil, errors.New("only root can see the state of the node: run this with sudo")
	}
	client, err := settings(nil).Client()
	if err != nil { // without a kubeconfig `up` never ran
		return append(group.Status(ctx, allParts()), process.State{Name: "node", State: "not up"}), nil //nolint:nilerr // see above
	}
	node := process.State{Name: "node", State: "Ready", Up: true}
	if err := nodeReady(ctx, client); err != nil {
		node.State, node.Up = err.Error(), false
	}
	return append(group.Status(ctx, partsWith(client)), node), nil
}

// Kubeconfig is the path of the administrator's kubeconfig.
func Kubeconfig() (string, error) {
	path := settings(nil).Kubeconfig(controlplane.Admin)
	if _, err := os.Stat(path); err != nil {
		return "", errors.New("the node is not up: run `local up` first")
	}
	return path, nil
}

// Load imports image tarballs, so that pods find them without a registry.
func Load(ctx context.Context, tarballs []string) error {
	if _, running := group.Running("containerd"); !running {
		return errors.New("the node is not up: run `local up` first")
	}
	for _, tarball := range tarballs {
		if _, err := os.Stat(tarball); err != nil {
			return fmt.Errorf("load %q: name a tarball of an image, as `local image` writes it: %w", tarball, err)
		}
		err := progress.Step("loading "+tarball, func() error { return ctr(ctx, "images", "import", tarball) })
		if err != nil {
			return err
		}
	}
	return nil
}
