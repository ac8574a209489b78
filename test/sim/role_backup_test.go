/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// saveSequences test backups of members that have one database.
var saveSequences = []world.Story{
	world.Tell("pair-backup", told(createPair(world.PairEngine, saved)), backUp("first", dbv1.BackupRetain)),
	world.Tell("pair-backup-stalled",
		told(createPair(world.PairEngine, saved)), world.Stall("orders-1"), backUp("first", dbv1.BackupRetain), world.Stall("orders-2"), backUp("second", dbv1.BackupRetain),
	),
	world.Tell("pair-backup-without-primary",
		told(createPair(world.SyncEngine, saved)), soon(5, world.Stall("orders-1", "orders-2")), world.Freeze("orders-0"), soon(30, backUp("first", dbv1.BackupRetain)), world.Thaw("orders-0"),
	),
	world.Tell("voters-backup", told(createVoters(saved)), world.Freeze("orders-0"), soon(30, backUp("first", dbv1.BackupRetain)), world.Thaw("orders-0")),
}

// saveMutants are mistakes with backups of members that have one database.
var saveMutants = map[string]mutant{
	"a replica that receives no rows counts as fresh": {
		seenPods(func(_ *dbv1.DatabaseCluster, members []corev1.Pod) {
			for i := range members {
				members[i].Annotations[dbv1.AnnotationStatus] = world.StatusAt(world.Near)
			}
		}),
		"pair-backup-stalled", "which lacks acknowledged rows",
	},
}

func init() { maps.Copy(dataMutants, saveMutants) }
