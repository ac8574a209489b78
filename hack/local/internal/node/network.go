//go:build linux

package node

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
)

// hardwareAddress of the bridge is fixed. Otherwise it changes with the ports of the bridge.
const hardwareAddress = "0a:58:0a:f4:00:01"

// setUpNetwork creates the bridge that the servers listen on and the pods connect to.
func setUpNetwork(ctx context.Context) error {
	// Modules are built into some kernels, or already loaded. Missing ones show up in sysctls and mounts.
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
