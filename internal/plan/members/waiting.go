/*
SPDX-License-Identifier: Apache-2.0
*/

// Package members decides about the members of a cluster that is not being deleted: their objects, volumes and pods.
package members

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Blocked waits for objects that pods need and that do not exist or are incompatible.
func Blocked(s *situation.Situation) phase.Outcome {
	if !s.TemplateBlocked() {
		return phase.Over
	}
	if s.Unusable == nil {
		return phase.Wait(dbv1.ReasonWaitingForReference, s.Awaited())
	}
	return phase.Wait(dbv1.ReasonWaitingForReference, s.Unusable.Message)
}

// Absent waits while no usable StatefulSet exists.
func Absent(s *situation.Situation) phase.Outcome {
	abandoned, found := s.Abandoned()
	switch {
	case found:
		return awaitStop(abandoned)
	case s.StatefulSet == nil && s.TemplateBlocked():
		return Blocked(s)
	case s.StatefulSet == nil:
		return phase.Wait(dbv1.ReasonWaitingForMembers, "the StatefulSet does not exist")
	case s.StatefulSetTerminating():
		return phase.Wait(dbv1.ReasonWaitingForMembers,
			fmt.Sprintf("StatefulSet %s is terminating; the operator re-creates it after that", s.StatefulSet.Name))
	default:
		return phase.Over
	}
}

// awaitStop waits for a member whose StatefulSet was deleted.
func awaitStop(m state.Member) phase.Outcome {
	return phase.Wait(dbv1.ReasonWaitingForMembers,
		fmt.Sprintf("waiting for Kubernetes to stop pod %s, because its StatefulSet no longer exists", m.Name))
}

// Starting waits until Kubernetes has started missing members.
func Starting(s *situation.Situation) phase.Outcome {
	if _, known := s.Revision(); !known {
		return phase.Wait(dbv1.ReasonWaitingForMembers, "the StatefulSet controller has not observed the latest change yet")
	}
	if claim, found := inTheWay(s); found {
		return phase.Wait(dbv1.ReasonWaitingForVolume,
			fmt.Sprintf("PersistentVolumeClaim %s is terminating; its member starts after the claim is deleted", claim))
	}
	if first := s.Start(); first > 0 {
		return phase.Wait(dbv1.ReasonWaitingForMembers, fmt.Sprintf(
			"pod %s starts before the others, because it was the last primary; %s", naming.Member(s.Cluster.Name, first), s.Counted(s.Wanted)))
	}
	if s.Ready() < s.Wanted {
		return phase.Wait(dbv1.ReasonWaitingForMembers, s.Counted(s.Wanted))
	}
	for _, m := range s.Members {
		if text := s.Resizing(m); text != "" {
			return phase.Wait(dbv1.ReasonWaitingForMembers, fmt.Sprintf("the kubelet is resizing pod %s (%s)", m.Name, text))
		}
	}
	return phase.Over
}

// inTheWay returns the claim that prevents the StatefulSet from having all its members.
func inTheWay(s *situation.Situation) (claim string, found bool) {
	for _, v := range s.Volumes {
		if v.Terminating && !s.Has(v.Ordinal) && v.Ordinal < s.Wanted {
			return v.Claim, true
		}
	}
	return "", false
}
