/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

func measured(c *dbv1.DatabaseCluster) { c.Spec.Storage.Usage = dbv1.StorageUsageMeasured }

// protectFails lets the action protect fail.
func protectFails(times int) world.Step {
	return world.GoesWrong(world.Trouble{Verb: "hook", About: "protect", Code: 30, Times: times})
}

// protectSequences test the protection of a database whose volume is nearly full, beside what happens to its members.
var protectSequences = []world.Story{
	world.Tell("protect-fails-twice",
		createPair(world.SyncEngine, measured), protectFails(2), world.UseVolume("orders-0", 97), pressure(dbv1.ReasonReadOnly), refuses(
			"transactions are read-only, because PersistentVolumeClaim data-orders-0 was used to 97% at 2026-01-01T00:00:15Z"),
	),
	world.Tell("protect-lift-fails-twice",
		createPair(world.SyncEngine, measured), world.UseVolume("orders-0", 97), protectFails(2), grow("2Gi"), pressure(dbv1.ReasonEnoughSpace),
	),
}
