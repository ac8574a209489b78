/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// loopWait is longer than Patroni's loop_wait: by then, members know a new configuration.
const loopWait = 6 * time.Second

// patronictl runs Patroni's own tool in a replica.
func (b *Bare) patronictl(ctx context.Context, arguments ...string) error {
	pods, err := b.Replicas(ctx)
	if err != nil || len(pods) == 0 {
		return fmt.Errorf("no replica is ready: %w", err)
	}
	_, err = b.Exec(ctx, pods[0].Name, container, append([]string{"patronictl"}, arguments...)...)
	return err
}

// editConfig changes a setting. patronictl gives up when Patroni itself changes the configuration at the same time.
func (b *Bare) editConfig(ctx context.Context, flag, setting string) error {
	var err error
	for range 5 {
		if err = b.patronictl(ctx, "edit-config", b.Name, "--force", "--quiet", flag, setting); err == nil {
			time.Sleep(loopWait)
			return nil
		}
		time.Sleep(time.Second)
	}
	return err
}

// HandOver promotes a member. Patroni hands over only to a synchronous replica if there is one, so all are
// synchronous until then.
func (b *Bare) HandOver(ctx context.Context, to string) error {
	from, err := b.Primary(ctx)
	if err != nil {
		return err
	}
	if err := b.editConfig(ctx, "--set", "synchronous_node_count=2"); err != nil {
		return err
	}
	if err := b.patronictl(ctx, "switchover", b.Name, "--leader", from.Name, "--candidate", to, "--force"); err != nil {
		return err
	}
	return b.editConfig(ctx, "--set", "synchronous_node_count=null")
}

// Restart restarts all members by a rollout of the StatefulSet.
func (b *Bare) Restart(ctx context.Context) error {
	return b.patch(ctx, fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"restarted":"%d"}}}}}`, time.Now().UnixNano()))
}

// Parameter changes a parameter of PostgreSQL, and restarts the servers that need it.
func (b *Bare) Parameter(ctx context.Context, name, value string) error {
	if err := b.editConfig(ctx, "--pg", name+"="+value); err != nil {
		return err
	}
	return b.patronictl(ctx, "restart", b.Name, "--pending", "--force")
}

// Scale changes the number of members.
func (b *Bare) Scale(ctx context.Context, members int) error {
	b.Members = members
	return b.patch(ctx, fmt.Sprintf(`{"spec":{"replicas":%d}}`, members))
}

func (b *Bare) patch(ctx context.Context, change string) error {
	return b.Patch(ctx, &appsv1.StatefulSet{ObjectMeta: b.meta(b.Name)}, client.RawPatch("application/merge-patch+json", []byte(change)))
}

// AwaitReady waits until the StatefulSet has rolled out, and all members are healthy.
func (b *Bare) AwaitReady(ctx context.Context) error {
	return Await(ctx, b.Name+" to be healthy", func() bool {
		set := &appsv1.StatefulSet{}
		err := b.Get(ctx, b.key(b.Name), set)
		return err == nil && set.Status.ObservedGeneration == set.Generation && set.Status.UpdateRevision == set.Status.CurrentRevision &&
			b.Healthy(ctx)
	})
}
