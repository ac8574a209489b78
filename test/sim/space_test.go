/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

func growing(c *dbv1.DatabaseCluster) {
	c.Spec.Storage.AutoGrow = &dbv1.ClusterAutoGrow{Limit: resource.MustParse("4Gi")}
}

// growByHand is a user who enlarges the volumes, and not the spec.
func growByHand(size string) world.Step {
	return world.Step{What: "a user sets the size of the claims to " + size, Do: func(w *world.World) {
		for ordinal := range w.Cluster().Spec.Replicas {
			claim := w.Claim(ordinal)
			claim.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(size)
			w.Store.Put(claim)
		}
	}}
}

func withUse(c *dbv1.DatabaseCluster) { c.Spec.Storage.Usage = dbv1.StorageUsageMeasured }

// protectFails lets the action protect fail.
func protectFails(times int) world.Step {
	return world.GoesWrong(world.Trouble{Verb: "hook", About: "protect", Code: 30, Times: times})
}

// spaceSequences test how volumes grow, and the protection of a database whose volume is nearly full, beside other events.
var spaceSequences = []world.Story{
	world.Tell("protect-fails-twice",
		createPair(world.SyncEngine, withUse), protectFails(2), world.UseVolume("orders-0", 97), pressure(dbv1.ReasonReadOnly), refuses(
			"transactions are read-only, because PersistentVolumeClaim data-orders-0 was used to 97% at 2026-01-01T00:00:15Z"),
	),
	world.Tell("protect-lift-fails-twice",
		createPair(world.SyncEngine, withUse), world.UseVolume("orders-0", 97), protectFails(2), grow("2Gi"), pressure(dbv1.ReasonEnoughSpace),
	),
	world.Tell("protect-and-another-primary",
		createPair(world.SyncEngine, withUse), world.UseVolume("orders-0", 97), together(world.Freeze("orders-0"), world.UseVolume("orders-1", 97), world.UseVolume("orders-2", 97)),
		world.Thaw("orders-0"), pressure(dbv1.ReasonReadOnly), grow("2Gi"), pressure(dbv1.ReasonEnoughSpace),
	),
	world.Tell("protect-and-a-primary-with-space",
		createPair(world.SyncEngine, withUse), world.UseVolume("orders-0", 97), world.Freeze("orders-0"), world.Thaw("orders-0"),
	),
	world.Tell("protect-and-the-next-cluster",
		createPair(world.SyncEngine, withUse), world.UseVolume("orders-0", 97), remove(), told(createPair(world.SyncEngine)),
	),
	world.Tell("grows-after-a-growth-by-hand",
		createPair(world.SyncEngine, growing), growByHand("2Gi"), world.UseVolume("orders-0", 85), pressure(dbv1.ReasonEnoughSpace),
	),
	world.Tell("grows-in-vain",
		createPair(world.SyncEngine, func(c *dbv1.DatabaseCluster) {
			c.Spec.Storage.Size = resource.MustParse("60Gi")
			c.Spec.Storage.AutoGrow = &dbv1.ClusterAutoGrow{Limit: resource.MustParse("200Gi"), ByPercent: 100}
		}),
		world.UseVolume("orders-0", 85), pressure(dbv1.ReasonCannotExpand), world.At(7*time.Hour), pressure(dbv1.ReasonCannotExpand),
	),
}
