/*
SPDX-License-Identifier: Apache-2.0
*/

package network_test

import (
	"slices"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/network"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func policyOf(t *testing.T, cluster *dbv1.DatabaseCluster) *networkingv1.NetworkPolicy {
	t.Helper()
	policy := &networkingv1.NetworkPolicy{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(network.Render(cluster).Object.Object, policy); err != nil {
		t.Fatal(err)
	}
	return policy
}

func TestEveryPortIsOpenOnlyToMembersAndToJobsThatNeedThem(t *testing.T) {
	cluster := plans.Orders()
	first := policyOf(t, cluster).Spec.Ingress[0]
	if len(first.Ports) != 0 {
		t.Fatalf("the rule must have every port: %+v", first)
	}
	admits := func(of map[string]string) bool {
		return slices.ContainsFunc(first.From, func(peer networkingv1.NetworkPolicyPeer) bool {
			selector, err := metav1.LabelSelectorAsSelector(peer.PodSelector)
			if err != nil || peer.NamespaceSelector != nil || peer.IPBlock != nil {
				t.Fatalf("the rule must have only pods of the same namespace: %+v, %v", peer, err)
			}
			return selector.Matches(labels.Set(of))
		})
	}
	connects := func(of map[string]string) map[string]string {
		of[dbv1.LabelConnects] = "true"
		return of
	}
	backup := &dbv1.DatabaseBackup{}
	backup.Spec.Cluster = cluster.Name
	other := plans.Orders()
	other.Name = "orders-2"
	for name, one := range map[string]struct {
		labels  map[string]string
		allowed bool
	}{
		"a member":                       {naming.Labels(cluster, dbv1.ComponentDatabase), true},
		"a hook":                         {naming.Labels(cluster, dbv1.ComponentHook), true},
		"a restore":                      {naming.Labels(cluster, dbv1.ComponentRestore), true},
		"a backup":                       {naming.BackupJobLabels(backup, dbv1.ComponentBackup), true},
		"a Job of a kind that connects":  {connects(naming.Labels(cluster, "greeting")), true},
		"a Job of another kind":          {naming.Labels(cluster, "greeting"), false},
		"such a Job of another cluster":  {connects(naming.Labels(other, "greeting")), false},
		"a pod with that label alone":    {connects(map[string]string{}), false},
		"a copy of a verification":       {naming.BackupJobLabels(backup, dbv1.ComponentVerification), false},
		"the deletion of a backup":       {naming.BackupJobLabels(backup, dbv1.ComponentBackupDeletion), false},
		"a member of another cluster":    {naming.Labels(other, dbv1.ComponentDatabase), false},
		"a pod of the same application":  {map[string]string{dbv1.LabelInstance: cluster.Name}, false},
		"a pod without labels":           {nil, false},
		"a backup of another cluster":    {naming.Labels(other, dbv1.ComponentBackup), false},
		"an object of the configuration": {naming.Labels(cluster, dbv1.ComponentConfig), false},
	} {
		if got := admits(one.labels); got != one.allowed {
			t.Errorf("%s: allowed %v, want %v", name, got, one.allowed)
		}
	}
}

func TestAPolicyWithAdditionsOfOthersDrifts(t *testing.T) {
	cluster := golden.Input(t, "full")
	for name, spoil := range map[string]func(*networkingv1.NetworkPolicySpec){
		"another rule": func(s *networkingv1.NetworkPolicySpec) {
			s.Ingress = append(s.Ingress, networkingv1.NetworkPolicyIngressRule{})
		},
		"another peer": func(s *networkingv1.NetworkPolicySpec) {
			s.Ingress[1].From = append(s.Ingress[1].From, networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{}})
		},
		"every namespace in a peer": func(s *networkingv1.NetworkPolicySpec) {
			s.Ingress[0].From[0].NamespaceSelector = &metav1.LabelSelector{}
		},
		"no peer":                func(s *networkingv1.NetworkPolicySpec) { s.Ingress[1].From = nil },
		"no port":                func(s *networkingv1.NetworkPolicySpec) { s.Ingress[1].Ports = nil },
		"a range of ports":       func(s *networkingv1.NetworkPolicySpec) { s.Ingress[2].Ports[0].EndPort = new(int32(65535)) },
		"a selector of no pod":   func(s *networkingv1.NetworkPolicySpec) { s.PodSelector.MatchLabels["version"] = "2" },
		"a selector in addition": func(s *networkingv1.NetworkPolicySpec) { s.PodSelector.MatchExpressions = never },
		"a limit of egress": func(s *networkingv1.NetworkPolicySpec) {
			s.PolicyTypes = append(s.PolicyTypes, networkingv1.PolicyTypeEgress)
		},
	} {
		live := policyOf(t, cluster)
		if drift := network.Render(cluster).Drift(live); drift != "" {
			t.Fatalf("an unchanged policy differs in %s", drift)
		}
		spoil(&live.Spec)
		if drift := network.Render(cluster).Drift(live); drift == "" {
			t.Errorf("%s is no drift", name)
		}
		if removals := network.Render(cluster).Removals(live); len(removals) != 1 || removals[0].Path != "/spec" {
			t.Errorf("%s: %+v", name, removals)
		}
	}
}

var never = []metav1.LabelSelectorRequirement{{Key: "none", Operator: metav1.LabelSelectorOpExists}}

func TestTheNetworkPolicyMatchesTheGoldenFiles(t *testing.T) {
	golden.Compare(t, "smallest.networkpolicy", network.Render(plans.Orders()))
	golden.Compare(t, "full.networkpolicy", network.Render(golden.Input(t, "full")))
}
