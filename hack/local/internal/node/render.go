//go:build linux

package node

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/controlplane"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/files"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/images"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/pki"
)

//go:embed config
var configs embed.FS

// values are the values for the configuration templates.
func values(settings controlplane.Settings, networkPlugins string) map[string]any {
	certificates := settings.Certificates()
	return map[string]any{
		"State": stateDir, "Runtime": runtimeDir, "Socket": containerdSocket, "CgroupRoot": cgroupRoot,
		"Node": Name, "Address": address, "Pods": pods, "Bridge": bridge, "NAT": natTable,
		"ClusterDomain": clusterDomain, "ResolvConf": resolvConf(), "NetworkPlugins": networkPlugins,
		"PauseImage":        images.PauseReference,
		"CA":                certificates.Certificate(pki.CA),
		"ServerCertificate": certificates.Certificate(controlplane.Server), "ServerKey": certificates.Key(controlplane.Server),
		"ProxyKubeconfig": settings.Kubeconfig("kube-proxy"), "DNSKubeconfig": settings.Kubeconfig("coredns"),
		"KubeletPort": portKubelet, "KubeletHealthPort": portKubeletHealth,
		"ProxyHealthPort": portProxyHealth, "ProxyMetricsPort": portProxyMetrics, "DNSHealthPort": portDNSHealth,
	}
}

func render(name string, values map[string]any) ([]byte, error) {
	parsed, err := template.New(name).Option("missingkey=error").ParseFS(configs, "config/"+name)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", name, err)
	}
	var content bytes.Buffer
	if err := parsed.Execute(&content, values); err != nil {
		return nil, fmt.Errorf("fill in %s: %w", name, err)
	}
	return content.Bytes(), nil
}

// writeConfigs renders all configuration files. CNI reads a whole folder.
func writeConfigs(values map[string]any) error {
	entries, err := configs.ReadDir("config")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		content, err := render(entry.Name(), values)
		if err != nil {
			return err
		}
		folder := "config"
		if filepath.Ext(entry.Name()) == ".conflist" {
			folder = "config/cni"
		}
		if err := files.Write(state(folder, entry.Name()), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// resolvConf is the file with the real DNS servers. With systemd-resolved the default file names a loopback address,
// which inside a pod is the pod.
func resolvConf() string {
	const resolved = "/run/systemd/resolve/resolv.conf"
	if _, err := os.Stat(resolved); err == nil {
		return resolved
	}
	return "/etc/resolv.conf"
}
