//go:build conformance

/*
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// target is the member that a fault hits: the primary, or the one to which the client writes.
func (t *trial) target(ctx context.Context) (*corev1.Pod, error) { return t.targetOf(ctx, t.Cluster) }

func (t *trial) targetOf(ctx context.Context, cluster *lab.Cluster) (*corev1.Pod, error) {
	if t.engine.Spec.Roles != nil {
		return cluster.Primary(ctx)
	}
	return cluster.Pod(ctx, cluster.Member(0))
}

// restarted waits until the container of a member has another life.
func (t *trial) restarted(ctx context.Context, pod *corev1.Pod) error {
	return lab.Await(ctx, pod.Name+" to be ended by the kubelet and started again", func() bool {
		now, err := t.Pod(ctx, pod.Name)
		return err == nil && (now.UID != pod.UID || life(now) != life(pod))
	})
}

// life is the ID of the container of the database.
func life(pod *corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == "database" && status.State.Running != nil {
			return status.ContainerID
		}
	}
	return ""
}

func kill(ctx context.Context, t *trial) (string, error) {
	pod, err := t.target(ctx)
	if err != nil {
		return "", err
	}
	start := time.Now()
	if err := errors.Join(lab.Signal(pod, syscall.SIGKILL, lab.Main), t.restarted(ctx, pod)); err != nil {
		return "", err
	}
	took := time.Since(start)
	seen, err := t.recovers(ctx)
	return fmt.Sprintf("%s runs again after %.0f s: %s", pod.Name, took.Seconds(), seen), err
}

// freeze stops all processes of a member. The kubelet must end it or, without a livenessProbe, see that it is not ready. With
// roles, a member is the primary soon afterward: another one, or the same one if its next life begins before the lock expires.
func freeze(ctx context.Context, t *trial) (string, error) {
	pod, err := t.target(ctx)
	if err != nil {
		return "", err
	}
	if t.engine.Spec.Container.LivenessProbe == nil {
		return t.freezeForAWhile(ctx, pod)
	}
	start := time.Now()
	if err := errors.Join(lab.Signal(pod, syscall.SIGSTOP, lab.Any), t.restarted(ctx, pod)); err != nil {
		return "", err
	}
	ended := fmt.Sprintf("the kubelet ended %s after %.0f s", pod.Name, time.Since(start).Seconds())
	if t.engine.Spec.Roles != nil {
		var primary *corev1.Pod
		err := lab.Await(ctx, "a primary", func() bool {
			primary, err = t.Primary(ctx)
			return err == nil && (primary.Name != pod.Name || life(primary) != life(pod))
		})
		if err != nil {
			return "", err
		}
		ended += fmt.Sprintf(", and %s is the primary after %.0f s", primary.Name, time.Since(start).Seconds())
	}
	seen, err := t.recovers(ctx)
	return ended + ": " + seen, err
}

// freezeForAWhile freezes a member until it is not ready, so that the Service does not send clients to it.
func (t *trial) freezeForAWhile(ctx context.Context, pod *corev1.Pod) (string, error) {
	start := time.Now()
	if err := lab.Signal(pod, syscall.SIGSTOP, lab.Any); err != nil {
		return "", err
	}
	unready := lab.Await(ctx, pod.Name+" to be not ready", func() bool {
		now, err := t.Pod(ctx, pod.Name)
		return err == nil && !lab.Ready(now)
	})
	took := time.Since(start)
	if err := errors.Join(unready, lab.Signal(pod, syscall.SIGCONT, lab.Any)); err != nil {
		return "", err
	}
	seen, err := t.recovers(ctx)
	return fmt.Sprintf("%s is not ready after %.0f s; without a livenessProbe nothing ends it; it continues: %s", pod.Name, took.Seconds(), seen), err
}

func deleteByForce(ctx context.Context, t *trial) (string, error) {
	pod, err := t.target(ctx)
	if err != nil {
		return "", err
	}
	if err := errors.Join(t.DeletePod(ctx, pod, 0), t.replaced(ctx, pod)); err != nil {
		return "", err
	}
	seen, err := t.recovers(ctx)
	return fmt.Sprintf("%s: %s", pod.Name, seen), err
}
