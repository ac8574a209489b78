//go:build linux

package node

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
)

// preflight detects problems before the node starts.
func preflight() error {
	if err := rightUser(os.Geteuid()); err != nil {
		return err
	}
	taken, err := usedNetworks()
	if err != nil {
		return fmt.Errorf("list the networks of this machine: %w", err)
	}
	for _, subnet := range []string{pods, services} {
		if err := subnetFree(netip.MustParsePrefix(subnet), taken); err != nil {
			return err
		}
	}
	return noOtherKubelet()
}

func rightUser(id int) error {
	if id != 0 {
		return errors.New("a node needs root, for containers, a bridge and mounts: run this with sudo; " +
			"`local control-plane up` gives an API server without root")
	}
	return nil
}

// network is the network of an interface of this machine.
type network struct {
	device string
	prefix netip.Prefix
}

func subnetFree(subnet netip.Prefix, taken []network) error {
	for _, other := range taken {
		if other.device != bridge && other.prefix.Overlaps(subnet) {
			return fmt.Errorf("the node's network %s overlaps with %s of interface %s: free it, or change the constants in "+
				"hack/local/internal/node/settings.go", subnet, other.prefix.Masked(), other.device)
		}
	}
	return nil
}

func usedNetworks() ([]network, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var used []network
	for _, device := range interfaces {
		addresses, err := device.Addrs()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", device.Name, err)
		}
		for _, address := range addresses {
			if prefix, err := netip.ParsePrefix(address.String()); err == nil {
				used = append(used, network{device.Name, prefix})
			}
		}
	}
	return used, nil
}

// devicePlugins is the only folder of the kubelet that is not configurable.
const devicePlugins = "/var/lib/kubelet/device-plugins"

// noOtherKubelet looks for another kubelet: two would overwrite this folder.
func noOtherKubelet() error {
	if _, ours := group.Running("kubelet"); ours {
		return nil
	}
	connection, err := net.Dial("unix", devicePlugins+"/kubelet.sock")
	if err != nil {
		return nil //nolint:nilerr // no kubelet answers, as expected
	}
	connection.Close()
	return errors.New("another kubelet runs on this machine (it answers in " + devicePlugins + "): stop it, or use another machine")
}
