/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
)

// admittingWeb lets only pods of one application connect to the cluster.
func admittingWeb(seen CompanionFacts) CompanionFacts {
	seen.Cluster.Spec.NetworkPolicy.From = []networkingv1.NetworkPolicyPeer{
		{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}
	return withEngine(seen)
}

func TestACompanionOfTheEngineAdmitsOnlyTheClientsOfTheCluster(t *testing.T) {
	c, seen := pooler()
	seen = standing(t, c, admittingWeb(seen))
	if seen.Policy == nil {
		t.Fatal("the pooler has no NetworkPolicy")
	}
	for _, o := range For(c, seen).Operations {
		t.Errorf("a converged companion: %s", o)
	}
	seen.Cluster.Spec.NetworkPolicy.Mode = dbv1.NetworkPolicyNone
	p := For(c, seen)
	if len(p.Operations) != 1 {
		t.Fatalf("without a policy of the cluster: %v", p.Operations)
	}
	if apply, is := p.Operations[0].(operation.Apply); !is {
		t.Errorf("got %s", p.Operations[0])
	} else {
		golden.Compare(t, "pooler.everyone.networkpolicy", apply.Child)
	}
}

func TestTheNetworkPolicyOfACompanion(t *testing.T) {
	c, seen := pooler()
	for _, o := range For(c, admittingWeb(seen)).Operations {
		if apply, is := o.(operation.Apply); is && apply.Kind() == "NetworkPolicy" {
			golden.Compare(t, "pooler.networkpolicy", apply.Child)
			return
		}
	}
	t.Fatal("the pooler has no NetworkPolicy")
}

func TestAnApplicationHasNoNetworkPolicyAndNeitherHasAPoolerOfAnOpenCluster(t *testing.T) {
	c, seen := shop()
	if seen = standing(t, c, admittingWeb(seen)); seen.Policy != nil {
		t.Errorf("an application: %+v", seen.Policy.Spec)
	}
	c, seen = pooler()
	if seen = standing(t, c, withEngine(seen)); seen.Policy != nil {
		t.Errorf("a cluster that admits all clients: %+v", seen.Policy.Spec)
	}
}
