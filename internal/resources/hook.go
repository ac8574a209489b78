/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// HookJob runs a deletion hook of type Command.
func HookJob(cluster *dbv1.DatabaseCluster, hook dbv1.DeletionHook) objects.Child {
	return jobs.Build(cluster, jobs.Spec{
		Name:      naming.HookJob(cluster.Name, hook.Name, cluster.UID),
		Component: dbv1.ComponentHook,
		Command:   hook.Command,
		Resources: hook.Resources,
	})
}
