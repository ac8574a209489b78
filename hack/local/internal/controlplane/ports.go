package controlplane

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/files"
)

// keptPorts returns the ports of this folder, or chooses free ones.
func keptPorts(dir string) (Ports, error) {
	path := filepath.Join(dir, "ports.json")
	var ports Ports
	if content, err := os.ReadFile(path); err == nil && json.Unmarshal(content, &ports) == nil {
		return ports, nil
	}
	ports, err := freePorts()
	if err != nil {
		return Ports{}, err
	}
	content, _ := json.Marshal(ports) // four numbers
	return ports, files.Write(path, content, 0o644)
}

// freePorts keeps all ports open until it found the last one, so that all differ.
func freePorts() (ports Ports, err error) {
	var listeners []net.Listener
	defer func() {
		for _, listener := range listeners {
			listener.Close()
		}
	}()
	for _, port := range []*int{&ports.API, &ports.Etcd, &ports.EtcdPeer, &ports.ControllerManager} {
		listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(Loopback)})
		if err != nil {
			return Ports{}, fmt.Errorf("find a free port on %s: %w", Loopback, err)
		}
		listeners = append(listeners, listener)
		*port = int(netip.MustParseAddrPort(listener.Addr().String()).Port())
	}
	return ports, nil
}
