/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
)

// listSequences change the number of members while the list of voters stays as it is.
var listSequences = []world.Story{
	world.Tell("voters-hibernate-scale-in", createVoters(), scale(5), hibernate(true), scale(3), hibernate(false), image("database:2")),
	world.Tell("voters-hibernate-to-one", createVoters(), hibernate(true), scale(1), hibernate(false)),
	world.Tell("voters-hibernate-scale-out", createVoters(), hibernate(true), scale(5), hibernate(false)),
	world.Tell("voters-hibernate-after-scale-in", createVoters(), scale(5), scale(3), hibernate(true), hibernate(false), scale(5)),
	world.Tell("voters-hibernate-during-scale-in", createVoters(), scale(5), soon(5, scale(3)), hibernate(true), hibernate(false)),
	world.Tell("voters-lose-claims-while-hibernated",
		createVoters(), scale(5), hibernate(true), deleteClaim("data-orders-3"), deleteClaim("data-orders-4"), scale(3), hibernate(false), image("database:2"),
	),
	world.Tell("voters-next-cluster-is-smaller", createVoters(), scale(5), remove(), told(createVoters())),
	world.Tell("voters-next-cluster-after-scale-in", createVoters(), scale(5), scale(3), remove(), told(createVoters())),
	world.Tell("voters-pause-during-scale-in", createVoters(), soon(3, scale(1)), pause(true), pause(false)),
	world.Tell("voters-rebuild-the-first", createVoters(), scale(5), scale(3), rebuild("orders-0"), hibernate(true), scale(1), hibernate(false)),
}

// listMutants are mistakes about the voters that do not run.
var listMutants = map[string]mutant{
	"spec.replicas counts instead of the voters": {
		seenVoters(onlyWanted), "voters-hibernate-scale-in", "then 2 of 5 voters are left",
	},
	"a cluster forgets the voters of the previous one": {
		seenVoters(onlyWanted), "voters-next-cluster-is-smaller", "pod orders-3 is a voter, but does not exist",
	},
	"a cluster that wakes up as one member forgets the others": {
		seenVoters(onlyWanted), "voters-hibernate-to-one", "pod orders-0 is not ready",
	},
	"members that have left count as voters": {
		seenVoters(func(c *dbv1.DatabaseCluster, claims int, recorded int32) int32 {
			if c.Spec.Replicas == 5 && claims == 5 && recorded == 3 {
				return 5
			}
			return recorded
		}),
		"voters-hibernate-after-scale-in", "pods orders-3 and orders-4 join the voters at the same time",
	},
	"a member counts as forgotten when the Job has started": {
		roleMutants["a member counts as removed when the Job has started"].mistake,
		"voters-lose-claims-while-hibernated", "claim data-orders-0 records 4 voters, but pod orders-4 is one",
	},
}

// onlyWanted counts no more voters than the cluster should have members.
func onlyWanted(cluster *dbv1.DatabaseCluster, _ int, recorded int32) int32 {
	return min(recorded, cluster.Spec.Replicas)
}

// seenVoters is an operator that reads another number of voters than claim 0 records.
func seenVoters(change func(cluster *dbv1.DatabaseCluster, claims int, recorded int32) int32) interceptor.Funcs {
	return seenClaims(func(cluster *dbv1.DatabaseCluster, claims []corev1.PersistentVolumeClaim) {
		for i := range claims {
			notes := claims[i].Annotations
			if recorded, none := strconv.ParseInt(notes[dbv1.AnnotationVoters], 10, 32); none == nil {
				notes[dbv1.AnnotationVoters] = fmt.Sprint(change(cluster, len(claims), int32(recorded)))
			}
		}
	})
}

func init() { maps.Copy(dataMutants, listMutants) }
