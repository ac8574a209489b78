/*
SPDX-License-Identifier: Apache-2.0
*/

// Package protection lets the API server refuse to delete a cluster and its volumes while spec.deletion.protection is true.
package protection

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Subject is the deletion protection of a cluster and its volumes.
var Subject = subject.Subject{Read: read, Decide: decide, Transitions: []operation.Transition{
	operation.Reported(dbv1.ConditionProtectionEnforced, metav1.ConditionFalse, "", corev1.EventTypeWarning),
}}

// decide adds or removes the labels of claims, while no phase waits for that. A deletion waits for them: the API server would refuse to
// delete protected claims, and retained claims would stay protected forever.
func decide(s *situation.Situation) subject.Decision {
	d, all := subject.Decision{Report: report(s)}, labels(s)
	if len(all) > 0 {
		d.Operations = operation.Changes(operation.Work{Is: operation.Properties{LiveRead: true, Independent: true, WhileDeleting: true}}, all)
		d.Await = phase.Wait(dbv1.ReasonApplying, operation.Describe(all))
		d.Pending = true
	}
	return d
}

// labels are the claims whose protection differs from the spec, including retained claims of removed members. Terminating claims
// are too late to protect. Claims of a previous cluster are adopted first. During a restore, the backup still contains all data.
func labels(s *situation.Situation) []operation.Patch {
	var all []operation.Patch
	if s.Next != nil { // retained volumes, and those that are being restored
		all = labels(s.Next)
	}
	protect := s.Cluster.Spec.Deletion.Protection && s.Restoration == nil
	for _, v := range s.Volumes {
		if v.Protected != protect && !v.Terminating && !s.Previous(v) {
			all = append(all, protecting(s, v, protect))
		}
	}
	return all
}

// protecting adds or removes the label that makes the API server refuse to delete a claim.
func protecting(s *situation.Situation, v state.Volume, protect bool) operation.Patch {
	before, after := operation.Claim(v).In(s.Cluster.Namespace), operation.Claim(v).In(s.Cluster.Namespace)
	before.SetLabels(labelOf(!protect))
	after.SetLabels(labelOf(protect))
	what := "remove the protection of PersistentVolumeClaim " + v.Claim
	if protect {
		what = "protect PersistentVolumeClaim " + v.Claim
	}
	return operation.Patch{Before: before, After: after, Text: what}
}

// labelOf is never nil: a patch from some labels to nil would remove all labels of the claim.
func labelOf(on bool) map[string]string {
	if !on {
		return map[string]string{}
	}
	return map[string]string{dbv1.LabelProtected: "true"}
}
