/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

func TestProtectionIsEnforcedOnlyWhereThatIsKnown(t *testing.T) {
	cases := map[string]struct {
		found  state.Protection
		change func(*PassResult)
		want   string
	}{
		"all policies are there": {
			want: "True PoliciesInPlace: the API server refuses to delete the cluster and its PersistentVolumeClaims until spec.deletion.protection is false",
		},
		"some are not": {
			found: state.Protection{Missing: []string{"ValidatingAdmissionPolicy a", "Deny in ValidatingAdmissionPolicyBinding b"}},
			want: "False PoliciesMissing: the API server does not enforce the whole protection: missing ValidatingAdmissionPolicy a, " +
				"Deny in ValidatingAdmissionPolicyBinding b. Apply the manifest that installed the operator, or grant the operator permission " +
				"to create them and restart it with --install-admission-policies",
		},
		"the operator may not look": {
			found: state.Protection{Unknown: "the operator may not read ValidatingAdmissionPolicy a"},
			want: "False PoliciesMissing: the operator cannot check whether the API server refuses to delete the cluster: " +
				"the operator may not read ValidatingAdmissionPolicy a. Grant the operator this permission",
		},
		"the claims wait for a pause to end": {
			change: func(p *PassResult) {
				p.Cluster.Spec.Paused, p.Volumes = true, []state.Volume{{Claim: "data-orders-0"}}
			},
			want: "False Paused: spec.paused is true: the operator does not add the protection label to PersistentVolumeClaims",
		},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			pass := idle()
			pass.Protection = &c.found
			if c.change != nil {
				c.change(&pass)
			}
			status := Of(pass, now)
			is := meta.FindStatusCondition(status.Conditions, dbv1.ConditionProtectionEnforced)
			if is == nil || string(is.Status)+" "+is.Reason+": "+is.Message != c.want {
				t.Errorf("got %+v", is)
			}
		})
	}
}
