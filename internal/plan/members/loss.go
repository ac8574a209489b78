/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"
	"slices"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// StartEmpty lets a member start without the data of its lost volume, because the user has requested it since. The record of the request
// names that volume, so it is no consent to another loss.
func StartEmpty(s *situation.Situation) phase.Outcome {
	request, open := s.Request(dbv1.RequestRebuild)
	lost, found := state.First(s.Lost,
		func(l situation.Loss) bool { return naming.Member(s.Cluster.Name, l.Ordinal) == podOf(request.Request) })
	if !open || !found || s.Related() {
		return phase.Over
	}
	request.ClaimUID = lost.UID
	return complete(dbv1.ReasonRebuilding, request,
		fmt.Sprintf("pod %s starts empty, without the data of the lost PersistentVolumeClaim %s", podOf(request.Request), lost.Claim))
}

// Hold stops a member on a volume that has replaced one with data. Its pod has the operator's finalizer, so the StatefulSet does not
// create it again. The others continue.
func Hold(s *situation.Situation) phase.Outcome {
	m, found := state.First(s.Members, func(m state.Member) bool { return s.Holds(m) && !m.Terminating })
	if !found {
		return phase.Over
	}
	hold := operation.Stop(operation.Work{Is: operation.Last, Text: "hold ", Event: operation.Warning("MemberHeld", "Hold", "")}, m)
	hold.Hold = true
	return phase.Do(dbv1.ReasonVolumeLost, fmt.Sprintf("stopping pod %s: its volume has replaced the one with its data", m.Name), hold)
}

// VolumeLost is the stall of volumes with data that no longer exist. The user decides about one member after the other.
func VolumeLost(s *situation.Situation) *situation.Stall {
	if len(s.Lost) == 0 {
		return nil
	}
	text := oneLost(s, s.Lost[0])
	if s.Related() {
		text = fmt.Sprintf("%s. The members wait. %s. To start empty, delete the DatabaseCluster and its claims, and create it again", allLost(s),
			toRestore(s))
	}
	return &situation.Stall{Reason: dbv1.ReasonVolumeLost, Message: text}
}

// oneLost describes the loss of a member with data of its own.
func oneLost(s *situation.Situation, l situation.Loss) string {
	effect := "does not start this member"
	if s.Cluster.Spec.Paused {
		effect = "does not let this member start, but spec.paused keeps it from stopping one that Kubernetes has started with another volume"
	}
	empty := "empty"
	if slices.ContainsFunc(s.Volumes, func(v state.Volume) bool { return v.Ordinal == l.Ordinal && !v.Terminating }) {
		empty = "with the volume that exists now"
	}
	return fmt.Sprintf("PersistentVolumeClaim %s, which had the data of pod %s, no longer exists, so the operator %s. %s. To start it %s, "+
		"set the annotation %s=%s",
		l.Claim, naming.Member(s.Cluster.Name, l.Ordinal), effect, toRestore(s), empty, dbv1.AnnotationRebuild, consentTo(s, l))
}

// allLost describes the loss of one database. The volumes of members that were removed before have older data, which only the user can
// accept.
func allLost(s *situation.Situation) string {
	text := "No PersistentVolumeClaim with the data of the database exists any more"
	if s.Consents() {
		return "Most PersistentVolumeClaims with the data of the database no longer exist, so there is no majority"
	}
	var older []string
	for _, v := range s.Own {
		if v.Ordinal >= s.Cluster.Spec.Replicas {
			older = append(older, v.Claim)
		}
	}
	if len(older) > 0 {
		text += fmt.Sprintf(", only those of removed members with older data (%s). To continue with that, delete the DatabaseCluster with "+
			"spec.deletion.volumes Retain, and create it again",
			strings.Join(older, ", "))
	}
	return text
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

// toRestore names the newest backup with the data of a lost volume. That may be a backup of an empty database, so toRestore also names
// those of the databases that the volume had before.
func toRestore(s *situation.Situation) string {
	backups := situation.Rescue(s.Observed, s.Lost[0].Ordinal, s.Lost[0].UID)
	if len(backups) == 0 {
		return "No DatabaseBackup with this data is known"
	}
	text, chosen := "The newest backup of it is "+completed(backups[0]), "it"
	for _, former := range backups[1:] {
		text += ". The newest one of the database before that is " + completed(former)
		chosen = "one of them"
	}
	return fmt.Sprintf("%s. To restore %s, create a cluster with spec.bootstrap.fromBackup", text, chosen)
}

func completed(b state.Backup) string {
	return fmt.Sprintf("DatabaseBackup %s, completed at %s", b.Name, b.Completed.UTC().Format(time.RFC3339))
}
