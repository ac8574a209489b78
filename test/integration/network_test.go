//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// peersOf are the peers that may connect to the client port.
func peersOf(policy *networkingv1.NetworkPolicy) []networkingv1.NetworkPolicyPeer {
	return policy.Spec.Ingress[1].From
}

func TestTheNetworkPolicyFollowsTheSpecAndRestartsNobody(t *testing.T) {
	parallel(t)
	cluster := started(t, nil, healthy)
	policy := read(t, networkPolicy(cluster))
	if len(peersOf(policy)) != 0 {
		t.Errorf("not everybody may connect by default: %+v", policy.Spec)
	}
	set := read(t, statefulSet(cluster))
	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		c.Spec.NetworkPolicy.From = []networkingv1.NetworkPolicyPeer{
			{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, NamespaceSelector: &metav1.LabelSelector{}},
			{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8", Except: []string{"10.1.0.0/16"}}},
		}
	})
	await(t, policy, "the peers of the spec and companions", func() bool { return len(peersOf(policy)) == 3 })
	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		c.Spec.NetworkPolicy = dbv1.ClusterNetworkPolicy{Mode: dbv1.NetworkPolicyNone}
	})
	absent := func() bool {
		err := admin.Get(t.Context(), client.ObjectKeyFromObject(policy), policy)
		return apierrors.IsNotFound(err)
	}
	await(t, cluster, "the policy to be deleted", absent)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.NetworkPolicy.Mode = dbv1.NetworkPolicyManaged })
	await(t, cluster, "the policy to exist again", func() bool { return !absent() })
	awaitReady(t, cluster)
	if after := read(t, statefulSet(cluster)); after.Generation != set.Generation || after.UID != set.UID {
		t.Errorf("the StatefulSet changed from generation %d to %d", set.Generation, after.Generation)
	}
}

func TestANetworkPolicyOfAnotherOwnerIsNeverChanged(t *testing.T) {
	parallel(t)
	cluster := smallest(namespace(t), "orders")
	foreign := networkPolicy(cluster)
	foreign.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}
	create(t, foreign)
	version := read(t, foreign).ResourceVersion
	create(t, cluster)
	kubelet(t, cluster.Namespace, healthy)
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonNameConflict, "NetworkPolicy orders", "set spec.networkPolicy.mode to None")
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.NetworkPolicy.Mode = dbv1.NetworkPolicyNone })
	awaitCondition(t, cluster, dbv1.ConditionStalled, metav1.ConditionFalse, dbv1.ReasonNotStalled)
	awaitReady(t, cluster)
	if read(t, foreign).ResourceVersion != version {
		t.Errorf("the operator wrote to the NetworkPolicy: %+v", foreign)
	}
}

func TestTheAPIServerRefusesPeersThatAllowNobodyOrCannotExist(t *testing.T) {
	parallel(t)
	from := func(peers ...any) fields { return fields{"networkPolicy": fields{"from": peers}} }
	many := make([]any, 17)
	for i := range many {
		many[i] = fields{"podSelector": fields{}}
	}
	eachIsRefused(t, "databaseclusters", refusals{
		"a mode that does not exist":  {fields{"networkPolicy": fields{"mode": "Strict"}}, `supported values: "Managed", "None"`},
		"peers without a policy":      {fields{"networkPolicy": fields{"mode": "None", "from": []any{fields{"podSelector": fields{}}}}}, "spec.networkPolicy.from has no effect with mode None"},
		"an empty list":               {fields{"networkPolicy": fields{"from": []any{}}}, "spec.networkPolicy.from in body should have at least 1 items"},
		"an empty peer":               {from(fields{}), "spec.networkPolicy.from[] must not be empty: set podSelector, namespaceSelector or ipBlock. To allow all clients, remove from"},
		"an address and a selector":   {from(fields{"ipBlock": fields{"cidr": "10.0.0.0/8"}, "podSelector": fields{}}), "spec.networkPolicy.from[] must not have ipBlock together with podSelector or namespaceSelector"},
		"an address without a length": {from(fields{"ipBlock": fields{"cidr": "10.0.0.1"}}), "spec.networkPolicy.from[].ipBlock.cidr must be an address range, for example 10.0.0.0/8"},
		"a word as an address":        {from(fields{"ipBlock": fields{"cidr": "office"}}), "spec.networkPolicy.from[].ipBlock.cidr must be an address range"},
		"17 peers":                    {from(many...), "spec.networkPolicy.from"},
	})
}

func TestAPeerThatOnlyTheAPIServerUnderstandsIsReported(t *testing.T) {
	parallel(t)
	cluster := started(t, nil, healthy)
	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		c.Spec.NetworkPolicy.From = []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8", Except: []string{"192.168.0.0/16"}}}}
	})
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonRefused, "NetworkPolicy orders", "192.168.0.0/16")
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.NetworkPolicy.From = nil })
	awaitCondition(t, cluster, dbv1.ConditionStalled, metav1.ConditionFalse, dbv1.ReasonNotStalled)
}
