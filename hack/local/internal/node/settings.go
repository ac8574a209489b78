//go:build linux

// Package node runs one real Kubernetes node on this machine: a control plane, a separate containerd, kubelet,
// kube-proxy, CoreDNS, a network on a bridge and volumes in folders.
package node

import "path/filepath"

// All settings that might conflict with other software on this machine.
const (
	// Name is the name of the node, and part of the names of its resources on this machine.
	Name = "local"

	stateDir   = "/var/lib/databasecluster-operator-local"
	runtimeDir = "/run/databasecluster-operator-local"
	lockFile   = "/run/databasecluster-operator-local.lock"
	// cgroupRoot contains only pods, so all its processes may be killed.
	cgroupRoot = "databasecluster-operator-local"

	bridge        = "dbc0"
	address       = "10.244.0.1" // the bridge's: the node as pods see it
	pods          = "10.244.0.0/24"
	services      = "10.245.0.0/16"
	clusterDomain = "cluster.local"
	natTable      = "databasecluster-local"
	policyTable   = "databasecluster-policies"

	portAPI               = 6443
	portKubelet           = 10250
	portEtcd              = 12379
	portEtcdPeer          = 12380
	portControllerManager = 10257
	portScheduler         = 10259
	portKubeletHealth     = 10248
	portProxyHealth       = 10256
	portProxyMetrics      = 10249
	portDNSHealth         = 10254
)

// containerdSocket is the socket of our containerd.
var containerdSocket = filepath.Join(runtimeDir, "containerd.sock")

func state(path ...string) string {
	return filepath.Join(append([]string{stateDir}, path...)...)
}
