//go:build linux

package node

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/dbcluster/databasecluster-operator/hack/local/internal/build"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/controlplane"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/images"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/process"
	"github.com/dbcluster/databasecluster-operator/hack/local/internal/progress"
)

//go:embed config/coredns-rbac.yaml
var dnsRBAC string

// Up starts the node. It does not restart running programs.
func Up(ctx context.Context, repo string) error {
	if err := preflight(); err != nil {
		return err
	}
	unlock, err := process.Lock(lockFile, "another `local up` or `local down`")
	if err != nil {
		return err
	}
	defer unlock()
	if err := installMissing(ctx); err != nil {
		return err
	}
	binaries, err := build.All(ctx, repo, Tools...)
	if err != nil {
		return err
	}
	settings := settings(binaries)
	started, err := startAll(ctx, settings)
	if err != nil {
		return err
	}
	progress.Say("the node %s", settings.Describe(started))
	return nil
}

func startAll(ctx context.Context, settings controlplane.Settings) (started bool, err error) {
	client, err := prepare(ctx, settings)
	if err != nil {
		return false, err
	}
	plane, err := group.EnsureAll(ctx, settings.Commands(client))
	if err != nil {
		return plane, err
	}
	if err := applyObjects(ctx, client); err != nil {
		return plane, err
	}
	runtime, err := startRuntime(ctx)
	if err != nil {
		return true, err
	}
	parts, err := group.EnsureAll(ctx, nodeParts(settings, client))
	started = plane || runtime || parts
	if err != nil || !started {
		return started, err
	}
	return started, progress.Step("waiting for the node to be Ready", func() error { return waitReady(ctx, client) })
}

// prepare creates everything except processes.
func prepare(ctx context.Context, settings controlplane.Settings) (*controlplane.Client, error) {
	for _, folder := range []string{stateDir, runtimeDir} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, fmt.Errorf("create the node's folder: %w", err)
		}
	}
	client, err := settings.Prepare()
	if err != nil {
		return nil, err
	}
	plugins, err := networkPlugins()
	if err != nil {
		return nil, err
	}
	if err := writeConfigs(values(settings, plugins)); err != nil {
		return nil, err
	}
	if err := setUpNetwork(ctx); err != nil {
		return nil, err
	}
	if err := makeCgroup(); err != nil {
		return nil, err
	}
	return client, copySelf()
}

func applyObjects(ctx context.Context, client *controlplane.Client) error {
	return errors.Join(
		applyStorage(ctx, client),
		client.Apply(ctx, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/local-coredns", dnsRBAC),
	)
}

// startRuntime starts containerd and loads the pause image, which every pod needs.
func startRuntime(ctx context.Context) (started bool, err error) {
	version, err := exec.CommandContext(ctx, "containerd", "--version").Output()
	if err != nil {
		return false, fmt.Errorf("ask containerd for its version: %w", err)
	}
	program, source, number := "", "", "unknown"
	_, _ = fmt.Sscan(string(version), &program, &source, &number)
	started, err = group.Ensure(ctx, runtimePart(number))
	if err != nil {
		return started, err
	}
	return started, loadPause(ctx)
}

func loadPause(ctx context.Context) error {
	tarball := state("images", "pause.tar")
	if _, err := os.Stat(tarball); err == nil {
		return nil
	}
	return progress.Step("building and loading "+images.PauseReference, func() error {
		if err := images.Pause(ctx, images.Options{Dest: tarball + ".new"}); err != nil {
			return err
		}
		if err := ctr(ctx, "images", "import", tarball+".new"); err != nil {
			return err
		}
		return os.Rename(tarball+".new", tarball) // only now, so that a crash repeats it
	})
}

func waitReady(ctx context.Context, client *controlplane.Client) error {
	var problem error
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		problem = nodeReady(ctx, client)
		return problem == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%w; see %s", problem, group.LogPath("kubelet"))
	}
	return nil
}

func nodeReady(ctx context.Context, client *controlplane.Client) error {
	node, err := client.CoreV1().Nodes().Get(ctx, Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		switch {
		case condition.Type != corev1.NodeReady:
		case condition.Status == corev1.ConditionTrue:
			return nil
		default:
			return fmt.Errorf("the node is not Ready: %s", condition.Message)
		}
	}
	return errors.New("the node has no Ready condition yet")
}
