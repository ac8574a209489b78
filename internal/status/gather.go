/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// Deferrable reports whether a change of the status may wait for the next one: only numbers, members and texts differ, which change often
// while members start. A change of the status of a condition, and of everything that decisions depend on, is written at once: in a
// rollout, Available changes with each member.
//
// A repair that leaves the members as they are may wait, too: the next pass shows whether it was successful. A repair that fails is
// reported at once.
func Deferrable(before, after *dbv1.DatabaseClusterStatus) bool {
	if repairs(before, after) {
		after = after.DeepCopy()
		for _, kind := range []string{dbv1.ConditionReady, dbv1.ConditionProgressing} {
			meta.SetStatusCondition(&after.Conditions, *meta.FindStatusCondition(before.Conditions, kind))
		}
	}
	return !forgets(before, after) && equality.Semantic.DeepEqual(withoutDeferrable(before), withoutDeferrable(after))
}

// forgets reports whether the record of a volume no longer exists: the user has deleted the claim of a removed member, and may scale out
// next.
func forgets(before, after *dbv1.DatabaseClusterStatus) bool {
	return slices.ContainsFunc(before.Volumes, func(r dbv1.VolumeRecord) bool { return !slices.Contains(after.Volumes, r) })
}

// repairs reports whether the operator has repaired objects of a cluster that was up to date.
func repairs(before, after *dbv1.DatabaseClusterStatus) bool {
	ready := meta.FindStatusCondition(before.Conditions, dbv1.ConditionReady)
	was, is := meta.FindStatusCondition(before.Conditions, dbv1.ConditionProgressing), meta.FindStatusCondition(after.Conditions,
		dbv1.ConditionProgressing)
	return ready != nil && was != nil && is != nil &&
		was.Status == metav1.ConditionFalse && is.Reason == dbv1.ReasonApplying && is.ObservedGeneration == was.ObservedGeneration
}

// Ignorable reports whether no decision depends on a change of the status. Decisions depend on what the operator records there, such as
// a restore and hooks, and since when two primaries are suspected. The revision counts only once the StatefulSet is lost, and its loss
// starts a pass.
func Ignorable(before, after *dbv1.DatabaseClusterStatus) bool {
	return equality.Semantic.DeepEqual(withoutIgnorable(before), withoutIgnorable(after))
}

// OnlyRecords reports whether only the record of the StatefulSet differs. The record is written with the next other change.
func OnlyRecords(before, after *dbv1.DatabaseClusterStatus) bool {
	rest := *after
	rest.StatefulSet = before.StatefulSet
	return equality.Semantic.DeepEqual(before, &rest)
}

// withoutIgnorable leaves out what no decision depends on.
func withoutIgnorable(status *dbv1.DatabaseClusterStatus) *dbv1.DatabaseClusterStatus {
	rest := *status
	rest.Replicas, rest.ReadyReplicas, rest.UpdatedReplicas = 0, 0, 0
	rest.Members, rest.Version, rest.Endpoints, rest.Selector, rest.ObservedGeneration = nil, "", nil, "", 0
	rest.Storage = decidedStorage(rest.Storage)
	rest.Conditions, rest.StatefulSet, rest.UpdateRevision = nil, nil, ""
	rest.Requests = records(rest.Requests)
	rest.Binding = named(rest.Binding)
	if suspected := meta.FindStatusCondition(status.Conditions, dbv1.ConditionSplitBrainSuspected); suspected != nil {
		rest.Conditions = []metav1.Condition{*suspected}
	}
	return &rest
}

// withoutDeferrable leaves out what may wait.
func withoutDeferrable(status *dbv1.DatabaseClusterStatus) *dbv1.DatabaseClusterStatus {
	rest := status.DeepCopy()
	rest.Replicas, rest.ReadyReplicas, rest.UpdatedReplicas = 0, 0, 0
	rest.Members, rest.Version, rest.Endpoints, rest.StatefulSet, rest.Volumes = nil, "", nil, nil, nil
	rest.Storage = decidedStorage(rest.Storage)
	rest.Binding = named(rest.Binding)
	rest.Selector, rest.ObservedGeneration, rest.Requests = "", 0, records(rest.Requests)
	rest.Conditions = slices.DeleteFunc(rest.Conditions, func(c metav1.Condition) bool { return initial[c.Type] == c.Status })
	for i, c := range rest.Conditions {
		rest.Conditions[i] = metav1.Condition{Type: c.Type, Status: c.Status}
	}
	return rest
}

// named is the name of the connection Secret. Its version only starts passes of others.
func named(binding *dbv1.ClusterBinding) *dbv1.ClusterBinding {
	if binding == nil {
		return nil
	}
	return &dbv1.ClusterBinding{Name: binding.Name}
}

// decidedStorage is what the operator has decided about the volumes; nil for nothing. The rest is observed.
func decidedStorage(seen *dbv1.ClusterStorageStatus) *dbv1.ClusterStorageStatus {
	if seen == nil || seen.Growth == nil && seen.Protection == nil {
		return nil
	}
	return &dbv1.ClusterStorageStatus{Growth: seen.Growth, Protection: seen.Protection}
}

// records are the requests on which decisions depend, without what is only for users.
func records(rows []dbv1.ClusterRequestStatus) []dbv1.ClusterRequestStatus {
	var all []dbv1.ClusterRequestStatus
	for _, r := range rows {
		once := slices.Contains(situation.OnceTypes, r.Type)
		if once && r.State != dbv1.RequestPending || r.State == dbv1.RequestRefused {
			r.Message, r.Time = "", nil
			all = append(all, r)
		}
	}
	return all
}

// initial are the conditions of a cluster whose creation has begun. Before, it has none. The first status may wait, too: until then the
// default of the CRD, observedGeneration -1, shows that no operator has observed the cluster.
var initial = map[string]metav1.ConditionStatus{
	dbv1.ConditionReady: metav1.ConditionFalse, dbv1.ConditionAvailable: metav1.ConditionFalse,
	dbv1.ConditionProgressing: metav1.ConditionTrue,
	dbv1.ConditionDegraded:    metav1.ConditionFalse, dbv1.ConditionStalled: metav1.ConditionFalse,
}
