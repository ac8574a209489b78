package controlplane

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/pki"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/process"
)

// Command returns the command of a background program with an HTTP health check.
func (s Settings) Command(name, readyURL string, client *Client, args ...string) process.Command {
	binary := s.Binaries[name]
	return process.Command{Name: name, Path: binary.Path, Version: binary.Version, Args: args, Ready: client.Answers(readyURL)}
}

// Commands returns the three programs, in the order of their start.
func (s Settings) Commands(client *Client) []process.Command {
	certificates := s.Certificates()
	return []process.Command{
		s.Command(etcd, s.etcdURL()+"/readyz", client, append(s.etcd(certificates), s.ExtraEtcd...)...),
		s.Command(apiServer, s.URL()+"/readyz", client, append(s.apiServer(certificates), s.ExtraAPI...)...),
		s.Command(manager, "https://"+hostPort(Loopback, s.Ports.ControllerManager)+"/healthz", client,
			append(s.controllerManager(certificates), s.ExtraManager...)...),
	}
}

func (s Settings) etcdURL() string { return "https://" + hostPort(Loopback, s.Ports.Etcd) }

// etcd does not sync to disk: no data here must survive a crash of the machine.
func (s Settings) etcd(certificates pki.Folder) []string {
	peer := "https://" + hostPort(Loopback, s.Ports.EtcdPeer)
	certificate, key, authority := certificates.Certificate(Server), certificates.Key(Server), certificates.Certificate(pki.CA)
	return []string{
		"--name=local",
		"--data-dir=" + filepath.Join(s.Dir, "etcd"),
		"--listen-client-urls=" + s.etcdURL(),
		"--advertise-client-urls=" + s.etcdURL(),
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=local=" + peer,
		"--cert-file=" + certificate, "--key-file=" + key, "--trusted-ca-file=" + authority, "--client-cert-auth",
		"--peer-cert-file=" + certificate, "--peer-key-file=" + key, "--peer-trusted-ca-file=" + authority, "--peer-client-cert-auth",
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

func (s Settings) apiServer(certificates pki.Folder) []string {
	return []string{
		"--etcd-servers=" + s.etcdURL(),
		"--etcd-cafile=" + certificates.Certificate(pki.CA),
		"--etcd-certfile=" + certificates.Certificate(Server),
		"--etcd-keyfile=" + certificates.Key(Server),
		"--bind-address=" + s.Address,
		"--secure-port=" + strconv.Itoa(s.Ports.API),
		"--tls-cert-file=" + certificates.Certificate(Server),
		"--tls-private-key-file=" + certificates.Key(Server),
		"--client-ca-file=" + certificates.Certificate(pki.CA),
		"--service-cluster-ip-range=" + s.Services,
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + certificates.Key(pki.ServiceAccounts),
		"--service-account-signing-key-file=" + certificates.Key(pki.ServiceAccounts),
		"--requestheader-client-ca-file=" + certificates.Certificate(pki.FrontProxyCA),
		"--requestheader-allowed-names=" + frontProxy,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + certificates.Certificate(frontProxy),
		"--proxy-client-key-file=" + certificates.Key(frontProxy),
		"--allow-privileged",
	}
}

func (s Settings) controllerManager(certificates pki.Folder) []string {
	return append(s.Component(manager, s.Ports.ControllerManager),
		"--root-ca-file="+certificates.Certificate(pki.CA),
		"--cluster-signing-cert-file="+certificates.Certificate(pki.CA),
		"--cluster-signing-key-file="+certificates.Key(pki.CA),
		"--service-account-private-key-file="+certificates.Key(pki.ServiceAccounts),
		"--flex-volume-plugin-dir="+filepath.Join(s.Dir, "flex-volumes"),
		"--use-service-account-credentials",
		"--pvclaimbinder-sync-period=2s",
		"--namespace-sync-period=30s",
	)
}

// Component returns the flags that the controller manager and the scheduler share. The rate limits are high: the
// defaults protect servers with thousands of nodes.
func (s Settings) Component(name string, port int) []string {
	kubeconfig := s.Kubeconfig(name)
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=" + Loopback,
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + s.Certificates().Certificate(Server),
		"--tls-private-key-file=" + s.Certificates().Key(Server),
		"--leader-elect=false",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
}

// WithFlags adds further flags, each as PROGRAM:FLAG.
func (s Settings) WithFlags(flags []string) (Settings, error) {
	for _, given := range flags {
		switch program, flag, _ := strings.Cut(given, ":"); {
		case !strings.HasPrefix(flag, "--"):
			return s, fmt.Errorf("%q is not PROGRAM:--FLAG", given)
		case program == apiServer:
			s.ExtraAPI = append(s.ExtraAPI, flag)
		case program == manager:
			s.ExtraManager = append(s.ExtraManager, flag)
		case program == etcd:
			s.ExtraEtcd = append(s.ExtraEtcd, flag)
		default:
			return s, fmt.Errorf("%q: flags can be given to %s, %s and %s", given, apiServer, manager, etcd)
		}
	}
	return s, nil
}

// Describe returns one line with the address of the control plane.
func (s Settings) Describe(started bool) string {
	state := "was up already"
	if started {
		state = "is up"
	}
	return fmt.Sprintf("%s: API server %s, kubeconfig %s", state, s.URL(), s.Kubeconfig(Admin))
}
