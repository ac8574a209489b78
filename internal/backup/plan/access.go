/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// reach says what keeps a member from being backed up, and how its data is reached: over the network while it is ready, or
// offline, on its volume. A volume is mounted only where nobody can start the member again: the cluster is being deleted, the
// pod is gone, and its StatefulSet makes no other.
func (s situation) reach(ordinal int32) (offline bool, o obstacle) {
	cluster := s.Cluster
	member, exists := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == ordinal })
	switch {
	case exists:
		return false, s.reachPod(member)
	case cluster.DeletionTimestamp != nil && ordinal >= s.Makes:
		return true, s.mounted(ordinal)
	case cluster.DeletionTimestamp == nil && ordinal >= cluster.Spec.Replicas:
		return false, never("spec.replicas of DatabaseCluster %s was lowered to %d before member %d was backed up", cluster.Name, cluster.Spec.Replicas, ordinal+1)
	default:
		return false, unready(cluster, state.Member{Name: naming.Member(cluster.Name, ordinal)})
	}
}

// reachPod is what keeps a member from being backed up whose pod exists.
func (s situation) reachPod(member state.Member) obstacle {
	switch {
	case !member.Serving(s.At):
		return unready(s.Cluster, member)
	case s.mixed():
		return waitFor("waiting for the rollout of DatabaseCluster %s: its members run different images until it is done", s.Cluster.Name)
	default:
		return obstacle{}
	}
}

// unready says what a member that is not ready waits for.
func unready(cluster *dbv1.DatabaseCluster, member state.Member) obstacle {
	switch {
	case cluster.DeletionTimestamp != nil:
		return waitFor("waiting for pod %s to be ready, or to have stopped for good, as the deletion of DatabaseCluster %s goes on", member.Name, cluster.Name)
	case cluster.Spec.Hibernated:
		return waitFor("waiting for pod %s to be ready: spec.hibernated of DatabaseCluster %s is true", member.Name, cluster.Name)
	case member.Problem != "":
		return waitFor("waiting for pod %s to be ready: %s", member.Name, member.Problem)
	default:
		return waitFor("waiting for pod %s to be ready", member.Name)
	}
}

// mounted is what keeps the volume of a member that is gone from being backed up: an ephemeral one went with it. Two databases
// on one volume would destroy it, so nobody else may use it, whoever that is.
func (s situation) mounted(ordinal int32) obstacle {
	cluster := s.Cluster
	claim := naming.Claim(cluster.Name, ordinal)
	if ephemeral := cluster.Spec.Storage.Ephemeral; ephemeral != nil && *ephemeral {
		return never("pod %s is gone, and its data with it: spec.storage.ephemeral of DatabaseCluster %s is true",
			naming.Member(cluster.Name, ordinal), cluster.Name)
	}
	if pod := s.Users[claim]; pod != "" {
		return waitFor("waiting for pod %s to end: it uses PersistentVolumeClaim %s, which is to be backed up", pod, claim)
	}
	if text := s.dataless(claim); text != "" {
		return never("%s", text)
	}
	return obstacle{}
}

// dataless says why a claim holds nothing to back up; "" where it may. That is known only from a look at the API server
// itself.
func (s situation) dataless(claim string) string {
	if s.Volumes == nil {
		return ""
	}
	switch volume, found := s.Volumes[claim]; {
	case !found:
		return fmt.Sprintf("PersistentVolumeClaim %s does not exist, and the data of that member with it", claim)
	case volume.Cluster != "" && volume.Cluster != s.Cluster.UID:
		return fmt.Sprintf("PersistentVolumeClaim %s is of an earlier DatabaseCluster %s: what it holds is no data of this one", claim, s.Cluster.Name)
	case volume.Cluster == "" && s.Foreign:
		return fmt.Sprintf("PersistentVolumeClaim %s does not say that it is of DatabaseCluster %s, and StatefulSet %s is somebody else's: what it holds may be, too",
			claim, s.Cluster.Name, naming.StatefulSet(s.Cluster.Name))
	case volume.Fill == state.Filling:
		return fmt.Sprintf("PersistentVolumeClaim %s holds a part of another backup: the restore into it never came to its end", claim)
	case volume.Engine != "" && volume.Engine != s.Cluster.Spec.Engine:
		return fmt.Sprintf("PersistentVolumeClaim %s holds data of engine %q, and spec.engine of DatabaseCluster %s is %q, so a backup would not hold that data: "+
			"set spec.engine to %q, or, where the data is of the other engine after all, set the claim's annotation %s to that",
			claim, volume.Engine, s.Cluster.Name, s.Cluster.Spec.Engine, volume.Engine, dbv1.AnnotationEngine)
	default:
		return ""
	}
}
