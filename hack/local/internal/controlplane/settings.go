// Package controlplane configures etcd, the API server and the controller manager, for a control plane alone and for a
// whole node.
package controlplane

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/build"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/pki"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/process"
)

// Loopback is the address of all servers that only this machine may reach.
const Loopback = "127.0.0.1"

// Tools are the binaries of a control plane, including kubectl.
var Tools = []string{"kube-apiserver", "etcd", "kube-controller-manager", "kubectl"}

// Ports of a control plane. Its folder stores them, so that they survive a restart.
type Ports struct {
	API, Etcd, EtcdPeer, ControllerManager int
}

// Settings are the differences between control planes.
type Settings struct {
	Dir      string
	Address  string // the address of the API server
	Ports    Ports
	Services string // the addresses of Services, as a CIDR
	// ExtraAPI, ExtraManager and ExtraEtcd are further flags of the API server, the controller manager and etcd.
	ExtraAPI, ExtraManager, ExtraEtcd []string
	ExtraIdentities                   []pki.Identity
	Group                             process.Group
	Binaries                          map[string]build.Binary
}

// Names of the certificates.
const (
	Admin           = "admin"
	Server          = "server"
	manager         = "kube-controller-manager"
	apiServer       = "kube-apiserver"
	etcd            = "etcd"
	KubeletClient   = "apiserver-kubelet-client"
	frontProxy      = "front-proxy-client"
	mastersOfSystem = "system:masters"
)

// Kubeconfig returns the path of an identity's kubeconfig.
func (s Settings) Kubeconfig(identity string) string {
	return filepath.Join(s.Dir, identity+".kubeconfig")
}

// URL returns the URL of the API server.
func (s Settings) URL() string { return "https://" + hostPort(s.Address, s.Ports.API) }

// Certificates returns the certificates of this control plane.
func (s Settings) Certificates() pki.Folder { return pki.Folder(filepath.Join(s.Dir, "pki")) }

func (s Settings) identities() ([]pki.Identity, error) {
	_, services, err := net.ParseCIDR(s.Services)
	if err != nil {
		return nil, fmt.Errorf("read the range of Services: %w", err)
	}
	// Pods reach the API server by the first address of the range.
	first := services.IP
	first[len(first)-1]++
	hosts := []string{
		"localhost", Loopback, s.Address, first.String(),
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	}
	return append([]pki.Identity{
		{Name: Server, CommonName: "local-server", Hosts: hosts},
		{Name: Admin, CommonName: "local-admin", Groups: []string{mastersOfSystem}},
		{Name: manager, CommonName: "system:kube-controller-manager"},
		{Name: KubeletClient, CommonName: "kube-apiserver", Groups: []string{mastersOfSystem}},
		{Name: frontProxy, CommonName: frontProxy, FrontProxy: true},
	}, s.ExtraIdentities...), nil
}

func hostPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
