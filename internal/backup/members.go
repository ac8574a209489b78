/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// way is how a member's data is reached.
type way int

const (
	// notYet: something has to change first.
	notYet way = iota
	// online: the member is ready, and is asked over the network.
	online
	// offline: the member does not run and will not again; its volume is mounted.
	offline
	// never: there is no data.
	never
)

// reach says how a member can be backed up, or why it cannot. A volume is mounted only where nobody can start the
// member again: the cluster is being deleted, the pod is gone, and its StatefulSet makes no other.
func reach(observed Observed, ordinal int32) (way, string) {
	cluster := observed.Cluster
	i := slices.IndexFunc(observed.Members, func(m state.Member) bool { return m.Ordinal == ordinal })
	switch {
	case i >= 0:
		return reachPod(observed, observed.Members[i])
	case cluster.DeletionTimestamp != nil && ordinal >= observed.Makes:
		return mounted(observed, ordinal)
	case cluster.DeletionTimestamp == nil && ordinal >= cluster.Spec.Replicas:
		return never, fmt.Sprintf("spec.replicas of DatabaseCluster %s was lowered to %d before member %d was backed up", cluster.Name, cluster.Spec.Replicas, ordinal+1)
	default:
		return notYet, unready(cluster, state.Member{Name: naming.Member(cluster.Name, ordinal)})
	}
}

// reachPod is the way to a member whose pod exists.
func reachPod(observed Observed, member state.Member) (way, string) {
	switch {
	case !member.Serving(observed.At):
		return notYet, unready(observed.Cluster, member)
	case observed.mixed():
		return notYet, fmt.Sprintf("waiting for the rollout of DatabaseCluster %s: its members run different images until it is done", observed.Cluster.Name)
	default:
		return online, ""
	}
}

// mixed tells whether the members of a cluster that is not being deleted run different images: a backup names one.
func (o Observed) mixed() bool {
	return o.Cluster.DeletionTimestamp == nil && slices.ContainsFunc(o.Members, func(m state.Member) bool { return m.Image != o.Members[0].Image })
}

// unready says what a member that is not ready waits for.
func unready(cluster *dbv1.DatabaseCluster, member state.Member) string {
	switch {
	case cluster.DeletionTimestamp != nil:
		return fmt.Sprintf("waiting for pod %s to be ready, or to have stopped for good, as the deletion of DatabaseCluster %s goes on", member.Name, cluster.Name)
	case cluster.Spec.Hibernated:
		return fmt.Sprintf("waiting for pod %s to be ready: spec.hibernated of DatabaseCluster %s is true", member.Name, cluster.Name)
	case member.Problem != "":
		return fmt.Sprintf("waiting for pod %s to be ready: %s", member.Name, member.Problem)
	default:
		return fmt.Sprintf("waiting for pod %s to be ready", member.Name)
	}
}

// mounted is the way to a member that is gone: an ephemeral volume went with it. Two databases on one volume would
// destroy it, so nobody else may use it, whoever that is.
func mounted(observed Observed, ordinal int32) (way, string) {
	cluster := observed.Cluster
	claim := naming.Claim(cluster.Name, ordinal)
	if ephemeral := cluster.Spec.Storage.Ephemeral; ephemeral != nil && *ephemeral {
		return never, fmt.Sprintf("pod %s is gone, and its data with it: spec.storage.ephemeral of DatabaseCluster %s is true",
			naming.Member(cluster.Name, ordinal), cluster.Name)
	}
	if pod := observed.Users[claim]; pod != "" {
		return notYet, fmt.Sprintf("waiting for pod %s to end: it uses PersistentVolumeClaim %s, which is to be backed up", pod, claim)
	}
	if text := dataless(observed, claim); text != "" {
		return never, text
	}
	return offline, ""
}

// dataless says why a claim holds nothing to back up; "" where it may. That is known only from a look at the API server
// itself.
func dataless(observed Observed, claim string) string {
	if observed.Volumes == nil {
		return ""
	}
	switch volume, found := observed.Volumes[claim]; {
	case !found:
		return fmt.Sprintf("PersistentVolumeClaim %s does not exist, and the data of that member with it", claim)
	case volume.Cluster != "" && volume.Cluster != observed.Cluster.UID:
		return fmt.Sprintf("PersistentVolumeClaim %s is of an earlier DatabaseCluster %s: what it holds is no data of this one", claim, observed.Cluster.Name)
	case volume.Cluster == "" && observed.Foreign:
		return fmt.Sprintf("PersistentVolumeClaim %s does not say that it is of DatabaseCluster %s, and StatefulSet %s is somebody else's: what it holds may be, too",
			claim, observed.Cluster.Name, naming.StatefulSet(observed.Cluster.Name))
	case volume.Fill == state.Filling:
		return fmt.Sprintf("PersistentVolumeClaim %s holds a part of another backup: the restore into it never came to its end", claim)
	case volume.Engine != "" && volume.Engine != observed.Cluster.Spec.Engine:
		return fmt.Sprintf("PersistentVolumeClaim %s holds data of engine %q, and spec.engine of DatabaseCluster %s is %q, so a backup would not hold that data: "+
			"set spec.engine to %q, or, where the data is of the other engine after all, set the claim's annotation %s to that",
			claim, volume.Engine, observed.Cluster.Name, observed.Cluster.Spec.Engine, volume.Engine, dbv1.AnnotationEngine)
	default:
		return ""
	}
}

// next is the first member that is not backed up yet; ok is false when all are.
func next(status dbv1.DatabaseBackupStatus) (ordinal int32, ok bool) {
	for ordinal := range status.Members {
		if !slices.ContainsFunc(status.Streams, func(s dbv1.BackupStream) bool { return s.Ordinal == ordinal }) {
			return ordinal, true
		}
	}
	return 0, false
}
