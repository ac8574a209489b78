//go:build image && linux

package images

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/build"
)

// The image has no shell that could set up a pod. So its program starts directly, like in a container runtime.
func TestVersitygwServesTheVolumeAsTheUserOfItsImage(t *testing.T) {
	binaries, err := build.All(t.Context(), "", "versitygw")
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "root")
	image := versitygwImage(t, binaries["versitygw"].Path)
	unpackInto(t, root, image)
	data := filepath.Join(root, "data")
	if err := os.MkdirAll(data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(data, 65532, 65532); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	config := configOf(t, image).Config
	command := exec.Command(config.Entrypoint[0], config.Cmd...)
	said := &logs{}
	command.Stdout, command.Stderr, command.Dir = said, said, config.WorkingDir
	command.Env = slices.Concat(config.Env, []string{
		"ROOT_ACCESS_KEY_ID=test", "ROOT_SECRET_ACCESS_KEY=test-secret", "VGW_PORT=" + address, "VGW_HEALTH=/healthy",
	})
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("it said:\n%s", said)
		}
	})
	waitFor(t, func() bool {
		answer, err := http.Get(fmt.Sprintf("http://%s/healthy", address))
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}
