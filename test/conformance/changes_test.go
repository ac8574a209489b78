//go:build conformance

/*
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// recovers waits until the cluster is ready, clients write again, and no acknowledged row is lost.
func (t *trial) recovers(ctx context.Context) (string, error) {
	start := time.Now()
	if err := t.AwaitReady(ctx); err != nil {
		return "", fmt.Errorf("%w\n%s", err, t.Conditions(ctx))
	}
	if err := t.progresses(ctx); err != nil {
		return "", err
	}
	rows := ""
	if t.visitor != nil {
		var err error
		if rows, err = t.visitor.keeps(ctx); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("Ready and written to after another %.0f s%s", time.Since(start).Seconds(), rows), nil
}

// replica is a member that is not the primary, with the highest number.
func (t *trial) replica(ctx context.Context) (*corev1.Pod, error) {
	pods, err := t.Replicas(ctx)
	if err != nil || len(pods) == 0 {
		return nil, fmt.Errorf("no replica is ready: %w", err)
	}
	return &pods[len(pods)-1], nil
}

// replaced waits until a member has another pod.
func (t *trial) replaced(ctx context.Context, pod *corev1.Pod) error {
	return lab.Await(ctx, "another pod "+pod.Name, func() bool {
		now, err := t.Pod(ctx, pod.Name)
		return err == nil && now.UID != pod.UID
	})
}

func join(ctx context.Context, t *trial) (string, error) {
	pod, err := t.replica(ctx)
	if err != nil {
		return "", err
	}
	claim := &corev1.PersistentVolumeClaim{}
	claim.Namespace, claim.Name = pod.Namespace, "data-"+pod.Name
	start := time.Now()
	if err := errors.Join(t.Delete(ctx, claim), t.DeletePod(ctx, pod, 1), t.replaced(ctx, pod)); err != nil {
		return "", err
	}
	seen, err := t.recovers(ctx)
	return fmt.Sprintf("%s lost its volume and copied the data within %.0f s: %s", pod.Name, time.Since(start).Seconds(), seen), err
}

func handOver(ctx context.Context, t *trial) (string, error) {
	pod, err := t.replica(ctx)
	if err != nil {
		return "", err
	}
	start := time.Now()
	if err := t.leads(ctx, pod.Name); err != nil {
		return "", err
	}
	took := time.Since(start)
	seen, err := t.recovers(ctx)
	return fmt.Sprintf("%s is the primary after %.0f s: %s", pod.Name, took.Seconds(), seen), err
}

// leads hands over to a member, and waits until it is the primary.
func (t *trial) leads(ctx context.Context, pod string) error {
	if primary, err := t.Primary(ctx); err == nil && primary.Name == pod {
		return nil
	}
	if err := t.HandOver(ctx, pod); err != nil {
		return err
	}
	return lab.Await(ctx, pod+" to be the primary", func() bool {
		primary, err := t.Primary(ctx)
		return err == nil && primary.Name == pod
	})
}

func rollout(ctx context.Context, t *trial) (string, error) {
	first, err := t.target(ctx)
	if err != nil {
		return "", err
	}
	before, err := t.UIDs(ctx)
	if err != nil {
		return "", err
	}
	start := time.Now()
	if err := t.Restart(ctx); err != nil {
		return "", err
	}
	var order []string
	err = lab.Await(ctx, "all members to be replaced", func() bool {
		pods, err := t.Pods(ctx)
		for _, pod := range pods {
			if !slices.Contains(before, string(pod.UID)) && !slices.Contains(order, pod.Name) {
				order = append(order, pod.Name)
			}
		}
		return err == nil && len(order) == len(before)
	})
	if err != nil {
		return "", err
	}
	if t.engine.Spec.Roles != nil && order[len(order)-1] != first.Name {
		return "", fmt.Errorf("the primary %s was not the last one: %v", first.Name, order)
	}
	took := time.Since(start)
	seen, err := t.recovers(ctx)
	return fmt.Sprintf("replaced %v within %.0f s: %s", order, took.Seconds(), seen), err
}

// scale adds members and removes them again. With roles, the primary is among those that leave.
func scale(ctx context.Context, t *trial) (string, error) {
	few, many := t.Members, t.Members+t.step()
	if err := t.Scale(ctx, many); err != nil {
		return "", err
	}
	out, err := t.recovers(ctx)
	if err != nil {
		return "", fmt.Errorf("%d members: %w", many, err)
	}
	if t.engine.Spec.Roles != nil {
		if err := t.leads(ctx, t.Member(many-1)); err != nil {
			return "", err
		}
		out += ", and the last member is the primary"
	}
	if err := t.Scale(ctx, few); err != nil {
		return "", err
	}
	in, err := t.recovers(ctx)
	return fmt.Sprintf("%d members: %s; %d members: %s", many, out, few, in), err
}

func hibernate(ctx context.Context, t *trial) (string, error) {
	if err := t.hibernated(ctx); err != nil {
		return "", err
	}
	if err := t.Spec(ctx, map[string]any{"hibernated": false}); err != nil {
		return "", err
	}
	return t.recovers(ctx)
}

// hibernated stops all members.
func (t *trial) hibernated(ctx context.Context) error {
	if err := t.Spec(ctx, map[string]any{"hibernated": true}); err != nil {
		return err
	}
	return lab.Await(ctx, "all members to stop", func() bool {
		pods, err := t.Pods(ctx)
		return err == nil && len(pods) == 0
	})
}

func parameter(ctx context.Context, t *trial) (string, error) {
	p := t.client.Parameter
	if err := t.Parameter(ctx, p.Name, p.Value); err != nil {
		return "", err
	}
	if err := t.inForce(ctx); err != nil {
		return "", err
	}
	seen, err := t.recovers(ctx)
	return fmt.Sprintf("each member reports %s=%s: %s", p.Name, p.Value, seen), err
}

// inForce waits until each member reports the value of the parameter.
func (t *trial) inForce(ctx context.Context) error {
	for ordinal := range t.Members {
		var got string
		var problem error
		err := lab.Await(ctx, "the parameter at "+t.Member(ordinal), func() bool {
			got, problem = t.visitor.run(ctx, t.Host(ordinal), t.client.Parameter.Show)
			return problem == nil && got == t.client.Parameter.Value
		})
		switch {
		case problem != nil:
			return fmt.Errorf("%w: show fails: %w", err, problem)
		case err != nil:
			return fmt.Errorf("%w: show prints %q, but the client file has the value %q", err, got, t.client.Parameter.Value)
		}
	}
	return nil
}

// badParameter sets a value that the engine refuses: the cluster is Stalled, and members run on with the previous value.
func badParameter(ctx context.Context, t *trial) (string, error) {
	p := t.client.Parameter
	if err := errors.Join(t.Parameter(ctx, p.Name, p.Value), t.inForce(ctx), t.AwaitReady(ctx)); err != nil {
		return "", err
	}
	before, err := t.UIDs(ctx)
	if err != nil {
		return "", err
	}
	if err := t.Parameter(ctx, p.Name, p.Refused); err != nil {
		return "", err
	}
	var message string
	err = lab.Await(ctx, "the condition Stalled", func() bool {
		stalled := condition(ctx, t.Cluster, dbv1.ConditionStalled)
		if stalled != nil {
			message = stalled.Reason + ": " + stalled.Message
		}
		return stalled != nil && stalled.Status == "True"
	})
	if err != nil {
		return "", err
	}
	if err := errors.Join(t.inForce(ctx), t.Parameter(ctx, p.Name, p.Value)); err != nil {
		return "", err
	}
	if _, err := t.recovers(ctx); err != nil {
		return "", err
	}
	after, err := t.UIDs(ctx)
	if err == nil && !sameMembers(before, after) {
		err = errors.New("a member was restarted for the bad value")
	}
	return message, err
}

func sameMembers(before, after []string) bool {
	slices.Sort(before)
	slices.Sort(after)
	return slices.Equal(before, after)
}
