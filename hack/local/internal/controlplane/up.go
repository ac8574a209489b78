package controlplane

import (
	"context"
	_ "embed"
	"fmt"
	"os"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/build"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/process"
)

const servicesAlone = "10.96.0.0/16"

//go:embed storageclass.yaml
var storageClass string

// Open prepares a control plane without a node in a folder, and its tools.
func Open(ctx context.Context, repo, dir string, tied bool) (Settings, error) {
	binaries, err := build.All(ctx, repo, Tools...)
	if err != nil {
		return Settings{}, err
	}
	return open(dir, tied, binaries)
}

// open chooses ports and the flags of a control plane without a node. It has no address for pods, and the volumes are
// folders that are never mounted. As on OpenShift, a client that sets blockOwnerDeletion needs permission to set the
// owner's finalizers.
func open(dir string, tied bool, binaries map[string]build.Binary) (Settings, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Settings{}, fmt.Errorf("create the folder of the control plane: %w", err)
	}
	ports, err := keptPorts(dir)
	if err != nil {
		return Settings{}, err
	}
	return Settings{
		Dir: dir, Address: Loopback, Ports: ports, Services: servicesAlone,
		Group: process.Group{Dir: dir, Tied: tied}, Binaries: binaries,
		ExtraAPI: []string{
			"--authorization-mode=RBAC", "--endpoint-reconciler-type=none", "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
		},
		ExtraManager: []string{"--enable-hostpath-provisioner"},
	}, nil
}

// Prepare creates certificates and kubeconfigs, and returns the settings of the programs.
func (s Settings) Prepare() (*Client, error) {
	identities, err := s.identities()
	if err != nil {
		return nil, err
	}
	certificates := s.Certificates()
	if err := certificates.Ensure(identities); err != nil {
		return nil, err
	}
	for _, identity := range identities {
		if err := certificates.WriteKubeconfig(s.Kubeconfig(identity.Name), s.URL(), identity.Name); err != nil {
			return nil, err
		}
	}
	return s.Client()
}

// Up starts the missing programs and returns whether it started any.
func (s Settings) Up(ctx context.Context) (started bool, err error) {
	client, err := s.Prepare()
	if err != nil {
		return false, err
	}
	started, err = s.Group.EnsureAll(ctx, s.Commands(client))
	if err != nil {
		return started, err
	}
	return started, client.Apply(ctx, "/apis/storage.k8s.io/v1/storageclasses/standard", storageClass)
}

// Down stops the programs that Up started, removes the folder, and prints what it stopped.
func Down(ctx context.Context, dir string) (ended []string, err error) {
	group := process.Group{Dir: dir}
	removeVolumes := foldersOfVolumes(ctx, dir)
	for _, name := range []string{manager, "kube-apiserver", "etcd"} {
		if group.Stop(name) {
			ended = append(ended, name)
		}
	}
	removeVolumes()
	return ended, Discard(ctx, dir)
}

// Discard does the same silently, and kills the programs.
func Discard(ctx context.Context, dir string) error {
	removeVolumes := foldersOfVolumes(ctx, dir)
	process.Group{Dir: dir}.KillStragglers()
	removeVolumes()
	return os.RemoveAll(dir)
}

// Status returns the state of each program of the control plane in a folder.
func Status(ctx context.Context, dir string) []process.State {
	return process.Group{Dir: dir}.Status(ctx, []process.Command{{Name: "etcd"}, {Name: "kube-apiserver"}, {Name: manager}})
}
