//go:build linux

package node

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
)

// hardwareAddress of the bridge is fixed: a bridge otherwise changes it with its ports.
const hardwareAddress = "0a:58:0a:f4:00:01"

// setUpNetwork makes the bridge that everything listens on and the pods are plugged into.
func setUpNetwork(ctx context.Context) error {
	// Built into some kernels, loaded by whoever came before on others; sysctls and mounts tell.
	for _, module := range []string{"br_netfilter", "overlay", "loop", "xfs"} {
		_ = run(ctx, "modprobe", module)
	}
	if err := setSysctls(); err != nil {
		return err
	}
	if _, err := net.InterfaceByName(bridge); err != nil {
		if err := run(ctx, "ip", "link", "add", bridge, "address", hardwareAddress, "type", "bridge"); err != nil {
			return err
		}
	}
	_, length, _ := strings.Cut(pods, "/")
	if err := run(ctx, "ip", "address", "replace", address+"/"+length, "dev", bridge); err != nil {
		return err
	}
	if err := run(ctx, "ip", "link", "set", bridge, "up"); err != nil {
		return err
	}
	return run(ctx, "nft", "--file", state("config", "nat.nft"))
}

func run(ctx context.Context, name string, arguments ...string) error {
	if output, err := exec.CommandContext(ctx, name, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(arguments, " "), err, output)
	}
	return nil
}
