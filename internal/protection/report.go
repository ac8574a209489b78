/*
SPDX-License-Identifier: Apache-2.0
*/

package protection

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// getPolicies is the remedy for missing admission policies.
const getPolicies = "Apply the manifest that installed the operator, or grant the operator permission to create them " +
	"and restart it with --install-admission-policies"

// report returns a condition if the spec asks for the protection, or did.
func report(s *situation.Situation) subject.Report {
	return func(_ subject.Executed, status *dbv1.DatabaseClusterStatus) []metav1.Condition {
		known := meta.FindStatusCondition(status.Conditions, dbv1.ConditionProtectionEnforced) != nil
		if found := state.FactsOf[Facts](s.Observed); found.Asked || known {
			return []metav1.Condition{enforced(s, found)}
		}
		return nil
	}
}

// enforced reports whether the API server enforces spec.deletion.protection.
func enforced(s *situation.Situation, found Facts) metav1.Condition {
	const kind = dbv1.ConditionProtectionEnforced
	switch {
	case !found.Asked:
		return subject.Condition(kind, false, dbv1.ReasonNotProtected, "spec.deletion.protection is false: the cluster can be deleted")
	case found.Unknown != "":
		return subject.Condition(kind, false, dbv1.ReasonPoliciesMissing, fmt.Sprintf(
			"the operator cannot check whether the API server refuses to delete the cluster: %s. Grant the operator this permission", found.Unknown))
	case len(found.Missing) > 0:
		return subject.Condition(kind, false, dbv1.ReasonPoliciesMissing, fmt.Sprintf(
			"the API server does not enforce the whole protection: missing %s. %s", strings.Join(found.Missing, ", "), getPolicies))
	case s.Cluster.Spec.Paused && slices.ContainsFunc(s.Volumes, unprotected):
		return subject.Condition(kind, false, dbv1.ReasonPaused,
			"spec.paused is true: the operator does not add the protection label to PersistentVolumeClaims")
	default:
		return subject.Condition(kind, true, dbv1.ReasonPoliciesInPlace,
			"the API server refuses to delete the cluster and its PersistentVolumeClaims until spec.deletion.protection is false")
	}
}

func unprotected(v state.Volume) bool { return !v.Protected && !v.Terminating }
