/*
SPDX-License-Identifier: Apache-2.0
*/

// Package drain keeps a drain of nodes from evicting the primary before it has handed over, by a PodDisruptionBudget of its own.
package drain

import (
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Subject is the budget of the primary. The phase that hands over is one of the members.
var Subject = subject.Subject{Decide: decide}

func decide(s *situation.Situation) subject.Decision {
	return subject.Decision{
		Operations: budget(s), RequeueAfter: again(s),
		Report: func(_ subject.Executed, status *dbv1.DatabaseClusterStatus) []metav1.Condition {
			status.Drain = s.Drain()
			return nil
		},
	}
}

// again is when a drain no longer waits for a hand-over.
func again(s *situation.Situation) time.Duration {
	if _, drained := s.Drained(); drained && s.GuardsPrimary() {
		return s.DrainLeft()
	}
	return 0
}

// budget creates the budget of the primary after the other one leaves the primary out, and deletes it before the other one includes the
// primary again. A paused operator deletes it, too: it starts no hand-over for which a drain could wait.
func budget(s *situation.Situation) operation.List {
	switch {
	case s.GuardsPrimary():
		return guard(s)
	case s.PrimaryBudget == nil || s.PrimaryBudget.DeletionTimestamp != nil:
		return nil
	}
	kind := policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")
	is := operation.Properties{LiveRead: true, WhilePaused: true, WhileDeleting: true}
	return operation.Deletions(operation.Work{Is: is, Text: "delete "},
		[]operation.Removal{operation.TargetOf(kind, s.PrimaryBudget).Because("no drain waits for a hand-over")})
}

func guard(s *situation.Situation) operation.List {
	roles := s.Engine.Spec.Roles
	if _, overlaps := operation.ApplyOf(resources.ReplicasBudget(s.Cluster, roles), s.PodDisruptionBudget); overlaps {
		return nil
	}
	if apply, needed := operation.ApplyOf(resources.PrimaryBudget(s.Cluster, roles), s.PrimaryBudget); needed {
		return operation.List{apply}
	}
	return nil
}
