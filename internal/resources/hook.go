/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// HookAction is the kind of the Jobs of deletion hooks.
var HookAction = jobs.ActionKind{Component: dbv1.ComponentHook, Retries: 2, Deadline: hookDeadline, Connects: true}

func hookDeadline(cluster *dbv1.DatabaseCluster) time.Duration {
	return time.Duration(cluster.Spec.Deletion.HookDeadlineSeconds) * time.Second
}

// HookJob runs a deletion hook of type Command.
func HookJob(cluster *dbv1.DatabaseCluster, hook dbv1.DeletionHook) objects.Child {
	return jobs.Build(cluster, jobs.Spec{
		Name:      naming.HookJob(cluster.Name, hook.Name, cluster.UID),
		Kind:      HookAction,
		Command:   hook.Command,
		Resources: hook.Resources,
	})
}
