/*
SPDX-License-Identifier: Apache-2.0
*/

package rotation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// report is what a pass reports about a rotation. A cluster without one has no such condition.
func report(s *situation.Situation, p Plan) subject.Report {
	return func(_ subject.Executed, status *dbv1.DatabaseClusterStatus) []metav1.Condition {
		status.Credentials = recorded(s)
		if p.Reason == "" {
			meta.RemoveStatusCondition(&status.Conditions, dbv1.ConditionCredentialsRotated)
			return nil
		}
		return []metav1.Condition{subject.Condition(dbv1.ConditionCredentialsRotated, p.Reason == dbv1.ReasonRotated, p.Reason, p.Message)}
	}
}

// recorded is the last rotation that clients have. The Secret has the request of a rotation as soon as it begins.
func recorded(s *situation.Situation) *dbv1.ClusterCredentialsStatus {
	c := s.Credentials
	switch {
	case s.Deleting() || !s.EngineKnown() || !c.InForce() || s.AwaitsReferences():
		return s.Cluster.Status.Credentials
	case !s.GeneratesCredentials() || c.Request == "":
		return nil
	}
	since := metav1.NewTime(c.Since)
	return &dbv1.ClusterCredentialsStatus{LastRotationRequest: pods.Head(c.Request, state.MaxRequest), LastRotationTime: &since}
}
