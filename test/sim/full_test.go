/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
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

// measurable lets the engine of a new cluster have the action measure.
func measurable(s world.Step) world.Step {
	do := s.Do
	s.Do = func(w *world.World) {
		declareShared(w, world.SyncEngine)
		e := store.Get[*dbv1.DatabaseEngine](w.Store, world.SyncEngine)
		e.Spec.Actions.Measure = &dbv1.EngineAction{Command: []string{"db", "measure"}}
		w.Store.Put(e)
		do(w)
	}
	return s
}

// causeSequences measure what fills a volume.
var causeSequences = []world.Story{
	world.Tell("pair-fills-by-a-slot",
		measurable(createPair(world.SyncEngine, func(c *dbv1.DatabaseCluster) {
			c.Spec.Storage.AutoGrow = &dbv1.ClusterAutoGrow{Limit: resource.MustParse("2Gi")}
		})),
		world.Prints(`{"data":104857600,"log":805306368,"keptFor":{"type":"Slot","name":"debezium","from":"0/16B3748"}}`),
		world.UseVolume("orders-1", 85), pressure(dbv1.ReasonEnoughSpace), world.UseVolume("orders-1", 85), pressure(dbv1.ReasonLogKept),
	),
	world.Tell("pair-fills-by-temporary-files",
		measurable(createPair(world.SyncEngine, func(c *dbv1.DatabaseCluster) { c.Spec.Storage.Usage = dbv1.StorageUsageMeasured })),
		world.Prints(`{"data":104857600,"log":16777216,"temporary":805306368}`),
		world.UseVolume("orders-0", 85), pressure(dbv1.ReasonFilling), world.UseVolume("orders-0", 20), pressure(dbv1.ReasonEnoughSpace),
	),
}
