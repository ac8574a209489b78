/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// refuses checks that the condition Available explains why no client can write.
func refuses(cause string) world.Step {
	return world.Step{What: "Available names the cause", Do: func(w *world.World) {
		available := meta.FindStatusCondition(w.Cluster().Status.Conditions, dbv1.ConditionAvailable)
		if available.Reason != dbv1.ReasonWritesRefused || available.Message != cause {
			w.Breaks("Available has the reason %s: %s", available.Reason, available.Message)
		}
	}}
}

// pressure checks the reason of the condition DiskPressure.
func pressure(reason string) world.Step {
	return world.Step{What: "DiskPressure has the reason " + reason, Do: func(w *world.World) {
		is := meta.FindStatusCondition(w.Cluster().Status.Conditions, dbv1.ConditionDiskPressure)
		if is == nil || is.Reason != reason {
			w.Breaks("DiskPressure is %+v", is)
		}
	}}
}

// fullSequences test members without space to write.
var fullSequences = []world.Story{
	world.Tell("pair-full",
		createPair(world.SyncEngine), world.FillVolume("orders-0"), refuses("pod orders-0 accepts no writes: the data volume is full. Raise spec.storage.size."), grow("2Gi"),
	),
	world.Tell("pair-fills",
		createPair(world.SyncEngine, func(c *dbv1.DatabaseCluster) {
			c.Spec.Storage.AutoGrow = &dbv1.ClusterAutoGrow{Limit: resource.MustParse("2Gi")}
		}),
		world.UseVolume("orders-1", 85), world.UseVolume("orders-0", 97),
	),
	world.Tell("pair-fills-without-growth",
		createPair(world.SyncEngine, func(c *dbv1.DatabaseCluster) { c.Spec.Storage.Usage = dbv1.StorageUsageMeasured }),
		world.UseVolume("orders-0", 97), pressure(dbv1.ReasonReadOnly), grow("2Gi"), pressure(dbv1.ReasonEnoughSpace),
	),
	world.Tell("voters-full",
		createVoters(), world.FillVolume("orders-1"), refuses("pod orders-0 accepts no writes: the data volume is full. Raise spec.storage.size."), grow("2Gi"),
	),
}
