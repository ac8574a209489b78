/*
SPDX-License-Identifier: Apache-2.0
*/

package protection

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

func TestProtectionIsEnforcedOnlyWhereThatIsKnown(t *testing.T) {
	cases := map[string]struct {
		found  Facts
		change func(*situation.Situation)
		want   string
	}{
		"all policies are there": {
			want: "True PoliciesInPlace: the API server refuses to delete the cluster and its PersistentVolumeClaims until spec.deletion.protection is false",
		},
		"some are not": {
			found: Facts{Missing: []string{"ValidatingAdmissionPolicy a", "Deny in ValidatingAdmissionPolicyBinding b"}},
			want: "False PoliciesMissing: the API server does not enforce the whole protection: missing ValidatingAdmissionPolicy a, " +
				"Deny in ValidatingAdmissionPolicyBinding b. Apply the manifest that installed the operator, or grant the operator permission " +
				"to create them and restart it with --install-admission-policies",
		},
		"the operator may not look": {
			found: Facts{Unknown: "the operator may not read ValidatingAdmissionPolicy a"},
			want: "False PoliciesMissing: the operator cannot check whether the API server refuses to delete the cluster: " +
				"the operator may not read ValidatingAdmissionPolicy a. Grant the operator this permission",
		},
		"the claims wait for a pause to end": {
			change: func(s *situation.Situation) {
				s.Cluster.Spec.Paused, s.Volumes = true, []state.Volume{{Claim: "data-orders-0"}}
			},
			want: "False Paused: spec.paused is true: the operator does not add the protection label to PersistentVolumeClaims",
		},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			cluster := &dbv1.DatabaseCluster{}
			c.found.Asked = true
			var observed state.Observed
			state.Put(&observed, c.found)
			s := situation.Of(cluster, observed)
			if c.change != nil {
				c.change(s)
			}
			is := report(s)(subject.Executed{}, &cluster.Status)[0]
			if string(is.Status)+" "+is.Reason+": "+is.Message != c.want {
				t.Errorf("got %+v", is)
			}
		})
	}
}

func TestAClusterThatWasNeverProtectedHasNoCondition(t *testing.T) {
	s, status := situation.Of(&dbv1.DatabaseCluster{}, state.Observed{}), dbv1.DatabaseClusterStatus{}
	if got := report(s)(subject.Executed{}, &status); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
	status.Conditions = []metav1.Condition{{Type: dbv1.ConditionProtectionEnforced, Status: metav1.ConditionTrue}}
	if got := report(s)(subject.Executed{}, &status); len(got) != 1 || got[0].Reason != dbv1.ReasonNotProtected {
		t.Errorf("after it was protected: %+v", got)
	}
}

func TestProtectionIncludesTheVolumesThatADatabaseRestoreRetains(t *testing.T) {
	cluster := &dbv1.DatabaseCluster{}
	cluster.Name, cluster.UID, cluster.Spec.Deletion.Protection = "orders", "u", true
	volume := func(claim string) state.Volume {
		return state.Volume{Claim: claim, Managed: true, Contents: state.Contents{Cluster: cluster.UID, Fill: state.Filled}}
	}
	observed := state.Observed{Volumes: []state.Volume{volume("data-orders-0")}, Replacement: &state.Replacement{Volumes: []state.Volume{volume("data-0abc-orders-0")}}}
	var found []string
	for _, patch := range labels(situation.Of(cluster, observed)) {
		found = append(found, patch.Text)
	}
	want := []string{"protect PersistentVolumeClaim data-0abc-orders-0", "protect PersistentVolumeClaim data-orders-0"}
	if !slices.Equal(found, want) {
		t.Errorf("got %q", found)
	}
}
