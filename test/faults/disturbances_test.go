//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// contestant is a DatabaseCluster, bare Patroni with the usual commands of its administrator, or a Cluster of CloudNativePG with those of
// its plugin for kubectl.
type contestant interface {
	DB() *lab.Database
	// HandOver promotes a member.
	HandOver(ctx context.Context, to string) error
	// Restart restarts all members one by one.
	Restart(ctx context.Context) error
	// Parameter changes a parameter that needs a restart.
	Parameter(ctx context.Context, name, value string) error
	Scale(ctx context.Context, members int) error
	// AwaitReady waits until everything that a disturbance started has ended.
	AwaitReady(ctx context.Context) error
}

// disturbance is done to both contestants. It returns when the effect is visible.
type disturbance struct {
	name string
	// before and after are not measured.
	before, do, after func(context.Context, contestant) error
}

var disturbances = []disturbance{
	{name: "switchover", do: handOver},
	{name: "delete-grace", do: deleted(-1)},
	{name: "delete-force", do: deleted(0)},
	{name: "kill-postgres", do: killedByHand},
	{name: "rolling-restart", do: restart},
	{name: "parameter-restart", do: changeParameter},
	{name: "scale-in-of-primary", before: lastIsPrimary, do: scale(2), after: scale(3)},
}

func handOver(ctx context.Context, c contestant) error {
	replicas, err := c.DB().Replicas(ctx)
	if err != nil || len(replicas) == 0 {
		return fmt.Errorf("no replica is ready: %w", err)
	}
	return isPrimary(ctx, c, replicas[0].Name)
}

func isPrimary(ctx context.Context, c contestant, pod string) error {
	if primary, err := c.DB().Primary(ctx); err == nil && primary.Name == pod {
		return nil
	}
	if err := c.HandOver(ctx, pod); err != nil {
		return err
	}
	return lab.Await(ctx, pod+" to be the primary", func() bool {
		primary, err := c.DB().Primary(ctx)
		return err == nil && primary.Name == pod
	})
}

func lastIsPrimary(ctx context.Context, c contestant) error {
	return isPrimary(ctx, c, fmt.Sprintf("%s-%d", c.DB().Name, c.DB().Members-1))
}

func deleted(grace int64) func(context.Context, contestant) error {
	return func(ctx context.Context, c contestant) error {
		primary, err := c.DB().Primary(ctx)
		if err != nil {
			return err
		}
		return c.DB().DeletePod(ctx, primary, grace)
	}
}

func killedByHand(ctx context.Context, c contestant) error {
	primary, err := c.DB().Primary(ctx)
	if err != nil {
		return err
	}
	return lab.Signal(primary, syscall.SIGKILL, lab.Postmaster)
}

func restart(ctx context.Context, c contestant) error {
	before, err := c.DB().UIDs(ctx)
	if err != nil {
		return err
	}
	if err := c.Restart(ctx); err != nil {
		return err
	}
	return lab.Await(ctx, "all members to be replaced", func() bool {
		now, err := c.DB().UIDs(ctx)
		return err == nil && len(now) == len(before) && !slices.ContainsFunc(now, func(uid string) bool { return slices.Contains(before, uid) })
	})
}

func changeParameter(ctx context.Context, c contestant) error {
	value := fmt.Sprintf("%dkB", 32768+8*(time.Now().Unix()%1000)) // another one each time
	if err := c.Parameter(ctx, "shared_buffers", value); err != nil {
		return err
	}
	return lab.Await(ctx, "the primary to have shared_buffers="+value, func() bool {
		primary, err := c.DB().Primary(ctx)
		if err != nil {
			return false
		}
		text, err := c.DB().SQL(ctx, primary.Name, "SELECT setting::int * 8 || 'kB' FROM pg_settings WHERE name = 'shared_buffers'")
		return err == nil && text == value
	})
}

func scale(members int) func(context.Context, contestant) error {
	return func(ctx context.Context, c contestant) error { return c.Scale(ctx, members) }
}
