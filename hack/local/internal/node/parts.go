//go:build linux

package node

import (
	"context"
	"fmt"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/build"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/controlplane"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/pki"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/process"
)

// Tools are the built binaries of a node; the others come from Debian.
var Tools = append([]string{"kube-scheduler", "kubelet", "kube-proxy", "coredns", "csi-provisioner", "csi-resizer"}, controlplane.Tools...)

var group = process.Group{Dir: stateDir}

func settings(binaries map[string]build.Binary) controlplane.Settings {
	settings := controlplane.Settings{
		Dir: stateDir, Address: address, Services: services, Group: group, Binaries: binaries,
		Ports: controlplane.Ports{API: portAPI, Etcd: portEtcd, EtcdPeer: portEtcdPeer, ControllerManager: portControllerManager},
		ExtraIdentities: []pki.Identity{
			{Name: "kubelet", CommonName: "system:node:" + Name, Groups: []string{"system:nodes"}},
			{Name: "kube-scheduler", CommonName: "system:kube-scheduler"},
			{Name: "kube-proxy", CommonName: "system:kube-proxy"}, // bound to system:node-proxier by the API server itself
			{Name: "coredns", CommonName: "coredns"},
		},
	}
	certificates := settings.Certificates()
	settings.ExtraAPI = []string{
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--advertise-address=" + address,
		"--kubelet-preferred-address-types=InternalIP", // the node's name has no DNS record
		"--kubelet-certificate-authority=" + certificates.Certificate(pki.CA),
		"--kubelet-client-certificate=" + certificates.Certificate(controlplane.KubeletClient),
		"--kubelet-client-key=" + certificates.Key(controlplane.KubeletClient),
	}
	return settings
}

// runtimePart is containerd. It must run before images can be loaded.
func runtimePart(version string) process.Command {
	return process.Command{
		Name: "containerd", Path: "/usr/bin/containerd", Version: version,
		Args:  []string{"--config", state("config", "containerd.toml")},
		Ready: func(ctx context.Context) error { return ctr(ctx, "version") },
	}
}

// nodeParts are the programs besides the control plane and containerd.
func nodeParts(s controlplane.Settings, client *controlplane.Client) []process.Command {
	local := func(port int, path string) string {
		return fmt.Sprintf("http://%s:%d%s", controlplane.Loopback, port, path)
	}
	scheduler := fmt.Sprintf("https://%s:%d/healthz", controlplane.Loopback, portScheduler)
	return append([]process.Command{
		s.Command("kube-scheduler", scheduler, client, s.Component("kube-scheduler", portScheduler)...),
		s.Command("kubelet", local(portKubeletHealth, "/healthz"), client,
			"--config="+state("config", "kubelet.yaml"), "--kubeconfig="+s.Kubeconfig("kubelet"),
			"--root-dir="+state("kubelet"), "--hostname-override="+Name, "--node-ip="+address),
		s.Command("kube-proxy", local(portProxyHealth, "/healthz"), client, "--config="+state("config", "kube-proxy.yaml")),
		s.Command("coredns", local(portDNSHealth, "/ready"), client, "-conf", state("config", "Corefile")),
		policiesPart(s),
	}, storageParts(s)...)
}

// policiesPart enforces NetworkPolicies. It is a copy of this program.
func policiesPart(s controlplane.Settings) process.Command {
	return process.Command{
		Name: "network-policies", Path: state("bin", driver), Version: "-",
		Args:  []string{"network-policies", "--kubeconfig", s.Kubeconfig(controlplane.Admin), "--table", policyTable},
		Ready: func(ctx context.Context) error { return run(ctx, "nft", "list", "table", "ip", policyTable) },
	}
}

func ctr(ctx context.Context, arguments ...string) error {
	return run(ctx, "ctr", append([]string{"--address", containerdSocket, "--namespace", "k8s.io"}, arguments...)...)
}
