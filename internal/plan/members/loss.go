/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/schedule"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// StartEmpty lets a member start without the data of its lost volume, because the user has requested it since. The record of the request names
// that volume, so it is no consent to another loss.
func StartEmpty(s *situation.Situation) phase.Outcome {
	request, open := s.Request(dbv1.RequestRebuild)
	lost, found := state.First(s.Lost, func(l situation.Loss) bool { return naming.Member(s.Cluster.Name, l.Ordinal) == podOf(request.Request) })
	if !open || !found || s.Related() {
		return phase.Over
	}
	request.ClaimUID = lost.UID
	return complete(dbv1.ReasonRebuilding, request, fmt.Sprintf("pod %s starts empty, without the data of the lost PersistentVolumeClaim %s", podOf(request.Request), lost.Claim))
}

// Hold stops a member on a volume that has replaced one with data. Its pod has the operator's finalizer, so the StatefulSet does not
// create it again. The others continue.
func Hold(s *situation.Situation) phase.Outcome {
	m, found := state.First(s.Members, func(m state.Member) bool { return s.Holds(m) && !m.Terminating })
	if !found {
		return phase.Over
	}
	return phase.Do(dbv1.ReasonVolumeLost, fmt.Sprintf("stopping pod %s: its volume has replaced the one with its data", m.Name), operation.HoldMember{Member: m})
}

// VolumeLost is the stall of volumes with data that no longer exist. The user decides about one member after the other.
func VolumeLost(s *situation.Situation) *situation.Stall {
	if len(s.Lost) == 0 {
		return nil
	}
	first := s.Lost[0]
	text := fmt.Sprintf("PersistentVolumeClaim %s, which had the data of pod %s, no longer exists, so the operator does not start this member. %s. To start it empty, set the annotation %s=%s",
		first.Claim, naming.Member(s.Cluster.Name, first.Ordinal), toRestore(s), dbv1.AnnotationRebuild, consentTo(s, first))
	if s.Related() {
		text = fmt.Sprintf("No PersistentVolumeClaim with the data of the database exists any more, so the members wait. %s. To start empty, delete the DatabaseCluster and its claims, and create it again",
			toRestore(s))
	}
	return &situation.Stall{Reason: dbv1.ReasonVolumeLost, Message: text}
}

// consentTo is the next value of the annotation by which the user consents to a loss.
func consentTo(s *situation.Situation, l situation.Loss) string {
	pod, now := naming.Member(s.Cluster.Name, l.Ordinal), s.Cluster.Annotations[dbv1.AnnotationRebuild]
	for _, value := range []string{pod, pod + "/again"} {
		if value != now {
			return value
		}
	}
	return pod + "/once-more"
}

// toRestore names the newest backup with the data of a lost volume.
func toRestore(s *situation.Situation) string {
	backup, found := schedule.Rescue(s.Observed, s.Lost[0].Ordinal, s.Lost[0].UID)
	if !found {
		return "No DatabaseBackup with this data is known"
	}
	return fmt.Sprintf("The newest backup of it is DatabaseBackup %s, completed at %s. To restore it, create a cluster with spec.bootstrap.fromBackup",
		backup.Name, backup.Completed.UTC().Format(time.RFC3339))
}
