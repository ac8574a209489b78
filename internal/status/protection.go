/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// getPolicies is the remedy for missing admission policies.
const getPolicies = "Apply the manifest that installed the operator, or grant the operator permission to create them " +
	"and restart it with --install-admission-policies"

// protectionEnforced reports whether the API server enforces spec.deletion.protection.
func (p PassResult) protectionEnforced() metav1.Condition {
	const kind = dbv1.ConditionProtectionEnforced
	found := p.Protection
	switch {
	case found == nil:
		return condition(kind, false, dbv1.ReasonNotProtected, "spec.deletion.protection is false: the cluster can be deleted")
	case found.Unknown != "":
		return condition(kind, false, dbv1.ReasonPoliciesMissing, fmt.Sprintf(
			"the operator cannot check whether the API server refuses to delete the cluster: %s. Grant the operator this permission", found.Unknown))
	case len(found.Missing) > 0:
		return condition(kind, false, dbv1.ReasonPoliciesMissing, fmt.Sprintf(
			"the API server does not enforce the whole protection: missing %s. %s", strings.Join(found.Missing, ", "), getPolicies))
	case p.Cluster.Spec.Paused && slices.ContainsFunc(p.Volumes, unprotected):
		return condition(kind, false, dbv1.ReasonPaused, "spec.paused is true: the operator does not add the protection label to PersistentVolumeClaims")
	default:
		return condition(kind, true, dbv1.ReasonPoliciesInPlace,
			"the API server refuses to delete the cluster and its PersistentVolumeClaims until spec.deletion.protection is false")
	}
}

// evictionBlocked reports PodDisruptionBudgets of others: Kubernetes refuses to evict a pod that more than one selects.
func (p PassResult) evictionBlocked() metav1.Condition {
	const kind = dbv1.ConditionEvictionBlocked
	if len(p.OtherBudgets) == 0 {
		return condition(kind, false, dbv1.ReasonOneBudget, "only the PodDisruptionBudget of the operator selects the members")
	}
	return condition(kind, true, dbv1.ReasonSeveralBudgets, fmt.Sprintf(
		"Kubernetes refuses to evict a member, and so to drain its node: beside the PodDisruptionBudget of the operator, others select members: %s. "+
			"Delete them, or exclude pods with the label %s=%s from their selectors", strings.Join(p.OtherBudgets, ", "), dbv1.LabelName, dbv1.LabelNameValue))
}

func unprotected(v state.Volume) bool { return !v.Protected && !v.Terminating }
