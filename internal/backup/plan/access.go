/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// reach returns how to access a member's data, or the reason why that is impossible now: over the network while the
// member is ready, or offline on its volume.
//
// A Job mounts a volume only if the member cannot start again: the cluster is being deleted, the pod no longer
// exists, and its StatefulSet re-creates none.
func (s situation) reach(ordinal int32) (offline bool, o obstacle) {
	cluster := s.Cluster
	member, exists := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == ordinal })
	switch {
	case exists:
		return false, s.reachPod(member)
	case cluster.DeletionTimestamp != nil && ordinal >= s.EndOrdinal:
		return true, s.mounted(ordinal)
	case cluster.DeletionTimestamp == nil && ordinal >= cluster.Spec.Replicas:
		return false, never("spec.replicas of DatabaseCluster %s was lowered to %d before member %d was backed up", cluster.Name,
			cluster.Spec.Replicas, ordinal+1)
	default:
		return false, unready(cluster, state.Member{Name: naming.Member(cluster.Name, ordinal)})
	}
}

// access returns the member from which a part is backed up, and how to access its data, or the reason why that is impossible now.
func (s situation) access(part int32) (source int32, offline bool, o obstacle) {
	if source, o = s.source(part); o.text == "" {
		offline, o = s.reach(source)
	}
	return source, offline, o
}

// source is the member from which a part is backed up. Of members with one database it is a fresh replica, else the primary; offline it is
// the one that is known to have every acknowledged write. A replica without a known lag may be any time behind.
func (s situation) source(part int32) (ordinal int32, o obstacle) {
	if !engine.Related(s.Engine) {
		return part, obstacle{}
	}
	serving := state.Only(s.Members, func(m state.Member) bool { return m.Serving(s.At) })
	fresh, found := state.First(serving, s.fresh)
	primary, elected := state.Observed{Engine: s.Engine, Members: s.Members}.Primary()
	switch {
	case found:
		return fresh.Ordinal, obstacle{}
	case elected:
		return primary.Ordinal, obstacle{}
	case len(serving) > 0:
		return 0, waitFor("waiting for exactly one ready primary of DatabaseCluster %s: without it, no replica is known to have the latest data",
			s.Cluster.Name)
	case len(s.Members) > 0:
		return s.Members[0].Ordinal, obstacle{}
	case s.Volumes == nil: // a live read decides
		return 0, obstacle{}
	default:
		return s.latest()
	}
}

// fresh reports whether a serving member has the latest data, although it is not the primary. Members without roles agree on each answer.
func (s situation) fresh(m state.Member) bool {
	return s.Engine.Spec.Roles == nil || state.RoleIn(s.Engine, m) == dbv1.RoleReplica && slices.Contains(s.Fresh, m.Name)
}

// latest is the member whose volume is known to have every acknowledged write. A backup of any other could lack some of them, and the
// volumes would be deleted after it.
func (s situation) latest() (ordinal int32, o obstacle) {
	first := s.Volumes[naming.Claim(s.Cluster, 0)]
	ordinal, known := state.Latest(s.Cluster.Name, s.Engine, s.Agreements, first.Contents, s.Extent)
	const remedy = "The volumes are retained. To back them up, skip the deletion hooks, and create a cluster of the same name: its members " +
		"decide which of them continues"
	if engine.HidesLock(s.Engine) && len(s.Volumes) > 1 {
		return 0, never("no member of DatabaseCluster %s runs, and without spec.state.lock of DatabaseEngine %s it is unknown which volume has "+
			"every acknowledged write. %s",
			s.Cluster.Name, s.Engine.Name, remedy)
	}
	if !known {
		return 0, never("no member of DatabaseCluster %s runs, and none is known to have every acknowledged write. %s", s.Cluster.Name, remedy)
	}
	claim := naming.Claim(s.Cluster, ordinal)
	if _, exists := s.Volumes[claim]; !exists {
		return 0, never("pod %s had every acknowledged write, but PersistentVolumeClaim %s no longer exists. %s",
			naming.Member(s.Cluster.Name, ordinal), claim, remedy)
	}
	return ordinal, obstacle{}
}

// sources are the members that may be the source of a part. A Job that has not started is current for any of them: their roles
// change, and the last primary may have been removed.
func (s situation) sources(part int32) []int32 {
	if !engine.Related(s.Engine) {
		return []int32{part}
	}
	var all []int32
	for ordinal := range engine.MaxReplicas {
		all = append(all, ordinal)
	}
	return all
}

// reachPod is the reason why a member with a pod cannot be backed up.
func (s situation) reachPod(member state.Member) obstacle {
	switch {
	case !member.Serving(s.At):
		return unready(s.Cluster, member)
	case s.Abandoned && member.Owner != "":
		return waitFor("waiting for pod %s to terminate, because its StatefulSet no longer exists", member.Name)
	case s.rolling():
		return waitFor("waiting for the rollout of DatabaseCluster %s: its members run different images until it completes", s.Cluster.Name)
	default:
		return obstacle{}
	}
}

// unready reports why a member is not ready.
func unready(cluster *dbv1.DatabaseCluster, member state.Member) obstacle {
	switch {
	case cluster.DeletionTimestamp != nil:
		return waitFor("waiting for pod %s to be ready, or to stop during the deletion of DatabaseCluster %s", member.Name, cluster.Name)
	case cluster.Spec.Hibernated:
		return waitFor("waiting for pod %s to be ready: spec.hibernated of DatabaseCluster %s is true", member.Name, cluster.Name)
	case member.Problem != "":
		return waitFor("waiting for pod %s to be ready: %s", member.Name, member.Problem)
	default:
		return waitFor("waiting for pod %s to be ready", member.Name)
	}
}

// mounted is the reason why the volume of a member without a pod cannot be backed up: an ephemeral volume no longer
// exists. Two databases on one volume would destroy it, so no other pod may use it.
func (s situation) mounted(ordinal int32) obstacle {
	cluster := s.Cluster
	claim := naming.Claim(cluster, ordinal)
	if ephemeral := cluster.Spec.Storage.Ephemeral; ephemeral != nil && *ephemeral {
		return never("pod %s no longer exists, and its data is lost: spec.storage.ephemeral of DatabaseCluster %s is true",
			naming.Member(cluster.Name, ordinal), cluster.Name)
	}
	if pod := s.Users[claim]; pod != "" {
		return waitFor("waiting for pod %s to terminate: it uses PersistentVolumeClaim %s, which must be backed up", pod, claim)
	}
	if text := s.dataless(claim); text != "" {
		return never("%s", text)
	}
	return obstacle{}
}

// dataless reports why a claim has nothing to back up; "" if it may have data. Only a live read can show that. The Job runs the engine in
// the spec: another one than that of the claim might start with the volume, find no data of its own, and print an empty backup.
func (s situation) dataless(claim string) string {
	if s.Volumes == nil {
		return ""
	}
	switch volume, found := s.Volumes[claim]; {
	case !found:
		return fmt.Sprintf("PersistentVolumeClaim %s does not exist: the data of that member is lost", claim)
	case volume.Cluster != "" && volume.Cluster != s.Cluster.UID:
		return fmt.Sprintf("PersistentVolumeClaim %s belongs to the previous cluster of the same name: DatabaseCluster %s has no data in it",
			claim, s.Cluster.Name)
	case volume.Cluster == "" && s.Foreign:
		return fmt.Sprintf("PersistentVolumeClaim %s has no label with the UID of DatabaseCluster %s, and StatefulSet %s is owned by another: "+
			"the data may belong to that owner",
			claim, s.Cluster.Name, naming.StatefulSet(s.Cluster.Name))
	case volume.Fill == state.Filling:
		return fmt.Sprintf("PersistentVolumeClaim %s has a part of another backup: the restore into it did not finish", claim)
	case volume.Engine != "" && volume.Engine != s.Cluster.Spec.Engine:
		return fmt.Sprintf("PersistentVolumeClaim %s has data of engine %q, but spec.engine of DatabaseCluster %s is %q, so a backup would not "+
			"contain that data. "+
			"Set spec.engine to %q. If the data is of the other engine, set the claim's annotation %s to that engine",
			claim, volume.Engine, s.Cluster.Name, s.Cluster.Spec.Engine, volume.Engine, dbv1.AnnotationEngine)
	default:
		return ""
	}
}
