/*
SPDX-License-Identifier: Apache-2.0
*/

// Package replacement decides how the members get other volumes, with the data of a DatabaseRestore or those from before. The data is
// restored while the members run. Only then they stop, and start with these volumes: a restore that fails disturbs no client. No volume is
// deleted here.
package replacement

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/restore"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Upkeep fills the other volumes, and reports the replacement.
var Upkeep = subject.Subject{Decide: decide}

func decide(s *situation.Situation) subject.Decision {
	d := subject.Decision{Report: report(s)}
	if s.Next == nil {
		return d
	}
	filling := fill(s)
	d.Operations = filling.Operations.Independently()
	d.RequeueAfter = situation.Sooner(filling.RequeueAfter, restore.RequeueAfter(s.Next))
	return d
}

// fill is the next step of the restore into the other volumes, or of its end: it has failed, or no DatabaseRestore asks for it any more.
func fill(s *situation.Situation) phase.Outcome {
	next := s.Next
	switch {
	case s.Replacement.Source == nil || s.Ephemeral():
		return phase.Over
	case !s.Replacement.Asked, restore.Failure(next) != "":
		return restore.Abandon(next)
	default:
		return restore.Restoring(next.With(nil, restore.Stalled(next), nil))
	}
}

// Phases of a cluster whose members get other volumes.
var Phases = []phase.Phase{
	{Name: "stop", Decide: members.ScaleIn},
	{Name: "switch", Decide: switchVolumes},
}

// switchVolumes deletes what knows the volumes from before: the StatefulSet, because its templates are immutable, and the agreements of the
// members. It waits until no member can write to them.
func switchVolumes(s *situation.Situation) phase.Outcome {
	wait := func(format string, arguments ...any) phase.Outcome {
		return phase.Wait(dbv1.ReasonReplacingData, fmt.Sprintf(format, arguments...))
	}
	switch user := s.Unfenced(); {
	case user != "":
		return wait("%s may use the volumes; the members get others after it is deleted", user)
	case len(s.Members) > 0:
		return wait("the members get other volumes after pod %s has terminated", s.Members[0].Name)
	case s.StatefulSetTerminating():
		return wait("the members get other volumes after StatefulSet %s is deleted", s.StatefulSet.Name)
	case s.StatefulSet != nil && s.Fence() == "":
		return wait("waiting until the StatefulSet controller has observed the scale to 0 replicas")
	case s.StatefulSet != nil:
		return phase.Do(dbv1.ReasonReplacingData, because(s), append(recorded(s), remove(s))...)
	}
	if stale := members.OwnAgreements(s, "it belongs to the volumes from before"); len(stale) > 0 {
		return phase.Do(dbv1.ReasonReplacingData, because(s), operation.Deletion(stale...)...)
	}
	if pod, archives := s.Archives(); archives {
		return wait("%s", archiving(s, pod))
	}
	return wait("%s", because(s))
}

// archiving describes the wait for the pod of the archive, whose node may be lost.
func archiving(s *situation.Situation, pod string) string {
	return fmt.Sprintf("the members get other volumes after pod %s, which archives the log of the present ones, has terminated. If its node "+
		"is lost, recover the node, or delete the Node object. To keep the present volumes, set spec.mode of DatabaseRestore %s to %s", pod,
		s.Replacement.Restore.Name, opposite(s))
}

// opposite is the mode that asks for the volumes that the members use now.
func opposite(s *situation.Situation) dbv1.RestoreMode {
	if s.Replacement.Source == nil {
		return dbv1.RestoreReplace
	}
	return dbv1.RestoreUndo
}

// because describes the switch, and who asks for it.
func because(s *situation.Situation) string {
	return fmt.Sprintf("%s, as DatabaseRestore %s asks", purpose(s), s.Replacement.Restore.Name)
}

// purpose describes the switch.
func purpose(s *situation.Situation) string {
	if s.Replacement.Source == nil {
		return "the members stop, and start with their volumes from before"
	}
	return "the members stop, and start with the restored volumes"
}

func remove(s *situation.Situation) operation.Operation {
	set := operation.TargetOf(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), s.StatefulSet)
	return operation.Delete{
		Work: operation.Work{
			Is: operation.Last, Text: "delete StatefulSet " + s.StatefulSet.Name + ", which has no pods",
			Event: operation.Normal("VolumesSwitched", "ReplaceData", ""),
		},
		Objects: []operation.Removal{set.Because("its volumeClaimTemplates name other volumes")},
	}
}

// recorded records, on the volumes that are about to be retained, which member has every acknowledged write: it starts first if they come
// back. The StatefulSet and the agreements, to which the present record refers, do not exist then.
func recorded(s *situation.Situation) []operation.Operation {
	latest, known := s.Latest()
	first, exists := state.First(s.Own, func(v state.Volume) bool { return v.Ordinal == 0 && !v.Terminating })
	if !known || !exists || !s.HasRoles() {
		return nil
	}
	holds := first.Contents
	holds.Primary, holds.Term = naming.Member(s.Cluster.Name, latest), ""
	if engine.LockOf(s.Engine) == nil {
		holds.Term = state.ExtentOf(nil).Term()
	}
	return operation.Changes(operation.Work{
		Is: operation.Properties{LiveRead: true}, Text: "record the last primary on ",
	}, []operation.Patch{members.Containing(s, first, holds)})
}
