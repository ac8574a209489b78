/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/bundle/checks"
)

// always are the conditions of every DatabaseCluster; askedFor are those that a field of the spec adds.
var (
	always = []string{dbv1.ConditionReady, dbv1.ConditionAvailable, dbv1.ConditionProgressing, dbv1.ConditionDegraded,
		dbv1.ConditionStalled}
	askedFor = []string{dbv1.ConditionBackupHealthy, dbv1.ConditionBackupVerified, dbv1.ConditionContinuousArchiving,
		dbv1.ConditionProtectionEnforced}
	ofABackup = []string{dbv1.ConditionReady, dbv1.ConditionStalled}
)

// skew is the maximum difference between the clocks of two nodes.
const skew = time.Minute

// step is a change of a cluster and the condition that it must make True. From then on the condition exists.
type step struct {
	becomes string
	change  func(*dbv1.DatabaseCluster)
}

var steps = []step{
	{dbv1.ConditionPaused, func(c *dbv1.DatabaseCluster) { c.Spec.Paused = true }},
	{dbv1.ConditionHibernated, func(c *dbv1.DatabaseCluster) { c.Spec.Paused, c.Spec.Hibernated = false, true }},
}

// conditionsAreComplete applies the options of the spec to a cluster of one member, up to a blocked deletion. It checks
// all conditions after each step.
func (w *world) conditionsAreComplete(ctx context.Context) error {
	cluster, err := w.database(ctx, w.name, dbv1.ConditionReady, func(c *dbv1.DatabaseCluster) { c.Spec.Deletion.Protection = true })
	if err != nil {
		return err
	}
	types := slices.Concat(always, askedFor)
	if err := complete(cluster, types); err != nil {
		return err
	}
	for _, step := range steps {
		types = append(types, step.becomes)
		if err := w.change(ctx, cluster, step.change); err != nil {
			return err
		}
		if err := w.reaches(ctx, cluster, step.becomes, types); err != nil {
			return err
		}
	}
	return w.deletionIsBlocked(ctx, cluster, types)
}

// deletionIsBlocked deletes a cluster whose hook fails. The deletion is blocked until the test skips the hook.
func (w *world) deletionIsBlocked(ctx context.Context, cluster *dbv1.DatabaseCluster, types []string) error {
	err := w.change(ctx, cluster, func(c *dbv1.DatabaseCluster) {
		c.Spec.Deletion.Protection = false
		// The exit code 30 means: no further attempt.
		c.Spec.Deletion.Hooks = []dbv1.DeletionHook{{Name: "never", Type: dbv1.HookCommand, Command: []string{"sh", "-c", "exit 30"}}}
	})
	if err != nil {
		return err
	}
	if err := w.remove(ctx, cluster); err != nil {
		return err
	}
	if err := w.reaches(ctx, cluster, dbv1.ConditionDeletionBlocked, append(types, dbv1.ConditionDeletionBlocked)); err != nil {
		return err
	}
	return w.let(ctx, cluster)
}

// reaches waits until a condition is True, and then checks all conditions.
func (w *world) reaches(ctx context.Context, object client.Object, becomes string, types []string) error {
	if err := w.turns(ctx, object, becomes); err != nil {
		return err
	}
	return complete(object, types)
}

// complete returns the missing and incomplete conditions of a cluster or a backup.
func complete(object client.Object, types []string) error {
	problems := checks.Conditions(conditionsOf(object), types, object.GetGeneration(), time.Now().Add(skew))
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", called(object), strings.Join(problems, "; "))
}
