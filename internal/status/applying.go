/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// The conditions below are set after they were True for the first time.

func (p PassResult) updateAvailable() metav1.Condition {
	if p.Plan.Newer {
		return condition(dbv1.ConditionUpdateAvailable, true, dbv1.ReasonNewerTemplate,
			"this version of the operator would change the pod template. Members are updated with the next change of the spec, or when you change "+
				"the annotation "+
				dbv1.AnnotationUpdate)
	}
	return condition(dbv1.ConditionUpdateAvailable, false, dbv1.ReasonUpToDate, "the pod template matches this version of the operator")
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
