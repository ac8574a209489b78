/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
)

// The conditions below are set after they were True for the first time.

func (p PassResult) updateAvailable() metav1.Condition {
	if p.Plan.Newer {
		return condition(dbv1.ConditionUpdateAvailable, true, dbv1.ReasonNewerTemplate,
			"this version of the operator would change the pod template. Members are updated with the next change of the spec, or when you change the annotation "+
				dbv1.AnnotationUpdate)
	}
	return condition(dbv1.ConditionUpdateAvailable, false, dbv1.ReasonUpToDate, "the pod template matches this version of the operator")
}

func (p PassResult) storageResizing() metav1.Condition {
	stalled := p.Plan.Stalled
	switch text := members.Resizing(p.Situation); {
	case stalled != nil && stalled.Reason == dbv1.ReasonResizeInfeasible:
		return condition(dbv1.ConditionStorageResizing, true, dbv1.ReasonResizeInfeasible, stalled.Message)
	case text != "":
		return condition(dbv1.ConditionStorageResizing, true, dbv1.ReasonResizing, text)
	default:
		return condition(dbv1.ConditionStorageResizing, false, dbv1.ReasonResized, "all volumes have the size in spec.storage.size")
	}
}

func (p PassResult) paused() metav1.Condition {
	switch {
	case !p.Cluster.Spec.Paused:
		return condition(dbv1.ConditionPaused, false, dbv1.ReasonNotPaused, "spec.paused is false")
	case p.Cluster.DeletionTimestamp != nil:
		return condition(dbv1.ConditionPaused, false, dbv1.ReasonDeleting, "spec.paused does not pause a deletion")
	default:
		return condition(dbv1.ConditionPaused, true, dbv1.ReasonPaused, "spec.paused is true: the operator only observes and reports")
	}
}

func (p PassResult) hibernated() metav1.Condition {
	switch {
	case !p.Cluster.Spec.Hibernated:
		return condition(dbv1.ConditionHibernated, false, dbv1.ReasonRunning, "spec.hibernated is false")
	case len(p.Members) > 0:
		return condition(dbv1.ConditionHibernated, false, dbv1.ReasonHibernating, "members are still terminating")
	default:
		return condition(dbv1.ConditionHibernated, true, dbv1.ReasonHibernated, "no member runs; the volumes are retained")
	}
}
