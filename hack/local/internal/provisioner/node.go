package provisioner

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// nodeFor is the node that the scheduler chose, or the only one where nothing was to be
// scheduled yet (volumeBindingMode Immediate).
func nodeFor(ctx context.Context, client kubernetes.Interface, selected string) (*corev1.Node, error) {
	if selected != "" {
		node, err := client.CoreV1().Nodes().Get(ctx, selected, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("read node %s, which the scheduler chose: %w", selected, err)
		}
		return node, nil
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: 2})
	if err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	switch len(nodes.Items) {
	case 0:
		return nil, errors.New("the cluster has no node yet")
	case 1:
		return &nodes.Items[0], nil
	}
	return nil, errors.New("the cluster has several nodes, and none was chosen: set the StorageClass's volumeBindingMode to WaitForFirstConsumer")
}

func hostnameOf(node *corev1.Node) (string, error) {
	hostname := node.Labels[corev1.LabelHostname]
	if hostname == "" {
		return "", fmt.Errorf("node %s has no label %s, by which a volume is tied to it: give it one", node.Name, corev1.LabelHostname)
	}
	return hostname, nil
}
