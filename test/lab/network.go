/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// table is the nftables table with the rules of a cut, in the network namespace of a pod.
const table = "inet faults"

// Cut drops the packets between a pod and other addresses, until the pod ends or Heal.
func Cut(ctx context.Context, pod *corev1.Pod, addresses ...string) error {
	set := strings.Join(addresses, ", ")
	rules := fmt.Sprintf(`table %s {
		chain output { type filter hook output priority 0; ip daddr { %s } drop; }
		chain input { type filter hook input priority 0; ip saddr { %s } drop; }
	}`, table, set, set)
	return inNetwork(ctx, pod, rules)
}

// Heal removes the rules of Cut. A pod that was re-created has none.
func Heal(ctx context.Context, pod *corev1.Pod) error {
	return inNetwork(ctx, pod, "table "+table+"\ndelete table "+table+"\n")
}

// ErrGone reports that a pod has no processes any more.
var ErrGone = errors.New("the pod has ended")

func inNetwork(ctx context.Context, pod *corev1.Pod, rules string) error {
	processes, err := inCgroup("pod" + string(pod.UID))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	nft := exec.CommandContext(ctx, "nsenter", "--net", "--target", strconv.Itoa(processes[0].PID), "nft", "--file", "-")
	nft.Stdin = strings.NewReader(rules)
	if text, err := nft.CombinedOutput(); err != nil {
		return fmt.Errorf("nft in the network of %s: %w: %s", pod.Name, err, text)
	}
	return nil
}

// API returns the addresses of the API server, as pods see it.
func (l *Lab) API(ctx context.Context) ([]string, error) {
	service := &corev1.Service{}
	if err := l.Get(ctx, clientKey("default", "kubernetes"), service); err != nil {
		return nil, err
	}
	return service.Spec.ClusterIPs, nil
}

// Peers returns the addresses of the other members.
func (d *Database) Peers(ctx context.Context, member string) ([]string, error) {
	pods, err := d.Pods(ctx)
	var addresses []string
	for _, pod := range pods {
		if pod.Name != member && pod.Status.PodIP != "" {
			addresses = append(addresses, pod.Status.PodIP)
		}
	}
	return addresses, err
}
