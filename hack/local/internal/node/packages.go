//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

// programs are the programs that a node needs, each with its Debian package.
var programs = [][2]string{
	{"containerd", "containerd"},
	{"containerd-shim-runc-v2", "containerd"},
	{"ctr", "containerd"},
	{"runc", "runc"},
	{"nft", "nftables"},
	{"ip", "iproute2"},
	{"losetup", "mount"},
	{"mkfs.xfs", "xfsprogs"},
}

const networkPackage = "containernetworking-plugins"

// installMissing installs missing programs with apt-get. It ignores a containerd that the package starts: ours has its
// own socket and folders.
func installMissing(ctx context.Context) error {
	missing := missingPackages()
	if len(missing) == 0 {
		return nil
	}
	names := strings.Join(missing, " ")
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("this node needs what Debian calls %s, but apt-get is missing: install them with the package manager of this system",
			names)
	}
	// Without an index, or with an old one, the first attempt fails.
	const install = "apt-get -y --no-install-recommends -o DPkg::Lock::Timeout=120 install"
	script := fmt.Sprintf("export DEBIAN_FRONTEND=noninteractive; %[1]s %[2]s || { apt-get update && %[1]s %[2]s; }", install, names)
	err := progress.Step("installing "+names+" with apt-get", func() error { return run(ctx, "sh", "-c", script) })
	if err != nil {
		return err
	}
	if still := missingPackages(); len(still) > 0 {
		return fmt.Errorf("apt-get installed %s, and programs of %s are still not in PATH", names, strings.Join(still, " "))
	}
	return nil
}

func missingPackages() []string {
	var missing []string
	for _, program := range programs {
		if _, err := exec.LookPath(program[0]); err != nil {
			missing = append(missing, program[1])
		}
	}
	if _, err := networkPlugins(); err != nil {
		missing = append(missing, networkPackage)
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// networkPlugins returns the folder of the CNI plugins: Debian's, or the default of the CNI project.
func networkPlugins() (string, error) {
	for _, folder := range []string{"/usr/lib/cni", "/opt/cni/bin"} {
		if _, err := os.Stat(filepath.Join(folder, "host-local")); err == nil {
			return folder, nil
		}
	}
	return "", errors.New("there are no CNI plugins in /usr/lib/cni or /opt/cni/bin")
}
