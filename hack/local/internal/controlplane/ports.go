package controlplane

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/files"
)

// keptPorts returns the ports that were chosen for this folder before, or chooses free ones.
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
	content, err := json.Marshal(ports)
	if err != nil {
		return Ports{}, fmt.Errorf("keep the ports: %w", err)
	}
	return ports, files.Write(path, content, 0o644)
}

// freePorts holds all of them open until the last is found, so that no two are the same.
func freePorts() (Ports, error) {
	var ports Ports
	for _, port := range []*int{&ports.API, &ports.Etcd, &ports.EtcdPeer, &ports.ControllerManager} {
		listener, err := net.Listen("tcp", hostPort(Loopback, 0))
		if err != nil {
			return Ports{}, fmt.Errorf("find a free port on %s: %w", Loopback, err)
		}
		defer listener.Close()
		*port = listener.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
