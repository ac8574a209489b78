/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The numbers of nodes and zones in the full form: enough to spread members.
const (
	nodesOfFull = 10
	zones       = 3
)

// playKubelets starts the scheduler, and kwok in place of kubelets.
func (w *world) playKubelets(ctx context.Context) error {
	for n := range nodesOfFull {
		if err := w.addNode(ctx, n); err != nil {
			return err
		}
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	_, port, _ := strings.Cut(address, ":")
	kubeconfig := os.Getenv("KUBECONFIG")
	scheduler, err := start(filepath.Join(w.dir, "kube-scheduler.log"), nil, w.scheduler,
		"--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
		"--bind-address=127.0.0.1", "--secure-port="+port, "--cert-dir="+w.dir,
		"--leader-elect=false", "--kube-api-qps=1000", "--kube-api-burst=2000")
	kwok, kwokErr := start(filepath.Join(w.dir, "kwok.log"), nil, w.kwok, "--kubeconfig="+kubeconfig, "--config=test/bench/kwok.yaml",
		"--v=WARN")
	if err := errors.Join(err, kwokErr); err != nil {
		return err
	}
	w.kubelets = []*process{scheduler, kwok}
	for _, p := range w.kubelets {
		go p.orFail(w.fail)
	}
	return nil
}

// addNode creates a node that kwok makes ready. The controller that removes the taint of new nodes does not run.
func (w *world) addNode(ctx context.Context, n int) error {
	name := fmt.Sprintf("node-%d", n)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", n%zones),
		corev1.LabelOSStable: "linux", corev1.LabelArchStable: runtime.GOARCH,
	}}}
	if _, err := w.clients.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create a node: %w", err)
	}
	untaint := []byte(`{"spec": {"taints": null}}`)
	if _, err := w.clients.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, untaint, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("remove the taint of a node: %w", err)
	}
	return nil
}
