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

// always are the conditions of every DatabaseCluster; askedFor are those that a field of the spec brings about.
var (
	always    = []string{dbv1.ConditionReady, dbv1.ConditionAvailable, dbv1.ConditionProgressing, dbv1.ConditionDegraded, dbv1.ConditionStalled}
	askedFor  = []string{dbv1.ConditionBackupHealthy, dbv1.ConditionBackupVerified, dbv1.ConditionProtectionEnforced}
	ofABackup = []string{dbv1.ConditionReady, dbv1.ConditionStalled}
)

// skew is how far the clocks of two nodes may be apart.
const skew = time.Minute

// step is a change of a cluster, and the condition that it has to make True. That is there from then on.
type step struct {
	becomes string
	change  func(*dbv1.DatabaseCluster)
}

var steps = []step{
	{dbv1.ConditionPaused, func(c *dbv1.DatabaseCluster) { c.Spec.Paused = true }},
	{dbv1.ConditionHibernated, func(c *dbv1.DatabaseCluster) { c.Spec.Paused, c.Spec.Hibernated = false, true }},
}

// conditionsAreComplete leads a cluster of one member through what its spec can ask for, to a deletion that is blocked,
// and looks at all conditions each time.
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

// deletionIsBlocked deletes a cluster whose hook fails, until somebody lets it go.
func (w *world) deletionIsBlocked(ctx context.Context, cluster *dbv1.DatabaseCluster, types []string) error {
	err := w.change(ctx, cluster, func(c *dbv1.DatabaseCluster) {
		c.Spec.Deletion.Protection = false
		// 30 is the exit code of what must not be tried again.
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

// reaches waits until a condition is True, and looks at all conditions then.
func (w *world) reaches(ctx context.Context, object client.Object, becomes string, types []string) error {
	if err := w.turns(ctx, object, becomes); err != nil {
		return err
	}
	return complete(object, types)
}

// complete tells what the conditions of a cluster or a backup lack.
func complete(object client.Object, types []string) error {
	problems := checks.Conditions(conditionsOf(object), types, object.GetGeneration(), time.Now().Add(skew))
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", called(object), strings.Join(problems, "; "))
}
