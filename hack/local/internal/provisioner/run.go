package provisioner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// A person waits for a local cluster: the library's 15 s before the first retry are too long.
const firstRetry, lastRetry = time.Second, time.Minute

// Run provisions volumes below dir until the context ends. It may be cut short at any point:
// a volume is named after its claim, so the next run finds what this one began.
func Run(ctx context.Context, kubeconfig, dir string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig %s: %w", kubeconfig, err)
	}
	config.QPS = -1 // the API server shares itself out
	client, err := kubernetes.NewForConfig(rest.AddUserAgent(config, "directory-provisioner"))
	if err != nil {
		return fmt.Errorf("make a client from the kubeconfig %s: %w", kubeconfig, err)
	}
	// Absolute, because the kubelet that mounts the volumes runs in another folder.
	if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("find the folder of the volumes: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the volumes: %w", err)
	}
	run(ctx, client, dir)
	return nil
}

func run(ctx context.Context, client kubernetes.Interface, dir string) {
	controller.NewProvisionController(ctx, client, Name, &Provisioner{client, directories{dir}},
		controller.LeaderElection(false), // one machine, one process
		controller.AddFinalizer(true),    // a volume deleted before its claim takes its directory along
		controller.RateLimiter(workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, lastRetry)),
		controller.FailedProvisionThreshold(0), // never give up: a node may still join
		controller.FailedDeleteThreshold(0),
	).Run(ctx)
}
