/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// saveSequences test backups of members that have one database.
var saveSequences = []sequence{
	tell("pair-backup", told(createPair(pairEngine, saved)), backUp("first", dbv1.BackupRetain)),
	tell("pair-backup-stalled",
		told(createPair(pairEngine, saved)), stall("orders-1"), backUp("first", dbv1.BackupRetain), stall("orders-2"), backUp("second", dbv1.BackupRetain),
	),
	tell("pair-backup-without-primary",
		told(createPair(syncEngine, saved)), soon(5, stall("orders-1", "orders-2")), freeze("orders-0"), soon(30, backUp("first", dbv1.BackupRetain)), thaw("orders-0"),
	),
	tell("voters-backup", told(createVoters(saved)), freeze("orders-0"), soon(30, backUp("first", dbv1.BackupRetain)), thaw("orders-0")),
}

// saveMutants are mistakes with backups of members that have one database.
var saveMutants = map[string]mutant{
	"a replica that receives no rows counts as fresh": {
		seenPods(func(_ *dbv1.DatabaseCluster, members []corev1.Pod) {
			for i := range members {
				members[i].Annotations[dbv1.AnnotationStatus] = statusAt(near)
			}
		}),
		"pair-backup-stalled", "which lacks acknowledged rows",
	},
}

func init() { maps.Copy(dataMutants, saveMutants) }
