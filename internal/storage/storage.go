/*
SPDX-License-Identifier: Apache-2.0
*/

// Package storage gives the volumes of a cluster the size and the attributes that spec.storage asks for, while members run.
package storage

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Subject is the size and the attributes of the volumes.
var Subject = subject.Subject{Read: read, Decide: decide}

// decide changes claims in any state of the members, because a full volume is often why they are down. A volume that cannot change prevents
// no other operation. The StatefulSet is re-created after the claims: see members.Recreate.
func decide(s *situation.Situation) subject.Decision {
	d := subject.Decision{Report: report(s)}
	if sizes(s) != "" && slices.ContainsFunc(s.Volumes, func(v state.Volume) bool { return v.Unwatched }) {
		d.RequeueAfter = situation.MissingRequeue
	}
	if s.Deleting() {
		return d
	}
	resized, modified := resizes(s), modifications(s)
	d.Operations = append(
		changes(operation.Work{Text: "resize ", Event: operation.Normal("VolumeResizing", "Resize", "resizing "), Decided: decided(s)}, resized),
		changes(operation.Work{Text: "modify ", Event: operation.Normal("VolumeModifying", "Modify", "modifying ")}, modified)...)
	d.Pending = len(d.Operations) > 0
	d.Stalled = cmp.Or(infeasible(s), unmodifiable(s))
	if d.Await = awaitSize(s, resized); !d.Await.Waits() {
		d.Await = awaitAttributes(s, modified)
	}
	return d
}

func changes(work operation.Work, all []operation.Patch) operation.List {
	work.Is, work.Listed = operation.Aside, ", "
	return operation.Changes(work, all)
}

// setting sets a field of a claim.
func setting(s *situation.Situation, v state.Volume, what, value string, field ...string) operation.Patch {
	before, after := operation.Claim(v).In(s.Cluster.Namespace), operation.Claim(v).In(s.Cluster.Namespace)
	objects.SetField(after.Object, value, field...)
	return operation.Patch{Before: before, After: after, Text: what}
}

// report returns a condition if a volume is resized, or was.
func report(s *situation.Situation) subject.Report {
	return func(_ subject.Executed, status *dbv1.DatabaseClusterStatus) []metav1.Condition {
		condition := resizing(s)
		known := meta.FindStatusCondition(status.Conditions, condition.Type) != nil
		if known || condition.Status == metav1.ConditionTrue {
			return []metav1.Condition{condition}
		}
		return nil
	}
}

// decided reports whether the operator has decided the size of the volumes.
func decided(s *situation.Situation) bool {
	return s.Cluster.Spec.Storage.Size.Cmp(s.Declared.Spec.Storage.Size) > 0
}

// field is where the size of the volumes is decided.
func field(s *situation.Situation) string {
	if decided(s) {
		return "status.storage.desired"
	}
	return "spec.storage.size"
}

func resizing(s *situation.Situation) metav1.Condition {
	const kind = dbv1.ConditionStorageResizing
	stalled, text := infeasible(s), sizes(s)
	switch {
	case stalled != nil && !s.Deleting():
		return subject.Condition(kind, true, stalled.Reason, stalled.Message)
	case text != "":
		return subject.Condition(kind, true, dbv1.ReasonResizing, text)
	default:
		return subject.Condition(kind, false, dbv1.ReasonResized, "all volumes have the size in "+field(s))
	}
}
