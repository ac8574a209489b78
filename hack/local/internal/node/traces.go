//go:build linux

package node

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

// removeNetwork removes the bridge with its ports, and the packet rules.
func removeNetwork(ctx context.Context) error {
	if _, err := net.InterfaceByName(bridge); err == nil {
		ports, _ := filepath.Glob(filepath.Join("/sys/class/net", bridge, "brif", "*"))
		for _, port := range ports {
			_ = run(ctx, "ip", "link", "delete", filepath.Base(port)) // the kernel may be quicker, with the pod's end of it
		}
		if err := run(ctx, "ip", "link", "delete", bridge); err != nil {
			return err
		}
		progress.Say("removed bridge %s", bridge)
	}
	tables := [][]string{{"ip", natTable}, {"ip", policyTable}}
	// The rules of kube-proxy are ours only if our kube-proxy ran.
	if group.Known("kube-proxy") {
		tables = append(tables, []string{"ip", "kube-proxy"}, []string{"ip6", "kube-proxy"})
	}
	for _, table := range tables {
		if run(ctx, "nft", "list", "table", table[0], table[1]) != nil {
			continue
		}
		if err := run(ctx, "nft", "delete", "table", table[0], table[1]); err != nil {
			return err
		}
		progress.Say("removed packet rules %s %s", table[0], table[1])
	}
	return nil
}

// removeTraces removes files that containerd, the CNI plugins and the kubelet leave outside their configured folders.
// It removes only files with our names, and then empty folders.
func removeTraces() {
	removeShimSockets()
	results, _ := filepath.Glob("/var/lib/cni/results/*")
	for _, result := range results {
		// Each records its network namespace; ours are below our folder.
		if content, err := os.ReadFile(result); err == nil && bytes.Contains(content, []byte(runtimeDir+"/")) {
			_ = os.Remove(result)
		}
	}
	logs, _ := filepath.Glob("/var/log/containers/*")
	for _, log := range logs {
		if target, err := os.Readlink(log); err == nil && strings.HasPrefix(target, stateDir+"/") {
			_ = os.Remove(log)
		}
	}
	if group.Known("kubelet") {
		_ = os.Remove(devicePlugins + "/kubelet.sock")
		_ = os.Remove(devicePlugins + "/kubelet_internal_checkpoint")
	}
	for _, folder := range []string{
		"/var/lib/cni/results", "/var/lib/cni", "/var/log/containers", devicePlugins, filepath.Dir(devicePlugins),
		"/run/containerd/s", "/run/containerd",
	} {
		_ = os.Remove(folder)
	}
}

// removeShimSockets removes the sockets of shims. containerd records the socket next to each container, and no setting
// moves it.
func removeShimSockets() {
	notes, _ := filepath.Glob(filepath.Join(runtimeDir, "containerd", "io.containerd.runtime.v2.task", "*", "*", "address"))
	for _, note := range notes {
		content, err := os.ReadFile(note)
		socket, isUnix := strings.CutPrefix(strings.TrimSpace(string(content)), "unix://")
		if err == nil && isUnix && strings.HasPrefix(socket, "/run/containerd/s/") {
			_ = os.Remove(socket)
		}
	}
}
